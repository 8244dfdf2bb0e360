"""Networks that come with the package."""

import numpy as np
import pytest

from bench.make import pretrained as maker
from punish_fast.games.connect4.game import Connect4
from punish_fast.games.connect4.known_scores import position_sets, shares
from punish_fast.games.gwent.players import rule_player
from punish_fast.games.incan_gold.players import player_named
from punish_fast.games.learn import networks
from punish_fast.games.learn.agent_file import save_agent
from punish_fast.games.learn.dqn import DqnLearner, DqnMethod, values_of
from punish_fast.games.learn.episodes import ValueMover, play_match, random_mover
from punish_fast.games.learn.networks import evaluate, file_of, pretrained_network
from punish_fast.games.registry import make_game, vectorise
from punish_fast.games.tictactoe import TicTacToe


def test_a_network_is_read_as_it_was_written(tmp_path, monkeypatch, capsys):
    assert file_of(Connect4()).exists()
    assert not file_of(TicTacToe()).exists()
    monkeypatch.setattr(networks, "FOLDER", tmp_path)
    learner = DqnLearner.new(vectorise(TicTacToe()), DqnMethod(hidden=(8, 4)), seed=3)
    save_agent(tmp_path / "network.h5", learner)
    assert pretrained_network(TicTacToe()) is None
    maker.main([str(tmp_path / "network.h5")])
    assert "tictactoe_network.npz: " in capsys.readouterr().out
    found = pretrained_network(TicTacToe())
    assert found.architecture == learner.shape
    assert found.weights.dtype == np.float32
    assert np.allclose(found.weights, learner.weights, rtol=1e-3)


@pytest.mark.compiled
def test_the_network_of_connect_four_knows_the_game():
    pytest.importorskip("optax", reason="no network can be asked: pip install optax")
    game = Connect4()
    architecture, weights = pretrained_network(game)
    vector = vectorise(game)
    for name, least in (("easy-ends", 0.85), ("easy-middles", 0.85), ("hard-middles", 0.7)):
        found = position_sets()[name]
        values = evaluate(architecture, weights, vector.features(found.boards))
        values = np.where(vector.legal(found.boards), values, -np.inf)
        policy = np.zeros(values.shape)
        policy[np.arange(len(policy)), values.argmax(axis=1)] = 1
        assert shares(found, policy).keeps_value > least, name


@pytest.mark.compiled
def test_the_networks_of_incan_gold_and_gwent_win():
    pytest.importorskip("optax", reason="no network can be asked: pip install optax")
    for vector, seat, opponents in (
        (make_game("incan-gold", {}).vector, "all", {player_named("random"): 0.95, player_named("leave-at-12"): 0.82}),
        (make_game("gwent", {"decks": "random"}).vector, "both", {random_mover: 0.94, rule_player: 0.5}),
    ):
        architecture, weights = pretrained_network(vector.game)
        mover = ValueMover(values_of(vector, architecture, weights))
        for opponent, least in opponents.items():
            assert play_match(vector, mover, opponent, 900)[seat].win > least

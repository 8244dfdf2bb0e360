from __future__ import annotations

import numpy as np
import pytest

from bench.make.pretrained import save_pretrained
from punish_fast.games.connect4.game import Connect4
from punish_fast.games.contract import CHANCE
from punish_fast.games.enumeration.positions import enumerate_positions
from punish_fast.games.enumeration.retrograde import RetrogradeOracle, solve_game
from punish_fast.games.gwent.game import Gwent
from punish_fast.games.incan_gold.game import IncanGold
from punish_fast.games.learn import networks
from punish_fast.games.learn.agent_file import save_agent
from punish_fast.games.learn.dqn import DqnLearner, DqnMethod
from punish_fast.games.learn.networks import evaluate
from punish_fast.games.learn.qlearning import Hyperparameters, new_learner
from punish_fast.games.learn.strength import live_states, network_policy
from punish_fast.games.registry import vector_game
from punish_fast.games.tapnswap import TapnSwap, Variant
from punish_fast.games.tictactoe import TicTacToe
from punish_fast.play.games import policies as game_policies
from punish_fast.play.games.game_player import file_player
from punish_fast.play.games.match import GameMatch
from punish_fast.play.games.policies import LEVELS, file_policy, levels_of, policy_at, q_network_policy
from punish_fast.runtime.errors import ReadError


def policy_of(positions, choices):
    """The policy of choices, along the rows of positions."""
    policy = np.zeros(positions.n_rows)
    for number in positions.live.tolist():
        policy[positions.rows_of(positions.states[number])] = choices(positions.states[number])
    return policy


@pytest.fixture(scope="module")
def positions():
    return enumerate_positions(TapnSwap())


@pytest.fixture(scope="module")
def policies(positions):
    oracle = RetrogradeOracle(TapnSwap())
    return {level: policy_of(positions, policy_at(oracle.game, oracle, level)) for level in LEVELS}


def test_levels_go_from_random_to_perfect_play(positions, policies):
    assert np.allclose(policies["random"], positions.uniform())
    assert np.array_equal(policies["perfect"], solve_game(positions).policy())
    assert np.allclose(policies["casual"], 0.7 * policies["perfect"] + 0.3 * policies["random"])
    assert (solve_game(positions).keeps_value()[policies["trained"] > 0]).all()


def test_a_network_is_no_level_where_it_cannot_be_asked(monkeypatch):
    assert levels_of(TapnSwap()) == list(LEVELS)
    monkeypatch.setattr(game_policies, "are_installed", lambda *_: False)
    assert levels_of(TapnSwap()) == list(LEVELS)
    assert levels_of(Connect4()) == ["random", "casual", "perfect"]


@pytest.mark.parametrize("game", [IncanGold(), Gwent()], ids=["incan-gold", "gwent"])
def test_a_network_that_comes_with_a_card_game_is_its_trained_level(game, monkeypatch, tmp_path):
    pytest.importorskip("jax")
    monkeypatch.setattr(networks, "FOLDER", tmp_path)
    assert levels_of(game) == ["random", "rule-of-thumb"]
    network = DqnLearner.new(vector_game(game), DqnMethod(hidden=(8,)), seed=3)
    save_pretrained(network, networks.file_of(game))
    assert levels_of(game) == ["random", "rule-of-thumb", "trained"]
    trained = policy_at(game, None, "trained")
    monkeypatch.setattr(game_policies, "are_installed", lambda *_: False)
    assert levels_of(game) == ["random", "rule-of-thumb"]
    monkeypatch.undo()
    save_agent(tmp_path / "network.h5", network)
    found, choices = file_policy(tmp_path / "network.h5", game)
    match = GameMatch(found, np.random.default_rng(1))
    match.begin()
    seat = match.to_move[-1]
    state, legal = match.view(seat).state, match.legal(seat)
    values = evaluate(network.shape, network.weights, game.features(state)[np.newaxis])[0]
    assert choices(state).tolist() == [action == values[: len(legal)].argmax() for action in legal]
    assert trained(state).sum() == 1
    model = file_player(tmp_path / "network.h5", "mine")
    model.open()
    assert (model.facts()["hints"], model.n_states, model.moves_quickly) == (False, None, True)


def test_a_network_chooses_the_legal_action_of_the_highest_value():
    pytest.importorskip("jax")
    network = DqnLearner.new(vector_game(TicTacToe()), DqnMethod(hidden=(8,)), seed=3)
    positions = enumerate_positions(TicTacToe(), is_folded=False)
    values = network.values_of(network.weights)(live_states(network.vector, positions))
    expected = network_policy(positions, values)[0]
    choices = q_network_policy(TicTacToe(), network.shape, network.weights)
    for number in positions.live[::50].tolist():
        state = positions.states[number]
        assert np.array_equal(choices(state), expected[positions.rows_of(state)])


def test_networks_of_card_games_mix_their_actions():
    pytest.importorskip("jax")
    game = Gwent()
    network, state = DqnLearner.new(vector_game(game), DqnMethod(hidden=(8,)), seed=3), game.initial()
    while game.player(state) == CHANCE:
        state = game.apply(state, game.actions(state)[0])
    greedy, mixed = (
        q_network_policy(game, network.shape, network.weights, is_mixed)(state) for is_mixed in (False, True)
    )
    values = evaluate(network.shape, network.weights, game.features(state)[np.newaxis])[0]
    assert mixed == pytest.approx(np.exp(values / 0.03) / np.exp(values / 0.03).sum(), rel=1e-4)
    assert sorted(greedy) == [False] * 10 + [True]
    assert mixed.argmax() == greedy.argmax()


def test_files_of_tables_and_networks_are_read(positions, tmp_path):
    learner = new_learner(positions, Hyperparameters())
    save_agent(tmp_path / "table.h5", learner)
    game, choices = file_policy(tmp_path / "table.h5")
    assert (game.name, game.parameters()) == ("tapnswap", TapnSwap().parameters())
    assert np.array_equal(policy_of(positions, choices), learner.policy())
    with pytest.raises(ReadError, match=r"table\.h5: its game is"):
        file_policy(tmp_path / "table.h5", TapnSwap(Variant(limit=4)))
    pytest.importorskip("jax")
    network = DqnLearner.new(vector_game(TicTacToe()), DqnMethod(hidden=(8,)))
    save_agent(tmp_path / "network.h5", network)
    game, choices = file_policy(tmp_path / "network.h5", TicTacToe())
    assert game.name == "tictactoe"
    same = q_network_policy(game, network.shape, network.weights)
    assert np.array_equal(choices(game.initial()), same(game.initial()))

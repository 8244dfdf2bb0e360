"""Agents in files: what is read is what was written, and what is not an agent is refused."""

import json
from dataclasses import asdict
from importlib.util import find_spec

import numpy as np
import pytest

from bench.make import pretrained as maker
from learn.muzero.test_learner import grown
from punish_fast.games.connect4.game import Connect4
from punish_fast.games.connect4.known_scores import position_sets, shares
from punish_fast.games.enumeration.positions import enumerate_positions
from punish_fast.games.episodes import ValueMover, play_match, random_mover
from punish_fast.games.gwent.movers import rule_player
from punish_fast.games.incan_gold.movers import player_named
from punish_fast.games.learn import agent_file, networks
from punish_fast.games.learn.agent_file import load_agent, load_as, load_policies, save_agent, train
from punish_fast.games.learn.dqn import DqnLearner, DqnMethod, values_of
from punish_fast.games.learn.hyperparameters import MuZeroMethod
from punish_fast.games.learn.networks import evaluate, file_of, pretrained_network
from punish_fast.games.learn.qlearning import Hyperparameters, learn, new_learner
from punish_fast.games.learn.strength import live_states, network_policy, strength_of
from punish_fast.games.registry import make_game, vector_game
from punish_fast.games.tapnswap import TapnSwap, Variant
from punish_fast.games.tictactoe import TicTacToe
from punish_fast.runtime.errors import ReadError
from punish_fast.store.bundles import load_bundle, save_bundle

needs_jax = pytest.mark.skipif(find_spec("jax") is None or find_spec("optax") is None, reason="needs the extra learn")
METHOD = DqnMethod(hidden=(4,), games=40, replay_size=2, steps=1, batch=8, max_plies=30)


@pytest.fixture(scope="module")
def table():
    learner = new_learner(enumerate_positions(TapnSwap()), Hyperparameters("author", 0.25, None, 1.0), 9)
    learner.plan("self", 100)
    learn(learner, 60)
    learner.curve.append({"games": 60.0, "win_share": 0.5, "draw_share": 0.0, "mistakes": 90, "perfect": 0.5})
    return learner


@pytest.fixture(scope="module")
def network():
    vector = vector_game(TapnSwap(Variant(limit=3)))
    learner = DqnLearner.new(vector, METHOD, 2**63 - 1)
    if find_spec("jax") and find_spec("optax"):
        learner.plan(120)
        train(learner, strength_of(vector))
    return learner


@pytest.fixture(scope="module")
def muzero_learner(tictactoe, fast_compilation):  # noqa: ARG001
    return grown(tictactoe, rounds=2)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.h5"


def test_a_file_holds_the_table(path, table):
    save_agent(path, table, round=3)
    found = load_agent(path, TapnSwap())
    assert found.to_mapping() == table.to_mapping()
    learn(found, 40)
    other = load_agent(path)
    learn(other, 40)
    assert found.digest == other.digest != table.digest
    with pytest.raises(ReadError, match=r"x\.h5: its game is .*limit 5.*, not .*limit 6"):
        load_agent(path, TapnSwap(Variant(limit=6)))
    with pytest.raises(ReadError, match=r"x\.h5: kind: 'learner', must be 'network'"):
        load_as(path, DqnLearner)


@needs_jax
def test_a_file_holds_the_network(path, network):
    for learner in (network, DqnLearner.new(network.vector, METHOD)):
        save_agent(path, learner)
        found = load_agent(path)
        assert json.dumps(found.to_mapping()) == json.dumps(learner.to_mapping())
        assert (found.method, found.digest) == (learner.method, learner.digest)
        for name in ("weights", "target", "momentum", "variance", "snapshots"):
            assert all(map(np.array_equal, getattr(found, name), getattr(learner, name)))
        for one, other in zip(found.replay, learner.replay, strict=True):
            assert all(map(np.array_equal, (*one.games, *one.samples), (*other.games, *other.samples)))


def test_a_file_of_muzero_goes_on_to_the_same_bits(muzero_learner, path):
    save_agent(path, muzero_learner)
    again, other = (load_agent(path, muzero_learner.game) for _ in range(2))
    assert again.digest == muzero_learner.digest
    for each in (again, other):
        each.learn_round()
    assert again.digest == other.digest != muzero_learner.digest
    assert list(again.value_functions()) == [0, 25, 100]


def test_hyperparameters_of_older_files_have_their_names_of_today():
    for method, replaced in (
        (DqnMethod(replay_size=3), {}),
        (MuZeroMethod(replay_size=3, reanalyzed=0.5), {"reanalysed": 0.5}),
    ):
        older = {"memory": 3, **replaced} | asdict(method)
        for name in ("replay_size", "reanalyzed"):
            older.pop(name, None)
        assert type(method).of(older) == method


def test_what_is_not_a_table_is_refused(path, table):
    for edit, text in (
        (lambda header, _: header.update(game={"name": "chess", "parameters": {}}), "game: 'chess' is unknown"),
        (lambda header, _: header["game"]["parameters"].update(limit=6), "learner: belongs to positions"),
        (lambda header, _: header["learner"].update(sessions=3), "header: invalid"),
        (
            lambda header, _: header["learner"]["sessions"][0].update(games=101),
            "learner: seed, sessions or visits are out of range",
        ),
        (lambda _, arrays: arrays.update(q=arrays["q"][:, :-1]), r"learner: the tables have shape \(2, 538\)"),
        (lambda _, arrays: arrays["visits"].fill(-1), "learner: seed, sessions or visits are out of range"),
    ):
        refused(path, table, edit, text)


def refused(path, learner, edit, text):
    """Save a learner, edit the header or the arrays of its file, and load it."""
    save_agent(path, learner)
    header, arrays = load_bundle(path, agent_file.LAYOUTS)
    header = json.loads(json.dumps(header))
    edit(header, arrays)
    save_bundle(path, header.pop("kind"), header, arrays)
    with pytest.raises(ReadError, match=rf"x\.h5: {text}"):
        load_agent(path)


@needs_jax
def test_what_is_not_a_network_is_refused(path, network):
    for edit, text in (
        (lambda header, _: header["learner"].update(rounds=4), "learner: seed, rounds or wanted are out of range"),
        (lambda header, _: header["learner"].update(curve=[]), "curve: 0 points for 1 snapshots"),
        (lambda header, _: header["learner"]["curve"][0].update(first={"win": 2}), "curve: .* is not a point"),
        (lambda header, _: header["learner"]["method"].update(hidden=[5]), "weights: it has 82 weights; its method"),
        (
            lambda header, _: header["learner"]["method"].update(max_plies=1),
            "action: 80 games of .* plies do not match the latest rounds",
        ),
        (
            lambda _, arrays: arrays.update(action=np.zeros((80, 30), np.int16)),
            "action: an action follows the end of its",
        ),
        (lambda _, arrays: arrays.update(target=np.zeros(3, np.float32)), "target: it has 3 weights"),
    ):
        refused(path, network, edit, text)


def test_what_is_not_muzero_is_refused(muzero_learner, path):
    for edit, text in (
        (lambda header, _: header["learner"].update(rounds=1), r"action: 12 games of \d plies do not match the"),
        (lambda _, arrays: arrays["action"].fill(8), "action: an action "),
        (lambda _, arrays: arrays.update(policy=arrays["policy"][:, :, :8]), r"policy: its shape is .*, not \(12"),
    ):
        refused(path, muzero_learner, edit, text)
    save_agent(path, muzero_learner)
    with pytest.raises(ReadError, match=r"x\.h5: its game is tictactoe, not connect4"):
        load_agent(path, make_game("connect4", {}))


def values_in(network, positions):
    return network.values_of(network.weights)(live_states(network.vector, positions))


def test_a_table_plays_positions_and_a_network_all_states(path, table, tmp_path):
    save_agent(path, table)
    found, policies = load_policies(path, TapnSwap())
    assert found.is_folded
    assert list(policies) == [None]
    assert np.array_equal(policies[None], table.policy())
    if find_spec("jax") is None or find_spec("optax") is None:
        return
    network = DqnLearner.new(vector_game(TapnSwap()), DqnMethod(hidden=(4,)))
    save_agent(tmp_path / "network.h5", network)
    found, policies = load_policies(tmp_path / "network.h5", TapnSwap())
    assert not found.is_folded
    assert np.array_equal(policies[None], network_policy(found, values_in(network, found))[0])


def test_a_network_that_may_break_the_rules_has_no_policy_where_it_does(path):
    pytest.importorskip("optax", reason="no network is made: pip install optax")
    game = TicTacToe()
    network = DqnLearner.new(vector_game(game), DqnMethod(hidden=(4,), illegal="punish"))
    save_agent(path, network)
    positions, policies = load_policies(path, game)
    policy = policies[None]
    _, is_illegal = network_policy(positions, values_in(network, positions))
    plays = np.bincount(positions.position_of_row, policy, len(positions))
    assert np.array_equal(plays == 0, is_illegal | positions.is_terminal)
    assert 0 < is_illegal.sum() < len(positions.live)


def test_a_network_is_read_as_it_was_written(tmp_path, monkeypatch, capsys):
    assert file_of(Connect4()).exists()
    assert not file_of(TicTacToe()).exists()
    monkeypatch.setattr(networks, "FOLDER", tmp_path)
    learner = DqnLearner.new(vector_game(TicTacToe()), DqnMethod(hidden=(8, 4)), seed=3)
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
    vector = vector_game(game)
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

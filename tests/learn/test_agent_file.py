"""Learners in files."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from punish_fast.games.positions import enumerate_positions
from punish_fast.games.registry import vectorise
from punish_fast.games.tapnswap import TapnSwap, Variant
from punish_fast.games.tictactoe import TicTacToe
from punish_fast.learn.agent_file import load_checkpoint, load_policies, save_checkpoint
from punish_fast.learn.dqn import DqnMethod, new_dqn
from punish_fast.learn.network_file import save_dqn
from punish_fast.learn.qlearning import Hyperparameters, learn, new_learner
from punish_fast.learn.strength import live_states, network_policy
from punish_fast.runtime.files import ReadError
from punish_fast.store.learners import save_learner


@pytest.fixture
def saved(tmp_path):
    positions = enumerate_positions(TapnSwap())
    learner = new_learner(positions, Hyperparameters("author", 0.25, None, 1.0), 9)
    learner.plan("self", 100)
    learn(positions, [learner], 60)
    point = {"games": 60.0, "win_share": 0.5, "draw_share": 0.0, "mistakes": 90, "perfect": 0.5}
    learner.curve.append(point)
    save_checkpoint(tmp_path / "agent.h5", positions.game, learner, round=3)
    return tmp_path / "agent.h5", positions, learner


def test_a_checkpoint_holds_the_learner(saved):
    path, positions, learner = saved
    game, found = load_checkpoint(path)
    assert game.parameters() == positions.game.parameters()
    assert found.digest == learner.digest
    assert found.to_mapping() == learner.to_mapping()
    assert found.session.games == 60


def test_a_loaded_learner_resumes_exactly(saved):
    path, positions, learner = saved
    _, found = load_checkpoint(path, TapnSwap())
    for each in (learner, found):
        learn(positions, [each], 40)
    assert found.digest == learner.digest


def test_learners_of_other_games_are_refused(saved):
    with pytest.raises(ReadError, match=r"agent\.h5: its game is .*limit 5.*, not .*limit 6"):
        load_checkpoint(saved[0], TapnSwap(Variant(limit=6)))


@pytest.mark.parametrize(
    ("game", "text"),
    [
        ({"name": "chess", "parameters": {}}, "game: 'chess' is unknown, allowed: tapnswap"),
        ({}, "game: None is unknown, allowed: tapnswap"),
        ({"name": "tapnswap", "parameters": {"limit": "5"}}, "game: tapnswap has no parameters"),
        ({"name": "tapnswap", "parameters": Variant(limit=1)._asdict()}, "limit: 1 is not allowed"),
    ],
)
def test_unknown_games_are_refused(saved, game, text):
    path, _, learner = saved
    save_learner(path, game, learner.to_mapping(), learner.q, learner.visits)
    with pytest.raises(ReadError, match=rf"agent\.h5: {text}"):
        load_checkpoint(path)


def test_impossible_tables_are_refused(saved):
    path, positions, learner = saved
    learner.q[0, 0] = np.nan
    save_checkpoint(path, positions.game, learner)
    with pytest.raises(ReadError, match=r"agent\.h5: /learner/q: a number is not finite"):
        load_checkpoint(path)


def values_in(network, positions):
    return network.values_of(network.weights)(live_states(network.vector, positions))


def test_a_table_plays_positions_and_a_network_all_states(saved, tmp_path):
    path, positions, learner = saved
    found, policies = load_policies(path, positions.game)
    assert found.is_folded
    assert list(policies) == [None]
    assert np.array_equal(policies[None], learner.policy(positions))
    if find_spec("jax") is None or find_spec("optax") is None:
        return
    network = new_dqn(vectorise(positions.game), DqnMethod(hidden=(4,)))
    save_dqn(tmp_path / "network.h5", network)
    found, policies = load_policies(tmp_path / "network.h5", positions.game)
    assert not found.is_folded
    assert np.array_equal(policies[None], network_policy(found, values_in(network, found))[0])
    with pytest.raises(ReadError, match=r"network\.h5: its game is"):
        load_policies(tmp_path / "network.h5", TapnSwap(Variant(limit=6)))


def test_a_network_that_may_break_the_rules_has_no_policy_where_it_does(tmp_path):
    pytest.importorskip("optax", reason="no network is made: pip install optax")
    game = TicTacToe()
    network = new_dqn(vectorise(game), DqnMethod(hidden=(4,), illegal="punish"))
    save_dqn(tmp_path / "network.h5", network)
    positions, policies = load_policies(tmp_path / "network.h5", game)
    policy = policies[None]
    _, is_illegal = network_policy(positions, values_in(network, positions))
    plays = np.bincount(positions.position_of_row, policy, len(positions))
    assert np.array_equal(plays == 0, is_illegal | positions.is_terminal)
    assert 0 < is_illegal.sum() < len(positions.live)

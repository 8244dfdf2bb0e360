"""Searches: legal, repeatable, and right where the rules are known."""

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.games.learn.muzero.method import MuZeroMethod
from punish_fast.games.learn.muzero.search import plan_of, policy_logits, search
from punish_fast.games.learn.networks import random_weights
from punish_fast.games.learn.trainer import stream_of
from punish_fast.games.tictactoe import TicTacToe

pytestmark = pytest.mark.usefixtures("fast_compilation")


def weights_of(vector, method):
    return random_weights(method.shape_for(vector).shapes, stream_of(1, 0, 0))


def random_states(vector, n, plies):
    generator, states = np.random.default_rng(5), vector.initial(n)
    for _ in range(plies):
        legal = vector.legal(states)
        states = vector.step(states, (generator.random(legal.shape) * legal).argmax(axis=1))[0]
    return states


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gumbel", "puct"])
def test_searches_are_legal_and_do_not_depend_on_others(tictactoe, kind):
    method = MuZeroMethod(search=kind, simulations=8, width=8)
    plan, weights, states = plan_of(tictactoe, method), weights_of(tictactoe, method), random_states(tictactoe, 150, 3)
    found = search(plan, tictactoe, weights, states)
    legal = tictactoe.legal(states)
    assert legal[np.arange(150), found.action].all()
    assert found.policy.sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert not found.policy[~legal].any()
    assert (np.abs(found.value) <= 1).all()
    for part in (slice(0, 1), slice(120, 150), slice(None, None, -1)):
        alone = search(plan, tictactoe, weights, states[part], seed=9)
        assert np.array_equal(alone.action, found.action[part])
        assert alone.policy == pytest.approx(found.policy[part], abs=1e-5)
    assert search(plan, tictactoe, weights, states[:0]).policy.shape == (0, 9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gumbel", "puct"])
def test_searches_in_the_rules_win_and_block(tictactoe, kind):
    method, game = MuZeroMethod(model="rules", search=kind, simulations=200, width=8), TicTacToe()
    # X has two of a row; O has two of a row as well, and moves; X must block; O must block.
    states = [game.state_of(text) for text in ("XX.OO....", "XX.OO...X", "XO..O...X", "XX..O....")]
    found = search(plan_of(tictactoe, method), tictactoe, weights_of(tictactoe, method), tictactoe.pack(states))
    assert found.action.tolist() == found.policy.argmax(axis=1).tolist() == [2, 5, 7, 2]
    # A Gumbel search shares its visits among good and bad actions, and its value with them.
    if kind == "puct":
        assert (found.value[:2] > 0.6).all()
        assert (np.abs(found.value[2:]) < 0.8).all()


def test_the_prediction_alone_is_that_of_the_networks(tictactoe):
    method, states = MuZeroMethod(width=8), random_states(tictactoe, 5, 3)
    shape, weights = method.shape_for(tictactoe), weights_of(tictactoe, method)
    logits = policy_logits(shape, weights, tictactoe.features(states))
    more = policy_logits(shape, weights, tictactoe.features(np.repeat(states, 20, axis=0)))
    assert logits.shape == (5, 9)
    assert more[::20] == pytest.approx(logits, abs=1e-5)

"""The rules of games inside searches, against the rules themselves."""

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.games.learn.movers import random_mover
from punish_fast.games.learn.muzero.search import after_actions
from punish_fast.games.registry import make_game, vectorise


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "tapnswap"])
def test_nodes_follow_the_rules_to_the_end_and_stay_there(name):
    vector, generator = vectorise(make_game(name, {})), np.random.default_rng(1)
    states, over = vector.initial(50), np.zeros(50, dtype=np.bool_)
    n_ended = 0
    for _ in range(30):
        action, before = np.zeros(50, dtype=np.int32), states.copy()
        live = np.flatnonzero(~over)
        action[live] = random_mover(states[live], vector.legal(states[live]), generator)
        words, ends, reward, features, legal = after_actions(vector, states.view(np.uint32), over, action)
        assert np.array_equal(states, before)
        after, returns, ended = vector.step(states[live], action[live])
        mover = vector.player(states[live])
        assert np.array_equal(words.view(np.uint64)[live], after)
        assert np.array_equal(words.view(np.uint64)[over], states[over])
        assert np.array_equal(ends[live], ended)
        assert ends[over].all()
        assert np.array_equal(reward[live], returns[np.arange(len(live)), mover])
        assert not reward[over].any()
        assert np.array_equal(features, vector.features(words.view(np.uint64)))
        assert np.array_equal(legal, vector.legal(words.view(np.uint64)))
        states, over, n_ended = words.view(np.uint64), ends, n_ended + int(ended.sum())
    assert n_ended > 10 or name == "tapnswap"


def test_an_illegal_action_loses():
    vector = vectorise(make_game("tictactoe", {}))
    states = vector.step(vector.initial(2), np.array([4, 0]))[0]
    words, over, reward, _, _ = after_actions(vector, states.view(np.uint32), np.zeros(2, np.bool_), np.array([4, 4]))
    assert (over.tolist(), reward.tolist()) == ([True, False], [-1, 0])
    assert np.array_equal(words.view(np.uint64)[0], states[0])

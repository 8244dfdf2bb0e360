"""Many games of Connect Four at once."""

from __future__ import annotations

import numpy as np
import pytest

from games.laws import check_vector_game
from punish_fast.games.connect4 import Connect4
from punish_fast.games.vector_connect4 import VectorConnect4, play_random_games
from punish_fast.runtime._jit import set_threads, threads

VECTORS = VectorConnect4(Connect4())


def test_many_at_once_are_the_same_as_one_by_one():
    assert check_vector_game(VECTORS, 32) > 400


def test_actions_may_have_any_integer_type():
    states = VECTORS.initial(2)
    for kind in (np.int8, np.int32, np.uint64):
        after, returns, ended = VECTORS.step(states, np.array([3, 0], dtype=kind))
        assert after.tolist() == [[0, 1 << 21], [0, 1]]
        assert not returns.any()
        assert not ended.any()


@pytest.mark.compiled
def test_random_games_end_as_often_as_ever():
    results = play_random_games(200_000)
    # Shares of wins of the first player and of draws in uniform play: 0.5556 and 0.0025.
    assert (results == 1).mean() == pytest.approx(0.5556, abs=0.005)
    assert (results == 0).mean() == pytest.approx(0.0025, abs=0.0005)


def test_random_games_depend_on_the_seed_and_not_on_threads():
    before = threads()
    try:
        set_threads(1)
        one = play_random_games(64, seed=5)
    finally:
        set_threads(before)
    assert np.array_equal(one, play_random_games(64, seed=5))
    assert not np.array_equal(one, play_random_games(64, seed=6))

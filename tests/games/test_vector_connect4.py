"""Many games of Connect Four at once."""

from __future__ import annotations

import numpy as np

from games.laws import check_vector_game
from punish_fast.games.connect4.game import Connect4
from punish_fast.games.connect4.vector import VectorConnect4

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

"""What is fetched ahead: nothing that is not there, and nothing that changes anything."""

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.duel._prefetching import fetch_enemy, fetch_successor

STATE_PTR = np.array([0, 2, 5, 6, 10])
ACTION = np.zeros(10, dtype=np.uint8)
STRATEGY = np.ones(10)


@pytest.mark.parametrize(("number", "row"), [(0, 6), (1, 0), (11, 2), (12, 5), (19, 5)])
def test_the_first_row_of_the_enemy_is_that_of_a_full_state_ahead_or_of_the_last(number, row):
    enemy_rows = np.array([0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2], dtype=np.int32)
    assert fetch_enemy(STATE_PTR, ACTION, STRATEGY, enemy_rows, np.uint64(number)) == row


@pytest.mark.parametrize("entry", [0, 63, 64, 127])
@pytest.mark.parametrize("width", [1, 2])
def test_successors_ahead_are_left_as_they_are(entry, width):
    after = np.arange(128, dtype=np.int32)
    v = np.arange(128.0 * width).reshape(128, width)
    fetch_successor(after, v, np.uint64(width), np.uint64(entry))
    assert np.array_equal(after, np.arange(128))
    assert np.array_equal(v.ravel(), np.arange(128.0 * width))

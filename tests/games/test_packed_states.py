"""States as kernels take them."""

from __future__ import annotations

import numpy as np

from punish_fast.games.solve.packed_states import room_for_steps, signed


def test_words_stay_the_same_and_have_no_gaps():
    states = np.arange(12, dtype=np.uint64).reshape(4, 3)[::2, :2] << np.uint64(50)
    found = signed(states)
    assert (found.dtype, found.flags.c_contiguous) == (np.int64, True)
    assert found.tolist() == states.tolist()


def test_steps_have_room_for_what_kernels_write():
    after, returns, ended = room_for_steps(5, 3, 2)
    assert [(each.shape, each.dtype) for each in (after, returns, ended)] == [
        ((5, 3), np.int64),
        ((5, 2), np.float32),
        ((5,), np.bool_),
    ]

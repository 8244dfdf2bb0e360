"""States as kernels take them."""

from __future__ import annotations

import numpy as np

from punish_fast.games.packed_states import signed


def test_words_stay_the_same_and_have_no_gaps():
    states = np.arange(12, dtype=np.uint64).reshape(4, 3)[::2, :2] << np.uint64(50)
    found = signed(states)
    assert (found.dtype, found.flags.c_contiguous) == (np.int64, True)
    assert found.tolist() == states.tolist()

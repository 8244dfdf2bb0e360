"""States of many games as kernels take them, and random play in them."""

from __future__ import annotations

import numpy as np


def signed(states: np.ndarray) -> np.ndarray:
    """The words of states, uint64, as int64 in rows without gaps; no word needs the sign.

    Numba turns sums of unsigned and signed integers into floats, so kernels count in signed ones.
    """
    return np.ascontiguousarray(states, np.uint64).view(np.int64)


def room_for_steps(n: int, n_words: int, n_players: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What kernels write of ``n`` steps: states after them, int64 ``[n, n_words]``, returns, and whether games end."""
    return np.empty((n, n_words), np.int64), np.empty((n, n_players), np.float32), np.empty(n, np.bool_)

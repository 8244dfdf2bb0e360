"""States of many games at once as kernels take them."""

from __future__ import annotations

import numpy as np


def signed(states: np.ndarray) -> np.ndarray:
    """The words of states, uint64, as int64 in rows without gaps; no word needs the sign.

    Numba turns sums of unsigned and signed integers into floats, so kernels count in signed ones.
    """
    return np.ascontiguousarray(states, np.uint64).view(np.int64)

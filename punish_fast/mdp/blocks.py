"""Blocks of consecutive states for Gauss-Seidel sweeps (``_gauss_seidel.py``)."""

from __future__ import annotations

import numpy as np

from punish_fast.mdp.methods._gauss_seidel import Blocks
from punish_fast.runtime.parallel import balanced_chunks

# For as many threads; fewer blocks would carry values further in a sweep.
_MOST = 16
_SMALLEST = 1024


def blocks_of(ptr: np.ndarray) -> Blocks:
    """All states in blocks, as few as threads may need; entries of state ``s`` begin at ``ptr[s]``."""
    n_blocks = min(_MOST, 1 + len(ptr) // _SMALLEST)
    boundary = balanced_chunks(ptr, n_blocks).view(np.uint64)
    return Blocks(np.arange(len(boundary) - 1, dtype=np.uint64), boundary, is_descending=True)

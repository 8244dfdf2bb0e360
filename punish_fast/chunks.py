"""Cutting work into pieces of like weight, the same for every thread count.

A parallel kernel runs over chunks, not over items: each chunk has one owner, and what is summed inside a chunk is
always summed in the same order, so results do not depend on how many threads there are.
"""

from __future__ import annotations

import numpy as np

N_CHUNKS = 512


def balanced_chunks(ptr: np.ndarray, n_chunks: int = N_CHUNKS) -> np.ndarray:
    """Cut items into chunks of like weight.

    Args:
        ptr: ``[n + 1]``, ascending; item ``i`` weighs ``ptr[i + 1] - ptr[i]``.
        n_chunks: How many chunks at the most.

    Returns:
        int64 ``[k + 1]``, boundaries from 0 to ``n``, strictly ascending (``k`` is 0 for no items).
    """
    goals = np.linspace(ptr[0], ptr[-1], n_chunks + 1)
    inner = np.searchsorted(ptr, goals[1:-1])
    return np.unique(np.concatenate([[0], inner, [len(ptr) - 1]])).astype(np.int64)

"""Cutting work into pieces of like weight and sharing them among threads.

Kernels run over chunks of items, and every item has one owner: what is summed inside a chunk is always summed in the
same order, so results do not depend on how many threads there are.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from punish_fast._jit import threads

_PIECES_PER_THREAD = 4


def balanced_chunks(ptr: np.ndarray, n_chunks: int = 512) -> np.ndarray:
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


def cumulated(counts: np.ndarray) -> np.ndarray:
    """int64 ``[n + 1]``: where each of the consecutive runs of so many items begins, and where the last one ends."""
    ptr = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=ptr[1:])
    return ptr


def for_chunks(kernel: Callable[..., None], ptr: np.ndarray, *args: Any) -> None:
    """Call ``kernel(begin, end, *args)`` for chunks of items that together are all, spread over the threads.

    Kernels release the interpreter's lock, so plain threads serve; compared with a parallel loop inside the kernel
    they compile in a fraction of the time. For work that takes microseconds a parallel loop is the better one.

    Args:
        kernel: Fills what belongs to the items from ``begin`` to ``end`` and nothing else.
        ptr: ``[n + 1]``, ascending, the weights of the items as in `balanced_chunks`.
        *args: Further arguments.
    """
    n_threads = threads()
    chunks = balanced_chunks(ptr, n_threads * _PIECES_PER_THREAD)
    begins, ends = chunks[:-1].tolist(), chunks[1:].tolist()
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in pool.map(lambda begin, end: kernel(begin, end, *args), begins, ends):
            pass

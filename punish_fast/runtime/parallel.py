"""Kernels over chunks of items, spread over threads.

Kernels release the interpreter's lock, so plain threads can share the work. Compared with parallel loops inside the
kernels this compiles in half the time, needs no threading layer, and cuts long work into short calls, between which it
can be interrupted. Every item has one owner, and sums are taken over chunks that do not depend on the number of
threads, so results do not either.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from itertools import pairwise
from threading import Event
from typing import Any

import numpy as np

from punish_fast.runtime._jit import threads
from punish_fast.runtime.interrupts import uninterrupted

_CHUNKS_PER_THREAD = 4


def balanced_chunks(ptr: np.ndarray, n_chunks: int = 512) -> np.ndarray:
    """Cut items into chunks of similar weight.

    Args:
        ptr: ``[n + 1]``, whole numbers, ascending; item ``i`` weighs ``ptr[i + 1] - ptr[i]``.
        n_chunks: Largest number of chunks.

    Returns:
        int64 ``[k + 1]``, boundaries from 0 to ``n``, strictly ascending (``k`` is 0 for no items).
    """
    goals = np.linspace(ptr[0], ptr[-1], n_chunks + 1)
    # For goals of another type, NumPy would convert all of ptr.
    inner = np.searchsorted(ptr, np.ceil(goals[1:-1]).astype(ptr.dtype))
    return np.unique(np.concatenate([[0], inner, [len(ptr) - 1]])).astype(np.int64)


def cumulated(counts: np.ndarray) -> np.ndarray:
    """Offsets int64 ``[n + 1]`` of consecutive runs with these numbers of items."""
    ptr = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=ptr[1:])
    return ptr


@lru_cache(maxsize=1)
def _pool(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, thread_name_prefix="kernel")


if hasattr(os, "register_at_fork"):  # not on Windows
    # The threads of a pool do not exist in a forked child, which starts its own.
    os.register_at_fork(after_in_child=_pool.cache_clear)


def for_chunks(kernel: Callable[..., None], ptr: np.ndarray, *args: Any, origin: int = 0, alone: bool = False) -> None:
    """Call ``kernel(begin, end, *args)`` on chunks that cover all items, spread over the threads.

    Args:
        kernel: Writes only the results of the items from ``begin`` to ``end``.
        ptr: ``[n + 1]``, ascending, the weights of the items as in `balanced_chunks`.
        *args: Further arguments.
        origin: The number of the first item.
        alone: True if the calling thread does all.
    """
    _spread(kernel, _pairs(origin + balanced_chunks(ptr, threads() * _CHUNKS_PER_THREAD)), args, alone)


def for_each(kernel: Callable[..., None], n_items: int, *args: Any, alone: bool = False) -> None:
    """Like `for_chunks`, for items of equal weight; with ``alone``, the calling thread does all."""
    _spread(kernel, _equal_chunks(n_items, threads() * _CHUNKS_PER_THREAD), args, alone)


@lru_cache(maxsize=64)
def _equal_chunks(n_items: int, n_chunks: int) -> list[tuple[int, int]]:
    ends = [n_items * k // n_chunks for k in range(n_chunks + 1)]
    return [(begin, end) for begin, end in pairwise(ends) if begin < end]


def _spread(
    kernel: Callable[..., None], chunks: list[tuple[int, int]], args: tuple[Any, ...], alone: bool = False
) -> None:
    """Spread the chunks over the threads, the calling one included; an interrupt waits for the current chunks."""
    if alone or threads() == 1 or len(chunks) <= 1:
        # Still in chunks, so that an interrupt does not wait for all of them.
        for begin, end in chunks:
            kernel(begin, end, *args)
        return
    rest, failed = iter(chunks), Event()
    with uninterrupted() as pending:

        def work() -> None:
            while not pending and not failed.is_set() and (chunk := next(rest, None)) is not None:
                kernel(*chunk, *args)

        others = [_pool(threads()).submit(work) for _ in range(threads() - 1)]
        try:
            work()
        except BaseException:
            failed.set()
            raise
        finally:
            # A thread that has not begun, since it is busy with other work, would find nothing left to do.
            begun = [other for other in others if not other.cancel()]
            wait(begun)
        for other in begun:
            other.result()
    # If the handler of interrupts raised nothing, the rest is still to do.
    left = list(rest)
    if left:
        _spread(kernel, left, args)


def _pairs(chunks: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(chunks[:-1].tolist(), chunks[1:].tolist(), strict=True))

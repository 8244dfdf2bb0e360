"""Multithreaded execution of kernels on chunks of items.

Kernels release the interpreter lock, so Python threads can share the work. Compared with parallel loops inside kernels,
this halves compile time, needs no threading layer, and divides long work into short calls, between which it can be
interrupted. Each item is computed by one thread, and sums are taken over chunks that do not depend on the number of
threads, so results are independent of it.
"""

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
    """Divide items into at most ``n_chunks`` chunks of similar weight.

    ``ptr``, ``[n + 1]``, contains ascending integers; item ``i`` has weight ``ptr[i + 1] - ptr[i]``. Return strictly
    ascending boundaries from 0 to ``n``, int64 ``[k + 1]``; ``k`` is 0 if ``n`` is 0.
    """
    goals = np.linspace(ptr[0], ptr[-1], n_chunks + 1)
    # If the dtypes differed, NumPy would convert all of ptr.
    inner = np.searchsorted(ptr, np.ceil(goals[1:-1]).astype(ptr.dtype))
    return np.unique(np.concatenate([[0], inner, [len(ptr) - 1]])).astype(np.int64)


def cumulated(counts: np.ndarray) -> np.ndarray:
    """Return the offsets, int64 ``[n + 1]``, of consecutive runs of these lengths."""
    ptr = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=ptr[1:])
    return ptr


@lru_cache(maxsize=1)
def _pool(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, thread_name_prefix="kernel")


if hasattr(os, "register_at_fork"):  # not on Windows
    # A forked child does not inherit threads, so it creates its own pool.
    os.register_at_fork(after_in_child=_pool.cache_clear)


def for_chunks(kernel: Callable[..., None], ptr: np.ndarray, *args: Any, origin: int = 0, alone: bool = False) -> None:
    """Call ``kernel(begin, end, *args)`` for chunks that cover all items, in several threads.

    The kernel must write only the results of items ``begin`` to ``end - 1``.

    Args:
        ptr: ``[n + 1]``, weights of the items as in `balanced_chunks`.
        origin: Index of the first item.
        alone: Use the calling thread only.
    """
    _spread(kernel, _pairs(origin + balanced_chunks(ptr, threads() * _CHUNKS_PER_THREAD)), args, alone)


def for_each(kernel: Callable[..., None], n_items: int, *args: Any, alone: bool = False) -> None:
    """Call ``kernel`` for items of equal weight, like `for_chunks`."""
    _spread(kernel, _equal_chunks(n_items, threads() * _CHUNKS_PER_THREAD), args, alone)


@lru_cache(maxsize=64)
def _equal_chunks(n_items: int, n_chunks: int) -> list[tuple[int, int]]:
    ends = [n_items * k // n_chunks for k in range(n_chunks + 1)]
    return [(begin, end) for begin, end in pairwise(ends) if begin < end]


def _spread(
    kernel: Callable[..., None], chunks: list[tuple[int, int]], args: tuple[Any, ...], alone: bool = False
) -> None:
    """Process chunks in several threads, including the calling one; an interrupt waits for the current chunks."""
    if alone or threads() == 1 or len(chunks) <= 1:
        # An interrupt waits for one chunk only.
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
            # Calls that have not started yet would find no work, so they are cancelled.
            begun = [other for other in others if not other.cancel()]
            wait(begun)
        for other in begun:
            other.result()
    # Continue with the rest if an interrupt stopped the work but its handler did not raise.
    left = list(rest)
    if left:
        _spread(kernel, left, args)


def _pairs(chunks: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(chunks[:-1].tolist(), chunks[1:].tolist(), strict=True))

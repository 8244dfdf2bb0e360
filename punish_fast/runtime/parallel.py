"""Multithreaded execution of kernels on chunks of items.

Kernels release the interpreter lock, so Python threads can run them in parallel. Compared with parallel loops inside
kernels, Python threads halve the compile time, need no threading layer, and allow interrupts between short calls. A
single thread computes each item, and the chunks of sums do not depend on the number of threads. Therefore, results do
not depend on the number of threads.
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
from punish_fast.runtime.compilation.kernel_files import is_called_for_nothing
from punish_fast.runtime.deadline import check_time
from punish_fast.runtime.interrupts import uninterrupted

_CHUNKS_PER_THREAD = 4


def balanced_chunks(ptr: np.ndarray, n_chunks: int = 512) -> np.ndarray:
    """Divide items into at most ``n_chunks`` chunks of similar weight.

    ``ptr``, ``[n + 1]``, contains ascending integers. Item ``i`` has weight ``ptr[i + 1] - ptr[i]``. Return the
    boundaries of ``k`` chunks, int64 ``[k + 1]``, strictly ascending from 0 to ``n``. ``k`` is 0 if ``n`` is 0.
    """
    goals = np.linspace(ptr[0], ptr[-1], n_chunks + 1)
    # If the dtypes differed, NumPy would convert the whole array ptr.
    inner = np.searchsorted(ptr, np.ceil(goals[1:-1]).astype(ptr.dtype))
    return np.unique(np.concatenate([[0], inner, [len(ptr) - 1]])).astype(np.int64)


def cumulated(counts: np.ndarray) -> np.ndarray:
    """Return the cumulative sums of ``counts``, preceded by 0, int64 ``[n + 1]``."""
    ptr = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=ptr[1:])
    return ptr


@lru_cache(maxsize=1)
def _pool(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, thread_name_prefix="kernel")


if hasattr(os, "register_at_fork"):  # not on Windows
    # A forked child process does not inherit threads, so it must create a new pool.
    os.register_at_fork(after_in_child=_pool.cache_clear)


def for_chunks(kernel: Callable[..., None], ptr: np.ndarray, *args: Any, origin: int = 0, alone: bool = False) -> None:
    """Call ``kernel(begin, end, *args)`` for chunks of all items, in several threads.

    The kernel must write only the results of items ``begin`` to ``end - 1``.

    Args:
        ptr: ``[n + 1]``, cumulative weights of the items (see `balanced_chunks`).
        origin: Index of the first item, added to ``begin`` and ``end``.
        alone: True to make a single call in the calling thread.
    """
    ends = origin + (np.unique([0, len(ptr) - 1]) if alone else balanced_chunks(ptr, threads() * _CHUNKS_PER_THREAD))
    _spread(kernel, list(pairwise(ends.tolist())), args, alone)


def for_each(kernel: Callable[..., None], n_items: int, *args: Any, alone: bool = False) -> None:
    """Call ``kernel(begin, end, *args)`` for chunks of ``n_items`` items of equal weight (see `for_chunks`)."""
    _spread(kernel, _equal_chunks(n_items, threads() * _CHUNKS_PER_THREAD), args, alone)


@lru_cache(maxsize=64)
def _equal_chunks(n_items: int, n_chunks: int) -> list[tuple[int, int]]:
    ends = [n_items * k // n_chunks for k in range(n_chunks + 1)]
    return [(begin, end) for begin, end in pairwise(ends) if begin < end]


def _spread(
    kernel: Callable[..., None], chunks: list[tuple[int, int]], args: tuple[Any, ...], alone: bool = False
) -> None:
    """Process chunks in the calling thread and in other threads. Defer interrupts until the current calls end."""
    if not chunks and is_called_for_nothing(kernel):
        chunks = [(0, 0)]
    if alone or threads() == 1 or len(chunks) <= 1:
        # Python handles interrupts between the calls.
        for begin, end in chunks:
            check_time()
            kernel(begin, end, *args)
        return
    rest, failed = iter(chunks), Event()
    with uninterrupted() as pending:

        def work() -> None:
            while not pending and not failed.is_set() and (chunk := next(rest, None)) is not None:
                check_time()
                kernel(*chunk, *args)

        others = [_pool(threads()).submit(work) for _ in range(threads() - 1)]
        try:
            work()
        except BaseException:
            failed.set()
            raise
        finally:
            # Cancel tasks that have not begun, because no chunks are left.
            begun = [other for other in others if not other.cancel()]
            wait(begun)
        for other in begun:
            other.result()
    # If an interrupt stopped the threads but its handler did not raise, process the remaining chunks.
    left = list(rest)
    if left:
        _spread(kernel, left, args)

"""Tasks shared among processes.

Processes are spawned, not forked, because threads of kernels do not survive a fork. Each computes with one thread,
ignores the keyboard's interrupts, and ends when its parent does, however that ended.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import wait
from typing import Any

from punish_fast.runtime import _jit
from punish_fast.runtime.errors import PunishFastError

# Called with the number of tasks done and of all tasks.
OnTask = Callable[[int, int], None]


class WorkerError(PunishFastError, RuntimeError):
    """A process was killed before its work was done."""

    exit_code = 1


def run_all(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    n_processes: int = 1,
    on_task: OnTask | None = None,
) -> list[Any]:
    """Return the results of ``function`` for the arguments of each task, in order.

    Args:
        function: Called in this process if ``n_processes`` is 1; otherwise it must be importable, and its arguments
            and results picklable.
    """
    results: list[Any] = [None] * len(tasks)
    for done, (number, result) in enumerate(_run(function, tasks, min(n_processes, len(tasks))), 1):
        results[number] = result
        if on_task is not None:
            on_task(done, len(tasks))
    return results


def _run(function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], n_processes: int) -> Iterator[tuple[int, Any]]:
    if n_processes <= 1:
        yield from ((number, function(*task)) for number, task in enumerate(tasks))
        return
    with _pool(n_processes) as pool:
        with _interrupts_blocked():
            numbers = {pool.submit(function, *task): number for number, task in enumerate(tasks)}
        for future in as_completed(numbers):
            try:
                yield numbers[future], future.result()
            except BrokenProcessPool:
                raise WorkerError("a process was killed; finished work is kept, run the same command again") from None


@contextmanager
def _pool(n_processes: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end with the block, at once if it fails."""
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(n_processes, multiprocessing.get_context("spawn"), _prepare)
    try:
        yield pool
    except BaseException:
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        # Waiting for ended processes is quick, and leaves no zombies.
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    pool.shutdown()


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Hold the keyboard's interrupts back; processes that are started inherit that, from their first instruction on."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare() -> None:
    """Make a spawned process ready for work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _jit.set_threads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)

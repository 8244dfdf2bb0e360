"""Tasks shared among processes.

Processes are spawned, not forked, since threads of kernels do not survive a fork. Each computes with one thread. A
process ends when the one that began it does, however that ended, and takes no interrupts of its own: those are for the
one at the keyboard.
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

# Called with how many tasks are done, and how many there are.
OnTask = Callable[[int, int], None]


class WorkerError(RuntimeError):
    """A process ended before its work was done."""


def run_all(
    function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], n_processes: int = 1, on_task: OnTask | None = None
) -> list[Any]:
    """What ``function`` returns for the arguments of every task, in their order.

    Args:
        function: Called in this process if there is to be but one; otherwise it must be importable, and its
            arguments and results picklable.
        tasks: Arguments.
        n_processes: How many processes.
        on_task: Called whenever a task is done.

    Raises:
        WorkerError: a process was killed.
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
        numbers = {pool.submit(function, *task): number for number, task in enumerate(tasks)}
        for future in as_completed(numbers):
            try:
                yield numbers[future], future.result()
            except BrokenProcessPool:
                raise WorkerError("a process was killed; what is done is kept, the same command goes on") from None


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
        # Waiting for what has ended takes no time, and leaves nothing behind for the system to clean up.
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    pool.shutdown()


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

"""Tasks on a cluster, completed in any order, and repeated if results are lost.

Dask reassigns the tasks of dead workers. If Dask fails, for example because all copies of a value are lost, unfinished
tasks are submitted again.
"""

from __future__ import annotations

import asyncio
import math
import os
import platform
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import wait
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import uuid4

from punish_fast.runtime import _jit
from punish_fast.runtime.cluster import CALL_SECONDS, ClusterError
from punish_fast.runtime.cluster.connection import (
    check_versions,
    check_workers,
    remove_workers,
    versions,
    wait_for_workers,
    workers_of,
)
from punish_fast.runtime.deadline import TimeLimitError, check_time

if TYPE_CHECKING:
    from distributed import Client, Future


LOOK_SECONDS = 2.0
# Time limit for paused workers, which can be busy writing data to disk.
_STALL_SECONDS = 10.0
# Number of checks without a heartbeat after which a worker is frozen. Clocks would advance while this machine sleeps.
_LOOKS_WITHOUT_HEARTBEAT = math.ceil(CALL_SECONDS / LOOK_SECONDS)


class WorkerWatch:
    """Detects workers with different versions, and frozen or paused workers that delay tasks.

    Dask does not reassign the tasks of a worker that pauses for lack of memory, even if the worker never resumes. If a
    worker sends no heartbeats because its process is stopped, its machine sleeps or its network is down, Dask waits for
    minutes.
    """

    def __init__(self, client: Client, keys: Collection[Any]) -> None:
        self._client, self._keys = client, frozenset(keys)
        self._checked: set[str] = set()
        # Last heartbeat of each worker, and number of checks since this heartbeat.
        self._heartbeats: dict[str, tuple[float, int]] = {}
        self._next_look = time.monotonic() + LOOK_SECONDS
        self._moving = time.monotonic()

    def look(self) -> None:
        """Check the workers, at most every two seconds. Raise TimeoutError if tasks must be submitted again."""
        if time.monotonic() < self._next_look:
            return
        workers = workers_of(self._client)
        if joined := workers.keys() - self._checked:
            if check_workers(self._client, list(joined)):
                raise TimeoutError
            self._checked |= joined
        if frozen := self._frozen(workers):
            remove_workers(self._client, frozen)
            raise TimeoutError
        now = time.monotonic()
        if not self._is_stalled(workers):
            self._moving = now
        if now - self._moving > _STALL_SECONDS:
            raise TimeoutError
        self._next_look = now + LOOK_SECONDS

    def _frozen(self, workers: dict[str, dict[str, Any]]) -> list[str]:
        """Return the addresses of workers without a heartbeat in the last `_LOOKS_WITHOUT_HEARTBEAT` checks."""
        for address, worker in workers.items():
            last, looks = self._heartbeats.get(address, (None, 0))
            self._heartbeats[address] = worker["last_seen"], looks + 1 if worker["last_seen"] == last else 0
        return [address for address in workers if self._heartbeats[address][1] >= _LOOKS_WITHOUT_HEARTBEAT]

    def _is_stalled(self, workers: dict[str, dict[str, Any]]) -> bool:
        """Return True if all workers are paused and idle, or if a paused, idle worker has a watched task."""
        idle = [address for address, worker in workers.items() if _is_idle(worker)]
        if not idle or len(idle) == len(workers):
            return bool(idle)
        processing = self._client.processing()
        return any(not self._keys.isdisjoint(processing.get(address, ())) for address in idle)


def _is_idle(worker: dict[str, Any]) -> bool:
    return worker["status"] == "paused" and not worker["metrics"].get("task_counts", {}).get("executing")


T = TypeVar("T")

# Maximum number of times that unfinished tasks are submitted.
_ATTEMPTS = 5
_POLL_SECONDS = 0.002


def finished(
    client: Client, tasks: Sequence[T], submit: Callable[[list[T]], list[Future[Any]]], on_loss: Callable[[], None]
) -> Iterator[tuple[T, Any]]:
    """Run all tasks, and yield each task with its result when the task completes.

    Args:
        tasks: Tasks to run.
        submit: Function that submits tasks and returns their futures.
        on_loss: Function that drops references to data on the cluster, called before tasks are submitted again.
    """
    left = dict(enumerate(tasks))
    for _ in range(_ATTEMPTS):
        futures: list[Future[Any]] = []
        try:
            futures = submit(list(left.values()))
            number_of = {future.key: number for future, number in zip(futures, left, strict=True)}
            for future, found in _completed(client, futures):
                number = number_of[future.key]
                future.release()
                if isinstance(found, BaseException):  # the transfer of the result failed
                    raise found
                yield left.pop(number), found
        except (KeyboardInterrupt, GeneratorExit, TimeLimitError):
            # Stop workers from beginning more tasks.
            with suppress(OSError, ClusterError):
                client.cancel(futures, force=True)
            raise
        except Exception as error:
            wait_for_workers(client, error)
            client.cancel(futures, force=True)
            on_loss()
            continue
        return
    raise ClusterError(f"cluster: workers were lost {_ATTEMPTS} times")


def _completed(client: Client, futures: list[Future[Any]]) -> Iterator[tuple[Future[Any], Any]]:
    """Yield futures and their results in order of completion. Check the workers and the time limit while waiting."""
    from distributed import as_completed

    completed = as_completed(futures, client.loop, with_results=True)
    watch = WorkerWatch(client, [future.key for future in futures])
    while not completed.is_empty():
        if completed.has_ready():
            yield next(completed)
        else:
            watch.look()
            check_time()
            time.sleep(_POLL_SECONDS)


def hand_out(client: Client, values: list[Any]) -> list[Future[Any]]:
    """Send each value to one worker, and return a future for each value. Check the workers while values are sent.

    Workers fetch values from each other when they need them.
    """
    # Values are not broadcast, because a broadcast might not terminate if a worker dies.
    watch, loop = WorkerWatch(client, ()), cast("Any", client.loop)
    # Sending large values can take long, so this call has no time limit.
    sending = client.scatter(values, hash=False, asynchronous=True)
    call = asyncio.run_coroutine_threadsafe(sending, loop.asyncio_loop)
    try:
        while not wait([call], LOOK_SECONDS).done:
            watch.look()
    finally:
        call.cancel()
    return cast("list[Future[Any]]", call.result())


def submit(client: Client, function: Callable[..., Any], *arguments: Any, retries: int = 10) -> Future[Any]:
    """Submit a task that fails on workers whose versions differ from this process.

    ``function`` is a function of this package. Workers in other processes run the function with a single thread.
    Arguments can be futures. Dask repeats a failed task up to ``retries`` times.
    """
    key = f"{function.__name__}-{uuid4().hex}"
    return client.submit(_work, versions(), _HERE, function, *arguments, key=key, retries=retries)


_HERE = platform.node(), os.getpid()


def _work(wanted: Mapping[str, str], client: tuple[str, int], function: Callable[..., Any], *arguments: Any) -> Any:
    if client != (platform.node(), os.getpid()):
        from distributed import get_worker

        check_versions(get_worker().address, versions(), wanted)
        _jit.set_threads(1)
    return function(*arguments)

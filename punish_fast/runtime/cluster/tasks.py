"""Tasks on a cluster, completed in any order and repeated if their results are lost.

Dask reassigns the tasks of a dead worker. If Dask fails, for example because all copies of some data are lost, the
unfinished tasks are submitted again.
"""

from __future__ import annotations

import asyncio
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import wait
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import uuid4

from punish_fast.runtime import _jit
from punish_fast.runtime.cluster.connection import ClusterError, check_versions, versions, wait_for_workers
from punish_fast.runtime.cluster.worker_watch import LOOK_SECONDS, WorkerWatch

if TYPE_CHECKING:
    from distributed import Client, Future

T = TypeVar("T")

# Maximum number of submissions of unfinished tasks.
_ATTEMPTS = 5
_POLL_SECONDS = 0.002


def finished(
    client: Client,
    begin: Callable[[], Mapping[int, T]],
    submit: Callable[[list[T]], list[Future[Any]]],
    on_loss: Callable[[], None],
) -> Iterator[tuple[T, Any]]:
    """Run all tasks; yield each with its result as it completes.

    Args:
        begin: Function that returns the tasks by number.
        submit: Function that submits tasks and returns their futures.
        on_loss: Function called before unfinished tasks are submitted again; it must drop references to data on the
            cluster.
    """
    left: dict[int, T] | None = None
    for _ in range(_ATTEMPTS):
        futures: list[Future[Any]] = []
        try:
            left = dict(begin()) if left is None else left
            numbers = list(left)
            futures = submit(list(left.values()))
            number_of = {future.key: number for future, number in zip(futures, numbers, strict=True)}
            for future, found in _completed(client, futures):
                number = number_of[future.key]
                future.release()
                if isinstance(found, BaseException):  # the result was lost in transit
                    raise found
                yield left.pop(number), found
        except (KeyboardInterrupt, GeneratorExit):
            # Prevent workers from starting further tasks.
            with suppress(OSError, ClusterError):
                client.cancel(futures, force=True)
            raise
        except Exception as error:
            wait_for_workers(client, error)
            client.cancel(futures, force=True)
            on_loss()
            continue
        return
    raise ClusterError(f"cluster: workers were lost {_ATTEMPTS} times in a row")


def _completed(client: Client, futures: list[Future[Any]]) -> Iterator[tuple[Future[Any], Any]]:
    """Yield futures and their results as they complete; check the workers while waiting."""
    from distributed import as_completed

    completed = as_completed(futures, client.loop, with_results=True)
    watch = WorkerWatch(client, [future.key for future in futures])
    while not completed.is_empty():
        if completed.has_ready():
            yield next(completed)
        else:
            watch.look()
            time.sleep(_POLL_SECONDS)


def hand_out(client: Client, values: list[Any]) -> list[Future[Any]]:
    """Send each value to one worker, from which other workers can fetch it; return one future for each value.

    The workers are checked while the values are sent.
    """
    # A broadcast might not terminate if a worker dies.
    watch, loop = WorkerWatch(client, ()), cast("Any", client.loop)
    # The call has no time limit, because sending large values can take a long time.
    sending = client.scatter(values, hash=False, asynchronous=True)
    call = asyncio.run_coroutine_threadsafe(sending, loop.asyncio_loop)
    try:
        while not wait([call], LOOK_SECONDS).done:
            watch.look()
    finally:
        call.cancel()
    handed: list[Future[Any]] = call.result()
    return handed


def submit(client: Client, function: Callable[..., Any], *arguments: Any, retries: int) -> Future[Any]:
    """Submit a task that fails on workers whose versions differ from this process.

    ``function`` is a function of this package; in processes other than this one, it runs with one thread. The arguments
    can be futures. Dask repeats a failed task up to ``retries`` times.
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

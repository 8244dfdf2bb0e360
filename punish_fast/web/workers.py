"""Worker threads for jobs that would block other requests."""

import asyncio
import time
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Literal, TypeVar, get_args
from weakref import WeakValueDictionary

from punish_fast.web.limits import sender

T = TypeVar("T")
# solver: computations on all cores. adviser: queries of solved players. short: first part of each search.
# thinker: long searches, and loading of networks. reader: database queries.
# drawer: plots, one at a time, because the settings of matplotlib are global.
Kind = Literal["solver", "adviser", "short", "thinker", "reader", "drawer"]

# Number of threads for jobs of a kind. All other kinds have one thread.
_THREADS = {"adviser": 2, "reader": 4}
# Maximum number of queued and running jobs of a kind, per client and per address.
_MOST_OF_CLIENT, _MOST_OF_ADDRESS = 1, 2
# Seconds after which a search moves to the queue for long searches.
_SHORT = 0.1
# Seconds by which a search may exceed its deadline.
_GRACE = 0.5


class Workers:
    """Thread pools, one for each kind of job. Jobs of different kinds do not wait for each other.

    A job waits for earlier jobs of the same kind from the same client. The queue holds a limited number of jobs from
    each address. If a request is canceled, its job is dropped unless the job has started.

    Only the thread of the event loop handles requests and changes tables.
    """

    def __init__(self) -> None:
        self._threads = {kind: ThreadPoolExecutor(_THREADS.get(kind, 1), kind) for kind in get_args(Kind)}
        self._writer = ThreadPoolExecutor(1, "writer")
        self._turns: WeakValueDictionary[Hashable, asyncio.Semaphore] = WeakValueDictionary()

    async def run(self, kind: Kind, work: Callable[[], T]) -> T:
        """Run ``work`` in a thread for jobs of a kind, within the limits of the client and its address."""
        client = sender.get()
        turns: list[asyncio.Semaphore] = []
        for key, most in ((client, _MOST_OF_CLIENT), (client.address, _MOST_OF_ADDRESS)) if client else ():
            turn = self._turns.setdefault((kind, key), asyncio.Semaphore(most))
            try:
                await turn.acquire()
            except asyncio.CancelledError:
                _release(turns)
                raise
            turns.append(turn)
        loop = asyncio.get_running_loop()
        job = self._threads[kind].submit(work)
        # A running job continues after its request is canceled, so release the semaphores only when the job ends.
        job.add_done_callback(lambda _: _call(loop, turns))
        return await asyncio.wrap_future(job)

    async def answer(self, work: Callable[[], T], is_solved: bool) -> T:
        """Run a query of a player. Queries of solved players do not wait for the solution of other players."""
        return await self.run("adviser" if is_solved else "solver", work)

    async def think(self, work: Callable[[float], tuple[T, bool]], seconds: float) -> T | None:
        """Run a search for at most about ``seconds``, including the time spent in queues.

        Every search starts in the queue for short searches. Incomplete searches move to the queue for long searches.

        Args:
            work: Function of a deadline (a ``time.monotonic`` value). The return value is a pair: the result, and True
                if the search is complete.

        Returns:
            Result of the last search, or None if no search finished in time.
        """
        until, found = time.monotonic() + seconds, None
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds + _GRACE):
                found, is_all = await self.run("short", lambda: work(min(until, time.monotonic() + _SHORT)))
                if not is_all:
                    found, _ = await self.run("thinker", lambda: work(until))
        return found

    async def write(self, work: Callable[[], T]) -> T:
        """Run ``work`` in the single thread that writes to the database."""
        return await asyncio.get_running_loop().run_in_executor(self._writer, work)

    def close(self) -> None:
        """Finish all writes, and drop all other jobs that have not started."""
        for threads in self._threads.values():
            threads.shutdown(wait=False, cancel_futures=True)
        self._writer.shutdown(wait=True)


def _call(loop: asyncio.AbstractEventLoop, turns: list[asyncio.Semaphore]) -> None:
    """Release semaphores in the event loop. This function is called from another thread."""
    with suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(_release, turns)


def _release(turns: list[asyncio.Semaphore]) -> None:
    for turn in turns:
        turn.release()

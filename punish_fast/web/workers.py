"""Threads for work that would keep other requests waiting."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Literal, TypeVar, get_args
from weakref import WeakValueDictionary

from punish_fast.web.limits import sender

T = TypeVar("T")
# solver: computations with all processors. adviser: questions to solved players. short and thinker: searches, and
# loading of networks. reader: reading the database. drawer: plots, which share settings.
Kind = Literal["solver", "adviser", "short", "thinker", "reader", "drawer"]

_READERS = 4
# Threads for agents that are solved already.
_ADVISERS = 2
# Works of one kind that a client, and all clients of its address, may have in a queue or in threads.
_MOST_OF_CLIENT, _MOST_OF_ADDRESS = 1, 2
# Seconds of a search before it has to wait for longer ones.
_SHORT = 0.1
# Seconds for a search to notice its deadline.
_GRACE = 0.5


class Workers:
    """Kinds of work, each in threads of its own, so that none waits for another kind.

    A client waits until its own works of a kind are done, and then in a queue that holds few works of each address.
    Work that has not begun is dropped if its request is cancelled.

    Requests are answered in the thread of the event loop, and shared data changes only there.
    """

    def __init__(self) -> None:
        more = {"adviser": _ADVISERS, "reader": _READERS}
        self._threads = {kind: ThreadPoolExecutor(more.get(kind, 1), kind) for kind in get_args(Kind)}
        self._writer = ThreadPoolExecutor(1, "writer")
        self._turns: WeakValueDictionary[Hashable, asyncio.Semaphore] = WeakValueDictionary()

    async def run(self, kind: Kind, work: Callable[[], T]) -> T:
        """Work in a thread of a kind. Requests of one client, and of one address, take turns."""
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
        # A thread goes on if its request is cancelled, so the turn ends with the thread.
        job.add_done_callback(lambda _: _call(loop, turns))
        return await asyncio.wrap_future(job)

    async def answer(self, work: Callable[[], T], is_solved: bool) -> T:
        """Ask an agent; solved agents do not wait for others to be solved."""
        return await self.run("adviser" if is_solved else "solver", work)

    async def think(self, work: Callable[[float], tuple[T, bool]], seconds: float) -> T | None:
        """Search for at most some seconds, including the time in queues.

        Every search begins in the queue of short searches, and continues in the queue of long searches.

        Args:
            work: Takes a deadline, a moment of ``time.monotonic``; returns the result, and whether it is complete.

        Returns:
            The latest result; None if the search never began.
        """
        until, found = time.monotonic() + seconds, None
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds + _GRACE):
                found, is_all = await self.run("short", lambda: work(min(until, time.monotonic() + _SHORT)))
                if not is_all:
                    found, _ = await self.run("thinker", lambda: work(until))
        return found

    async def write(self, work: Callable[[], T]) -> T:
        """Write to a database, one work after the other."""
        return await asyncio.get_running_loop().run_in_executor(self._writer, work)

    def close(self) -> None:
        """Finish all writes and running work; drop other work."""
        for threads in self._threads.values():
            threads.shutdown(wait=False, cancel_futures=True)
        self._writer.shutdown(wait=True)


def _call(loop: asyncio.AbstractEventLoop, turns: list[asyncio.Semaphore]) -> None:
    """End turns from another thread."""
    with suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(_release, turns)


def _release(turns: list[asyncio.Semaphore]) -> None:
    for turn in turns:
        turn.release()

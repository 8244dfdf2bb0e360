"""Threads for what would keep other requests waiting."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")

_READERS = 4
# Seconds of a search before it has to wait for longer ones.
_SHORT = 0.1
# Seconds for a search to notice its deadline.
_GRACE = 0.5


class Workers:
    """Six kinds of work, each in threads of its own, so that none waits for another kind.

    Requests themselves are answered in one thread, that of the event loop, and all that is shared changes only there.
    """

    def __init__(self) -> None:
        self._solver = ThreadPoolExecutor(1, "solver")
        self._writer = ThreadPoolExecutor(1, "writer")
        self._drawer = ThreadPoolExecutor(1, "drawer")
        self._short = ThreadPoolExecutor(1, "short")
        self._thinker = ThreadPoolExecutor(1, "thinker")
        self._readers = ThreadPoolExecutor(_READERS, "reader")

    async def solve(self, work: Callable[[], T]) -> T:
        """Compute with all processors, one such work after the other."""
        return await asyncio.get_running_loop().run_in_executor(self._solver, work)

    async def answer(self, work: Callable[[], T], is_solved: bool) -> T:
        """Ask an agent; what is solved already does not wait for what is being solved."""
        return await (self.read(work) if is_solved else self.solve(work))

    async def load(self, work: Callable[[], T]) -> T:
        """Open an agent of another game."""
        return await asyncio.get_running_loop().run_in_executor(self._thinker, work)

    async def think(self, work: Callable[[float], tuple[T, bool]], seconds: float) -> T | None:
        """Search for at most some seconds, including the time in queues.

        Every search begins in the queue of short searches, and continues in the queue of long searches.

        Args:
            work: Takes a deadline, a moment of ``time.monotonic``; returns the result, and whether it is complete.
            seconds: Maximum time.

        Returns:
            The latest result; None if the search never began.
        """
        until, found = time.monotonic() + seconds, None
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds + _GRACE):
                loop = asyncio.get_running_loop()
                found, is_all = await loop.run_in_executor(
                    self._short, lambda: work(min(until, time.monotonic() + _SHORT))
                )
                if not is_all:
                    found, _ = await loop.run_in_executor(self._thinker, work, until)
        return found

    async def read(self, work: Callable[[], T]) -> T:
        """Read a database, or do other work of a moment."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, work)

    async def write(self, work: Callable[[], T]) -> T:
        """Write to a database, one work after the other."""
        return await asyncio.get_running_loop().run_in_executor(self._writer, work)

    async def draw(self, work: Callable[[], T]) -> T:
        """Draw a plot; plots share settings, so one after the other."""
        return await asyncio.get_running_loop().run_in_executor(self._drawer, work)

    def close(self) -> None:
        """Finish what was begun and drop what was not; writes are all done."""
        self._solver.shutdown(wait=False, cancel_futures=True)
        self._drawer.shutdown(wait=False, cancel_futures=True)
        self._short.shutdown(wait=False, cancel_futures=True)
        self._thinker.shutdown(wait=False, cancel_futures=True)
        self._readers.shutdown(wait=False, cancel_futures=True)
        self._writer.shutdown(wait=True)

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from starlette.exceptions import HTTPException

from punish_fast.web.guard import Guard
from punish_fast.web.limits import Client, Limits, sender
from punish_fast.web.workers import Kind, Workers

KINDS = ("reader", "solver")


def asked(workers: Workers, kind: Kind, client: Client, work: Any) -> asyncio.Task[Any]:
    """A request of a client that needs work."""

    async def run() -> Any:
        sender.set(client)
        return await workers.run(kind, work)

    return asyncio.create_task(run())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("leaves", [False, True])
def test_one_client_is_not_in_the_way_of_others(kind, leaves):
    async def run() -> tuple[list[str], list[str]]:
        workers, goes_on, done = Workers(), threading.Semaphore(0), []

        def work(name: str) -> None:
            goes_on.acquire(timeout=60)
            done.append(name)

        greedy = [asked(workers, kind, Client("192.0.2.1", f"c{n // 20}"), lambda: work("greedy")) for n in range(60)]
        await asyncio.sleep(0.01)
        if leaves:
            for task in greedy:
                task.cancel()
        other = asked(workers, kind, Client("192.0.2.2", "other"), lambda: work("other"))
        while not other.done():
            goes_on.release()
            await asyncio.sleep(0.01)
        before = list(done)
        goes_on.release(100)
        await asyncio.gather(*greedy, return_exceptions=True)
        workers.close()
        return before, done

    before, done = asyncio.run(run())
    assert len(before) < 10
    assert len(done) < 10 if leaves else len(done) == 61


@pytest.mark.parametrize(("method", "is_done"), [("GET", False), ("HEAD", False), ("POST", True)])
def test_a_request_whose_client_has_left_is_dropped_if_it_only_reads(method, is_done):
    ends = []

    async def app(*_: Any) -> None:
        try:
            await asyncio.sleep(0.02)
            ends.append(True)
        except asyncio.CancelledError:
            ends.append(False)
            raise

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        raise HTTPException(500, f"unexpected {message}")

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": method, "path": "/games/1", "query_string": b"", "headers": headers}
    scope["client"] = ("192.0.2.1", 1)

    async def run() -> None:
        await Guard(app, frozenset(), frozenset(), Limits())(scope, receive, send)
        await asyncio.sleep(0.03)

    asyncio.run(run())
    assert ends == [is_done]

"""Endless heads and slow requests end, and nothing else is in their way."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest
import uvicorn
from serving import hall_of

from punish_fast.web import protocol
from punish_fast.web.app import create_app
from punish_fast.web.protocol import MOST_HEAD, BoundedProtocol
from punish_fast.web.server import listen

HEAD = b"GET /page/icon.svg HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture
def port() -> Iterator[int]:
    """A server in a thread."""
    with closing(listen("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(create_app(hall_of()), http=BoundedProtocol, log_level="critical", ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def exchange(port: int, *parts: bytes, pause: float = 0.0) -> list[tuple[int, bytes]]:
    """Status and body of each answer to what is sent."""

    async def run() -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for part in parts:
            try:
                writer.write(part)
                await writer.drain()
            except OSError:
                break
            await asyncio.sleep(pause)
        if parts and not parts[-1].endswith(b"..."):
            writer.write_eof()
        answer = b""
        try:
            while chunk := await asyncio.wait_for(reader.read(65536), 30):
                answer += chunk
        except OSError:
            pass
        writer.close()
        return answer

    answers, rest = [], asyncio.run(run())
    while rest:
        head, _, rest = rest.partition(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line)
        answers.append((int(head.split()[1]), rest[:length]))
        rest = rest[length:]
    return answers


def test_requests_on_one_connection_are_all_answered(port):
    request = HEAD + b"X: " + b"a" * (MOST_HEAD // 2) + b"\r\n\r\n"
    last = HEAD + b"Connection: close\r\n\r\n"
    answers = exchange(port, *[request] * 6, request[:100], request[100:], last, pause=0.02)
    assert [status for status, _ in answers] == [200] * 8
    assert len({body for _, body in answers}) == 1


@pytest.mark.parametrize("line", [b"X: " + b"a" * 70_000, b"X: a\r\n" * 10_000])
def test_a_long_head_is_refused(port, line):
    answers = exchange(port, HEAD, line, line, line, b"...", pause=0.02)
    # The connection ends while more comes, so the answer may be lost.
    for status, body in answers:
        assert (status, json.loads(body)["detail"]) == (431, f"head: allowed are {MOST_HEAD:,} bytes")
    assert len(answers) <= 1


def test_a_long_head_that_comes_at_once_is_refused(port):
    (answer,) = exchange(port, HEAD + b"X: " + b"a" * (MOST_HEAD + 1) + b"\r\nConnection: close\r\n\r\n")
    assert answer[0] == 431


@pytest.mark.parametrize("part", [b"...", HEAD + b"X: ...", HEAD + b"Content-Length: 10\r\n\r\n..."])
def test_a_request_that_does_not_end_is_given_up(port, monkeypatch, part):
    monkeypatch.setattr(protocol, "MOST_SECONDS", 0.3)
    answers = exchange(port, part)
    # What is no HTTP is refused at once.
    assert {status for status, _ in answers} <= {200, 400, 408}
    assert answers[-1][0] in (400, 408)

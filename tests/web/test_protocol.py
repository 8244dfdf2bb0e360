"""Endless heads and slow requests end, and nothing else is in their way."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playing import some_games
from serving import TINY, config_of

from punish_fast.records.logs import write_log
from punish_fast.records.summary import read_results
from punish_fast.web import protocol
from punish_fast.web.app import create_app
from punish_fast.web.protocol import MOST_HEAD, MOST_SECONDS, BoundedProtocol
from punish_fast.web.server import listen

TOKEN = "t" * 20
HEAD = b"GET /page/icon.svg HTTP/1.1\r\nHost: localhost\r\n"


class Watched(BoundedProtocol):
    """A connection that counts what it has received, and whose time may be up once it has received something."""

    received = 0
    most_waiting = 0
    n_paused = 0
    is_lost = False
    is_late = False
    has_no_delay = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        peer = transport.get_extra_info("socket")
        Watched.has_no_delay = bool(peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.is_late and self._timer is not None:
            assert self._timer.when() - self.loop.time() <= MOST_SECONDS
            self._timer.cancel()
            self._timer = self.loop.call_soon(self._give_up)
        Watched.received += len(data)

    def pause_writing(self) -> None:
        super().pause_writing()
        Watched.n_paused += 1

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        Watched.most_waiting = max(Watched.most_waiting, len(self.pipeline))

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        Watched.is_lost = True


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[int]:
    """A server in a thread, without uvloop, as on Windows."""
    monkeypatch.setitem(sys.modules, "uvloop", None)
    monkeypatch.setattr(Watched, "received", 0)
    monkeypatch.setattr(Watched, "most_waiting", 0)
    monkeypatch.setattr(Watched, "is_lost", False)
    with closing(listen("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(
            create_app(config_of(database=tmp_path / "games.db", token=TOKEN)),
            http=Watched,
            log_level="critical",
            ws="none",
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def exchange(port: int, *parts: bytes, ends: bool = True) -> list[tuple[int, bytes]]:
    """Status and body of each answer; every part is sent once the server has received those before it."""

    async def run() -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        sent = 0
        for part in parts:
            try:
                writer.write(part)
                await writer.drain()
            except OSError:
                break
            sent += len(part)
            while Watched.received < sent and not Watched.is_lost:
                await asyncio.sleep(0.001)
        if ends and not parts[-1].endswith(b"..."):
            writer.write_eof()
        answer = b""
        try:
            while chunk := await asyncio.wait_for(reader.read(65536), 60):
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


def test_idle_connections_of_one_address_make_room_for_others(port, monkeypatch):
    monkeypatch.setattr(BoundedProtocol, "most_connections", 10)

    async def run() -> tuple[int, list[bytes]]:
        idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(30)]
        other = await asyncio.open_connection("127.0.0.1", port, local_addr=("127.0.0.2", 0))
        answers = []
        # One that is used stays, and so does the one of another address.
        for _ in range(3):
            for reader, writer in (idle[-1], other):
                writer.write(HEAD + b"\r\n")
                answers.append((await reader.readuntil(b"</svg>\n"))[:15])
            idle += [await asyncio.open_connection("127.0.0.1", port) for _ in range(8)]
        closed = [await is_open(reader) for reader, _ in idle].count(False)
        for _, writer in [*idle, other]:
            writer.close()
        return closed, answers

    async def is_open(reader: asyncio.StreamReader) -> bool:
        try:
            return bool(await asyncio.wait_for(reader.read(1), 0.05))
        except TimeoutError:
            return True

    closed, answers = asyncio.run(run())
    assert answers == [b"HTTP/1.1 200 OK"] * 6
    assert closed >= 54 - 10


async def unread(port: int, host: str) -> socket.socket:
    """A connection that reads none of its answers, once the server can write no more of them."""
    idle = socket.socket()
    idle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    idle.bind((host, 0))
    idle.connect(("127.0.0.1", port))
    idle.setblocking(False)
    n_paused = Watched.n_paused
    with suppress(OSError):
        idle.send(b"GET /page/play.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 500)
    while Watched.n_paused == n_paused:
        await asyncio.sleep(0.001)
    return idle


def test_connections_that_do_not_read_make_room_for_others(port, monkeypatch):
    monkeypatch.setattr(BoundedProtocol, "most_connections", 3)

    async def run() -> list[bytes]:
        idle = [await unread(port, "127.0.0.2") for _ in range(3)]
        answers = []
        for _ in range(3):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(HEAD + b"\r\n")
            answers.append(await reader.read(15))
            writer.close()
        for each in idle:
            each.close()
        return answers

    assert asyncio.run(run()) == [b"HTTP/1.1 200 OK"] * 3


def test_a_connection_that_does_not_read_is_closed_in_the_end(port, monkeypatch):
    monkeypatch.setattr(protocol, "MOST_SECONDS", 0.1)

    async def run() -> None:
        with closing(await unread(port, "127.0.0.1")):
            while not Watched.is_lost:
                await asyncio.sleep(0.001)

    asyncio.run(asyncio.wait_for(run(), 10))


def test_a_body_does_not_wait_until_its_head_is_acknowledged(port):
    exchange(port, HEAD + b"Connection: close\r\n\r\n")
    assert Watched.has_no_delay


def test_requests_on_one_connection_are_all_answered(port):
    request = HEAD + b"X: " + b"a" * (MOST_HEAD // 2) + b"\r\n\r\n"
    last = HEAD + b"Connection: close\r\n\r\n"
    answers = exchange(port, *[request] * 6, request[:100], request[100:], last)
    assert [status for status, _ in answers] == [200] * 8
    assert len({body for _, body in answers}) == 1


def test_few_requests_of_one_connection_wait(port):
    request, last = HEAD + b"\r\n", HEAD + b"Connection: close\r\n\r\n"
    answers = exchange(port, request * 1000 + last, ends=False)
    assert [status for status, _ in answers] == [200] * 1001
    assert 0 < Watched.most_waiting <= 30


@pytest.mark.parametrize("line", [b"X: " + b"a" * 70_000, b"X: a\r\n" * 10_000])
def test_a_long_head_is_refused(port, line):
    answers = exchange(port, HEAD, line, line, line, b"...")
    # The connection ends while more comes, so the answer may be lost.
    for status, body in answers:
        assert (status, json.loads(body)["detail"]) == (431, f"head: allowed are {MOST_HEAD:,} bytes")
    assert len(answers) <= 1


@pytest.mark.parametrize("line", [b"X: " + b"a" * 70_000, b"X: a\r\n" * 10_000, b"1;" + b"a" * 70_000])
def test_long_lines_around_a_body_are_refused(port, line):
    chunked = post_of(b"").partition(b"Content-Length")[0] + b"Transfer-Encoding: chunked\r\n\r\n3\r\n[ \n\r\n"
    answers = exchange(port, chunked, line if line.startswith(b"1") else b"0\r\n" + line, line, b"...")
    assert [status for status, _ in answers] in ([], [431])
    assert Watched.is_lost


def test_a_body_in_many_parts_is_read(port):
    head = post_of(b"").partition(b"Content-Length")[0] + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    log = write_log(some_games(3, seed=2, rules=TINY)).encode()
    parts = b"".join(b"1;" + b"x" * 20 + b"\r\n%c\r\n" % byte for byte in b" " * 2000 + log)
    ((status, answer),) = exchange(port, head + parts + b"0\r\nX: a\r\n\r\n", ends=False)
    assert (status, json.loads(answer)["imported"]) == (200, 3)


def test_a_long_head_that_comes_at_once_is_refused(port):
    (answer,) = exchange(port, HEAD + b"X: " + b"a" * (MOST_HEAD + 1) + b"\r\nConnection: close\r\n\r\n")
    assert answer[0] == 431


@pytest.mark.parametrize("part", [b"...", HEAD + b"X: ...", HEAD + b"Content-Length: 10\r\n\r\n..."])
def test_a_request_that_does_not_end_is_given_up(port, monkeypatch, part):
    monkeypatch.setattr(Watched, "is_late", True)
    answers = exchange(port, part)
    # What is no HTTP is refused at once.
    assert {status for status, _ in answers} <= {200, 400, 408}
    assert answers[-1][0] in (400, 408)


def post_of(body: bytes) -> bytes:
    """The head of a request that adds games."""
    head = f"POST /games HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n".encode()


def test_the_end_of_a_long_body_is_not_a_head(port, tmp_path):
    log = write_log(some_games(3, seed=2, rules=TINY)).encode()
    body = b" " * (300_000 - len(log)) + log
    ((status, answer),) = exchange(
        port, post_of(body) + b"Connection: close\r\n\r\n", body[:150_000], body[150_000:], ends=False
    )
    assert (status, json.loads(answer)["imported"]) == (200, 3)
    assert len(read_results(tmp_path / "games.db")) == 3


@pytest.mark.parametrize(("bad", "status"), [(b"nonsense\r\n\r\n", 400), (HEAD + b"X: " + b"a" * 40_000, 431)])
def test_a_request_before_a_refused_one_has_its_own_answer(port, bad, status):
    log = write_log(some_games(3, seed=2, rules=TINY)).encode()
    first, second = exchange(port, post_of(log) + b"\r\n" + log, bad, ends=False)
    assert (first[0], json.loads(first[1])["imported"]) == (200, 3)
    assert second[0] == status
    assert json.loads(second[1])["detail"]

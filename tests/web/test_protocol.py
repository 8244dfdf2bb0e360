"""Endless heads and slow requests end, and nothing else is in their way."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from playing import some_games
from serving import TINY, config_of

from punish_fast.records.logs import write_log
from punish_fast.records.summary import read_results
from punish_fast.web import protocol, server
from punish_fast.web.app import create_app
from punish_fast.web.protocol import MOST_HEAD, BoundedProtocol

TOKEN = "t" * 20
HEAD = b"GET /page/icon.svg HTTP/1.1\r\nHost: localhost\r\n"
LOG = write_log(some_games(3, seed=2, rules=TINY)).encode()


def post_of(body: bytes) -> bytes:
    """The head of a request that adds games."""
    head = f"POST /games HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n".encode()


# The head of such a request, whose body comes in chunks.
CHUNKED = post_of(b"").partition(b"Content-Length")[0] + b"Transfer-Encoding: chunked\r\n\r\n"


class Watched(BoundedProtocol):
    """A connection that counts what it has received."""

    received = 0
    n_paused = 0
    is_lost = False
    has_no_delay = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        Watched.received, Watched.is_lost = 0, False
        peer = transport.get_extra_info("socket")
        Watched.has_no_delay = bool(peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        Watched.received += len(data)

    def pause_writing(self) -> None:
        super().pause_writing()
        Watched.n_paused += 1

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        Watched.is_lost = True


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of games that is not there yet."""
    return tmp_path_factory.mktemp("protocol") / "games.db"


@pytest.fixture(scope="module")
def port(database: Path) -> Iterator[int]:
    """A server in a thread."""
    servers: list[server._Server] = []
    interval = sys.getswitchinterval()
    is_ready = threading.Event()

    class Server(server._Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            servers.append(self)
            await super().startup(sockets)

    with pytest.MonkeyPatch.context() as patch, closing(server.listen("127.0.0.1", 0)) as listening:
        patch.setattr(server, "BoundedProtocol", Watched)
        patch.setattr(server, "_Server", Server)
        app = create_app(config_of(database=database, token=TOKEN))
        thread = threading.Thread(target=server.serve, args=(app, listening, is_ready.set))
        thread.start()
        assert is_ready.wait(60)
        try:
            yield listening.getsockname()[1]
        finally:
            servers[0].should_exit = True
            thread.join()
            sys.setswitchinterval(interval)


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
        lengths = [int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line]
        length = lengths[0] if lengths else len(rest)
        answers.append((int(head.split()[1]), rest[:length]))
        rest = rest[length:]
    return answers


def test_idle_connections_of_one_address_make_room_for_others(port, monkeypatch):
    monkeypatch.setattr(Watched, "most_connections", 10)

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
    monkeypatch.setattr(Watched, "most_connections", 3)

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


@pytest.mark.parametrize("part", [b"", HEAD + b"X: ", post_of(b"a" * 10_000) + b"\r\n", None])
def test_a_request_that_does_not_end_and_an_answer_that_is_not_read_are_given_up(port, monkeypatch, part):
    monkeypatch.setattr(protocol, "MOST_SECONDS", 0.1)

    async def read_nothing() -> None:
        with closing(await unread(port, "127.0.0.1")):
            while not Watched.is_lost:
                await asyncio.sleep(0.001)

    async def trickle() -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        sent = 0
        while not Watched.is_lost:
            # Something from time to time is not enough.
            writer.write(part[sent : sent + 1] or b"a" * bool(part))
            sent += 1
            await asyncio.sleep(0.001)
        writer.close()

    Watched.is_lost = False
    asyncio.run(asyncio.wait_for(read_nothing() if part is None else trickle(), 10))


def test_requests_on_one_connection_are_all_answered(port):
    request = HEAD + b"X: " + b"a" * (MOST_HEAD // 2) + b"\r\n\r\n"
    last = HEAD + b"Connection: close\r\n\r\n"
    answers = exchange(port, *[request] * 6, request[:100], request[100:], last, ends=False)
    assert [status for status, _ in answers] == [200] * 8
    assert len({body for _, body in answers}) == 1
    # A body does not wait until its head is acknowledged.
    assert Watched.has_no_delay
    answers = exchange(port, (HEAD + b"\r\n") * 200 + last, ends=False)
    assert [status for status, _ in answers] == [200] * 201
    first, second = exchange(port, post_of(LOG) + b"\r\n" + LOG, b"nonsense\r\n\r\n", ends=False)
    assert (first[0], json.loads(first[1])["games"], second[0]) == (200, 3, 400)


@pytest.mark.parametrize(
    "begin", [HEAD + b"X: ", CHUNKED + b"3\r\n[ \n\r\n0\r\nX: ", CHUNKED + b"1;"], ids=["head", "trailer", "chunk"]
)
def test_a_long_head_or_line_around_a_body_is_refused(port, begin):
    answers = exchange(port, begin, b"a" * 70_000, b"a" * 70_000, b"...")
    # The connection ends while more comes, so the answer may be lost.
    assert [status for status, _ in answers] in ([], [400])
    assert Watched.is_lost


@pytest.mark.parametrize(
    "whole",
    [
        HEAD + b"X: " + b"a" * 40_000 + b"\r\n",
        HEAD + b"".join(b"%d: a\r\n" % number for number in range(5000)),
        HEAD.replace(b".svg", b".svg?" + b"a" * 40_000),
        HEAD.replace(b".svg", b"a" * 40_000),
    ],
    ids=["header", "headers", "query", "path"],
)
def test_a_long_head_that_arrives_at_once_is_refused(port, whole):
    assert [status for status, _ in exchange(port, whole + b"\r\n", ends=False)] == [431]


@pytest.mark.parametrize("uri", [b"http://127.0.0.1/page/icon.svg?a=b", b"HTTP://localhost:80/page/icon.svg"])
def test_an_absolute_uri_names_the_path(port, uri):
    head = HEAD + b"Connection: close\r\n\r\n"
    (answer,) = exchange(port, head.replace(b"/page/icon.svg", uri), ends=False)
    assert answer[0] == 200
    assert answer[1].endswith(b"</svg>\n")


@pytest.mark.parametrize("path", [b"/games", b"/nothing"])
def test_a_malformed_body_has_one_answer_and_no_log(port, path, monkeypatch, caplog):
    monkeypatch.setattr(logging.getLogger("uvicorn.error"), "handlers", [caplog.handler])
    answers = exchange(port, CHUNKED.replace(b"/games", path) + b"ZZZ\r\n", ends=False)
    assert [status for status, _ in answers] == [400]
    # The application has ended once another request is answered.
    assert len(exchange(port, HEAD + b"Connection: close\r\n\r\n", ends=False)) == 1
    assert not caplog.records


REFUSED = [
    b"GARBAGE\r\n",
    HEAD + b"Content-Length: x\r\n",
    HEAD + b"no colon\r\n",
    HEAD.partition(b"Host")[0],
    HEAD.replace(b"/page", b"/p\xe4ge"),
    HEAD + b"X: " + b"a" * (MOST_HEAD + 1000),
    CHUNKED + b"ZZZ",
    *(
        HEAD.replace(b"GET /page/icon.svg", line)
        for line in (b"POST /", b"PUT /models", b"OPTIONS *", b"DELETE /games")
    ),
]


@pytest.mark.parametrize("head", REFUSED, ids=range(len(REFUSED)))
def test_every_refusal_has_a_detail_even_of_malformed_http(port, head):
    ((status, content),) = exchange(port, head + b"Connection: close\r\n\r\n", ends=False)
    assert 400 <= status < 500
    assert list(json.loads(content)) == ["detail"]


def test_a_body_in_many_parts_is_read(port):
    parts = b"".join(b"1;" + b"x" * 20 + b"\r\n%c\r\n" % byte for byte in b" " * 2000 + LOG)
    ((status, answer),) = exchange(
        port, CHUNKED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n") + parts + b"0\r\nX: a\r\n\r\n", ends=False
    )
    assert (status, json.loads(answer)["games"]) == (200, 3)


def test_the_end_of_a_long_body_is_not_a_head(port, database):
    body = b" " * (300_000 - len(LOG)) + LOG
    head = post_of(body) + b"Connection: close\r\n\r\n"
    ((status, answer),) = exchange(port, head, body[:150_000], body[150_000:], ends=False)
    assert (status, json.loads(answer)["games"]) == (200, 3)
    assert len(read_results(database)) == 3

"""HTTP protocol with limits that uvicorn lacks: size of the head, pipelined requests, time, and connections.

These prevent a client from exhausting memory by an endless header or pipelined requests, and from occupying all
connections by incomplete requests. A refused request is not executed; complete requests before it are answered first.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections import Counter
from typing import Any

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from punish_fast.web.limits import network_of

MOST_HEAD = 32 * 1024
MOST_SECONDS = 60.0
# Bytes parsed at a time; only requests within the same piece can wait for an earlier one.
_PIECE = 1024


class BoundedProtocol(HttpToolsProtocol):
    """Connection with limits."""

    most_connections: int | None = None  # maximum number of open connections; None if unlimited
    _head = 0
    _n_parts = 0
    _unparsed: bytearray
    _is_refused = False
    _refusal = b""
    _timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None
    _host = ""

    def connection_made(self, transport: Any) -> None:
        """Start the timer of the first request, and close another connection if there are too many."""
        super().connection_made(transport)
        self.flow = _Flow(self)
        self._unparsed = bytearray()
        self._host = network_of(self.client[0]) if self.client else ""
        # asyncio sets this option only for sockets with protocol 6, but these have 0. Otherwise the body of a response
        # would wait 40 ms until the client acknowledges its head.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Pause writing as soon as the system buffer is full, so that at most one response is in memory.
        transport.set_write_buffer_limits(0)
        self._used = self.loop.time()
        self._set_timer()
        if self.most_connections is not None:
            self._make_room(self.most_connections)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel timers and drop waiting requests."""
        self._unset_timer()
        self.resume_writing()
        super().connection_lost(exc)
        self._drop()

    @property
    def is_full(self) -> bool:
        """True while requests wait for an earlier one; reading is then paused."""
        return bool(self.pipeline or self._unparsed)

    def data_received(self, data: bytes) -> None:
        """Parse received bytes unless the connection is refused."""
        if not self._is_refused:
            self._unparsed += data
            self._parse()

    def _parse(self) -> None:
        """Parse received bytes until a request has to wait for an earlier one."""
        while self._unparsed and not self.pipeline:
            piece = bytes(self._unparsed[:_PIECE])
            del self._unparsed[:_PIECE]
            if self._timer is None:
                self._set_timer()
            before = self._n_parts
            super().data_received(piece)
            # Count the bytes of heads and of chunk framing, but not of bodies.
            if self._n_parts == before:
                self._head += len(piece)
                if self._head > MOST_HEAD:
                    self._refuse("431 Request Header Fields Too Large", f"head: allowed are {MOST_HEAD:,} bytes")
        if self.is_full:
            self.flow.pause_reading()

    def on_headers_complete(self) -> None:
        """Start the application for the request."""
        self._count_part()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Pass a part of a body to the application."""
        self._count_part()
        super().on_body(body)

    def _count_part(self) -> None:
        self._head = 0
        self._n_parts += 1

    def on_message_complete(self) -> None:
        """Stop the timer until the next request begins."""
        self._unset_timer()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Parse the next request, or send the refusal that waited for this response."""
        self._used = self.loop.time()
        super().on_response_complete()
        if self._is_refused:
            self._end()
        elif not self.transport.is_closing():
            self._parse()
            self.flow.resume_reading()

    def pause_writing(self) -> None:
        """Start a timer that closes the connection if the client does not read the response."""
        super().pause_writing()
        self._used = self.loop.time()
        self._write_timer = self.loop.call_later(MOST_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel the timer of `pause_writing`."""
        super().resume_writing()
        if self._write_timer is not None:
            self._write_timer.cancel()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - it names no cause
        """Refuse malformed HTTP."""
        self._refuse("400 Bad Request", "request: malformed HTTP")

    @property
    def is_answering(self) -> bool:
        """True while a complete request has no complete response."""
        is_open = self.cycle is not None and not self.cycle.response_complete
        return is_open and (bool(self.pipeline) or not self.cycle.more_body)

    @property
    def _is_waiting(self) -> bool:
        """True while the server waits for the client to send or read."""
        return self.flow.write_paused or not self.is_answering

    def _make_room(self, most: int) -> None:
        """If there are too many connections, abort the longest-waiting one of the address that holds most."""
        others: Any = self.connections
        # A closing connection stays open until the client has read the last response.
        is_open = [c for c in others if not c.transport.is_closing() or c.transport.get_write_buffer_size()]
        if len(is_open) > most:
            held = Counter(c._host for c in is_open)
            max(is_open, key=lambda c: (held[c._host], c._is_waiting, -c._used)).transport.abort()

    def _set_timer(self) -> None:
        self._timer = self.loop.call_later(MOST_SECONDS, self._give_up)

    def _unset_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._refuse("408 Request Timeout", f"request: allowed are {MOST_SECONDS:g} seconds")

    def _refuse(self, status: str, detail: str) -> None:
        """Refuse the current request after the previous ones are answered."""
        if self._is_refused:
            return
        body = json.dumps({"detail": detail})
        head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        self._is_refused, self._refusal = True, f"{head}connection: close\r\n\r\n{body}".encode()
        self._unset_timer()
        if not self.is_answering:
            self._end()
        self._drop()

    def _drop(self) -> None:
        """Drop waiting requests and unparsed bytes."""
        self.pipeline.clear()
        self._unparsed = bytearray()

    def _end(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(self._refusal)
            self.transport.close()


class _Flow(FlowControl):
    """Flow control that does not resume reading while the connection is full."""

    def __init__(self, connection: BoundedProtocol) -> None:
        super().__init__(connection.transport)
        self._connection = connection

    def resume_reading(self) -> None:
        if not self._connection.is_full:
            super().resume_reading()

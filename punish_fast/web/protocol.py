"""HTTP with limits that uvicorn does not have: size of a head, pipelined requests, seconds, number of connections.

One client could otherwise fill the memory with an endless header or pipelined requests, and hold all connections by
requests that never end. A request that is refused here is not executed. Complete requests before it are answered first.
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
# Bytes that are parsed at a time. The requests in them are the only ones that wait for an earlier request.
_PIECE = 1024


class BoundedProtocol(HttpToolsProtocol):
    """One connection.

    Attributes:
        most_connections: Maximum number of open connections, or None.
    """

    most_connections: int | None = None
    _head = 0
    _n_parts = 0
    _unparsed: bytearray
    _is_refused = False
    _refusal = b""
    _timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None
    _host = ""

    def connection_made(self, transport: Any) -> None:
        """Wait for a request."""
        super().connection_made(transport)
        self.flow = _Flow(self)
        self._unparsed = bytearray()
        self._host = network_of(self.client[0]) if self.client else ""
        # asyncio does so only for sockets of protocol 6, but ours have 0. The body of an answer would wait 40 ms until
        # the client acknowledges its head.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Writing pauses as soon as the system takes no more, so at most one answer is in memory.
        transport.set_write_buffer_limits(0)
        self._used = self.loop.time()
        self._set_timer()
        if self.most_connections is not None:
            self._make_room(self.most_connections)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._unset_timer()
        self.resume_writing()
        super().connection_lost(exc)
        self._drop()

    @property
    def is_full(self) -> bool:
        """True while requests wait for an earlier request, so that no more are read."""
        return bool(self.pipeline or self._unparsed)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request, or of some."""
        if not self._is_refused:
            self._unparsed += data
            self._parse()

    def _parse(self) -> None:
        """Parse the received bytes until a request has to wait for an earlier one."""
        while self._unparsed and not self.pipeline:
            piece = bytes(self._unparsed[:_PIECE])
            del self._unparsed[:_PIECE]
            if self._timer is None:
                self._set_timer()
            before = self._n_parts
            super().data_received(piece)
            # Heads, and lines around the parts of a body and after it, but no body.
            if self._n_parts == before:
                self._head += len(piece)
                if self._head > MOST_HEAD:
                    self._refuse("431 Request Header Fields Too Large", f"head: allowed are {MOST_HEAD:,} bytes")
        if self.is_full:
            self.flow.pause_reading()

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        self._count_part()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of a body."""
        self._count_part()
        super().on_body(body)

    def _count_part(self) -> None:
        self._head = 0
        self._n_parts += 1

    def on_message_complete(self) -> None:
        """Wait for the next request, which may take its time to begin."""
        self._unset_timer()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Answer the next request, or send the refusal that waited for this response."""
        self._used = self.loop.time()
        super().on_response_complete()
        if self._is_refused:
            self._end()
        elif not self.transport.is_closing():
            self._parse()
            self.flow.resume_reading()

    def pause_writing(self) -> None:
        """Wait until the client reads its answer."""
        super().pause_writing()
        self._used = self.loop.time()
        self._write_timer = self.loop.call_later(MOST_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Write on."""
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
        """True while the client sends and reads nothing."""
        return self.flow.write_paused or not self.is_answering

    def _make_room(self, most: int) -> None:
        """Close a connection of the address with the most of them: the one that has waited longest."""
        others: Any = self.connections
        # A connection that is closing stays open until its client has read the last answer.
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
        """Refuse the request that is arriving, once those before it are answered."""
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
        """Drop the requests that wait, and bytes that are not parsed yet."""
        self.pipeline.clear()
        self._unparsed = bytearray()

    def _end(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(self._refusal)
            self.transport.close()


class _Flow(FlowControl):
    """Flow of a connection that stays paused while the connection is full."""

    def __init__(self, connection: BoundedProtocol) -> None:
        super().__init__(connection.transport)
        self._connection = connection

    def resume_reading(self) -> None:
        """Read more, unless requests wait already."""
        if not self._connection.is_full:
            super().resume_reading()

"""HTTP protocol with limits on time and connections, which uvicorn lacks.

They prevent clients from occupying all connections with incomplete requests or unread responses. uvicorn itself limits
the size of incomplete heads, and reads pipelined requests only after earlier ones are answered.
"""

import asyncio
import socket
from collections import Counter
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from punish_fast.web.limits import network_of

MOST_HEAD = 32 * 1024
MOST_SECONDS = 60.0


class BoundedProtocol(H11Protocol):
    """Connection with limits."""

    most_connections: int | None = None  # maximum number of open connections; None if unlimited
    _timer: asyncio.TimerHandle | None = None
    _host = ""

    def connection_made(self, transport: Any) -> None:
        """Start the timer of the first request, and abort a connection if there are too many."""
        super().connection_made(transport)
        self._host = network_of(self.client[0]) if self.client else ""
        # asyncio sets this option only for sockets with protocol 6, but these have 0. Otherwise the body of a response
        # would wait 40 ms until the client acknowledges its head.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Pause writing as soon as the system buffer is full, so that at most one response is in memory.
        transport.set_write_buffer_limits(0)
        self._used = self.loop.time()
        self._watch()
        if self.most_connections is not None:
            self._make_room(self.most_connections)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        super().connection_lost(exc)
        self._unset_timer()

    def data_received(self, data: bytes) -> None:
        """Parse received bytes; the timer runs until a request is complete."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Handle the next request."""
        self._used = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Start the timer: the client does not read the response."""
        super().pause_writing()
        self._used = self.loop.time()
        self._watch()

    def resume_writing(self) -> None:
        """Stop the timer of `pause_writing`."""
        super().resume_writing()
        self._watch()

    def send_400_response(self, msg: str) -> None:
        """Refuse malformed HTTP, unless another response has begun."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        if self.cycle is not None:
            # The application must not answer a request whose body is malformed.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        super().send_400_response(msg)

    @property
    def is_answering(self) -> bool:
        """True while a complete request has no complete response."""
        return self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body

    @property
    def _is_waiting(self) -> bool:
        """True while the server waits for the client to send or read."""
        return self.flow.write_paused or not self.is_answering

    def _watch(self) -> None:
        """Run the timer while the server waits for the client."""
        if not self._is_waiting:
            self._unset_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(MOST_SECONDS, self.transport.abort)

    def _unset_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _make_room(self, most: int) -> None:
        """If there are too many connections, abort the longest-waiting one from the address with the most."""
        others: Any = self.connections
        # A closing connection stays open until its write buffer is empty, which can take long if the client reads
        # slowly.
        is_open = [c for c in others if not c.transport.is_closing() or c.transport.get_write_buffer_size()]
        if len(is_open) > most:
            held = Counter(c._host for c in is_open)
            max(is_open, key=lambda c: (held[c._host], c._is_waiting, -c._used)).transport.abort()

"""HTTP protocol with limits on waiting time and number of connections, which uvicorn lacks.

The limits prevent clients from occupying all connections with incomplete requests or unread responses. uvicorn itself
limits the size of incomplete heads, and reads a pipelined request only after answering the previous request.
"""

import asyncio
import json
import socket
from collections import Counter
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from punish_fast.web.limits import network_of

MOST_HEAD = 32 * 1024
MOST_SECONDS = 60.0


class BoundedProtocol(H11Protocol):
    """HTTP connection with a timer for slow clients and a limit on the number of connections."""

    most_connections: int | None = None  # maximum number of open connections (None if unlimited)
    _timer: asyncio.TimerHandle | None = None
    _host = ""

    def connection_made(self, transport: Any) -> None:
        """Start the timer for the first request. If too many connections are open, abort one."""
        super().connection_made(transport)
        self._host = network_of(self.client[0]) if self.client else ""
        # Without TCP_NODELAY, a response body waits up to 40 ms, until the client has acknowledged the head.
        # asyncio sets this option only for sockets created with protocol 6 (TCP), and the protocol here is 0.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Pause writing when the system buffer is full, to keep at most one response in memory.
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
        """Parse received bytes. Stop the timer when a request is complete."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Record the time, and handle the next request."""
        self._used = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Start the timer, because the client is not reading the response."""
        super().pause_writing()
        self._used = self.loop.time()
        self._watch()

    def resume_writing(self) -> None:
        """Stop the timer, unless the server waits for the client to send data."""
        super().resume_writing()
        self._watch()

    def send_400_response(self, msg: str) -> None:
        """Answer malformed HTTP with status 400 and a JSON body. Abort the connection if a response has begun."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        if self.cycle is not None:
            # The application must not answer a request whose body is malformed.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        content = json.dumps({"detail": f"{msg} A head can have at most {MOST_HEAD:,} bytes."}).encode()
        headers = [("content-type", "application/json"), ("content-length", str(len(content))), ("connection", "close")]
        answer = h11.Response(status_code=400, headers=headers, reason=STATUS_PHRASES[400])
        for event in (answer, h11.Data(data=content), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    @property
    def _is_waiting(self) -> bool:
        """True if the server waits for the client to send or read data."""
        # After a complete request, the client waits for the server until the response is complete.
        cycle: Any = self.cycle
        return self.flow.write_paused or cycle is None or cycle.response_complete or cycle.more_body

    def _watch(self) -> None:
        """Start the timer if the server waits for the client, and stop the timer otherwise."""
        if not self._is_waiting:
            self._unset_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(MOST_SECONDS, self.transport.abort)

    def _unset_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _make_room(self, most: int) -> None:
        """If more than ``most`` connections are open, abort one from the address with the most connections.

        Prefer idle connections to active ones.
        """
        others: Any = self.connections
        # A closing connection stays open until its write buffer is empty. If the client reads slowly, this takes long.
        is_open = [c for c in others if not c.transport.is_closing() or c.transport.get_write_buffer_size()]
        if len(is_open) > most:
            held = Counter(c._host for c in is_open)
            max(is_open, key=lambda c: (held[c._host], c._is_waiting, -c._used)).transport.abort()

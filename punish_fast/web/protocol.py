"""HTTP with two limits that uvicorn does not have: how long the head of a request may be, and how long it may take.

Without them, whoever reaches the server could fill its memory with one endless header, or its connections with requests
that never end.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD = 32 * 1024
MOST_SECONDS = 60.0


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    _head = 0
    _n_heads = 0
    _is_in_head = True
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Wait for a request."""
        super().connection_made(transport)
        self._set_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._unset_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request, or of some."""
        if self._timer is None:
            self._set_timer()
        before = self._n_heads
        super().data_received(data)
        if self._is_in_head and self._n_heads == before:
            self._head += len(data)
            if self._head > MOST_HEAD:
                self._refuse("431 Request Header Fields Too Large", f"head: allowed are {MOST_HEAD:,} bytes")

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        self._is_in_head, self._head = False, 0
        self._n_heads += 1
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Wait for the next request, which may take its time to begin."""
        self._is_in_head = True
        self._unset_timer()
        super().on_message_complete()

    def _set_timer(self) -> None:
        self._timer = self.loop.call_later(MOST_SECONDS, self._give_up)

    def _unset_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._refuse("408 Request Timeout", f"request: allowed are {MOST_SECONDS:g} seconds")

    def _refuse(self, status: str, detail: str) -> None:
        if self.transport.is_closing():
            return
        body = json.dumps({"detail": detail})
        head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        self.transport.write(f"{head}connection: close\r\n\r\n{body}".encode())
        self.transport.close()

"""The server: one process, one event loop."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from punish_fast.web.protocol import BoundedProtocol

_BACKLOG = 2048


class AddressError(ValueError):
    """An address that cannot be listened on; the message says why."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 is any free one.

    Raises:
        AddressError: the address is no address of this machine, taken, or not allowed.
    """
    if not host:
        raise AddressError("host: is empty, allowed are addresses and names of this machine; 0.0.0.0 is all of them")
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError) as error:
        number = getattr(error, "errno", None)
        if number in (errno.EADDRINUSE, errno.EACCES):
            raise AddressError(f"port: {port} of {host} cannot be listened on ({os.strerror(number)})") from None
        reason = getattr(error, "strerror", None) or error
        raise AddressError(f"host: {host} port {port} cannot be listened on ({reason})") from None


def address_of(listening: socket.socket) -> str:
    """The address of a socket as people type it."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Server(uvicorn.Server):
    """Says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()


def serve(app: FastAPI, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Answer requests until the process is told to end.

    Args:
        app: The application.
        listening: From `listen`.
        ready: Called when requests are answered.
    """
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        http=BoundedProtocol,
        ws="none",
        # People think.
        timeout_keep_alive=60,
        timeout_graceful_shutdown=5,
    )
    _Server(config, ready).run(sockets=[listening])

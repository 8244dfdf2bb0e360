"""HTTP server with one process and one event loop."""

import errno
import ipaddress
import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

import uvicorn
from fastapi import FastAPI

from punish_fast.runtime.errors import PunishFastError
from punish_fast.web.protocol import MOST_HEAD, BoundedProtocol

# Maximum number of pending connections, and maximum number of connections accepted per iteration of the event loop.
_BACKLOG, _ACCEPTED = 2048, 64
# Number of open files reserved for other purposes, requested limit on open files, and maximum limit on old macOS.
_OTHER_FILES, _WANTED_FILES, _FILES_ON_MACOS = 100 + 2 * _ACCEPTED, 16384, 10240
# Wildcard addresses, and the loopback address under which a browser reaches each of them.
_ALL = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}


class AddressError(PunishFastError, ValueError):
    """Raised when an address is invalid or the server cannot listen on it. The message states the reason."""


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raise `AddressError` on failure.

    Port 0 selects a free port. If the system supports dual-stack sockets, host ``::`` includes all IPv4 addresses.
    """
    if not host:
        raise AddressError("host: is empty; use an address or name of this machine, or 0.0.0.0 for all of them")
    try:
        bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
        family, *_, address = socket.getaddrinfo(bare, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        is_dual = address[0] == "::" and socket.has_dualstack_ipv6()
        return socket.create_server(address, family=family, backlog=_BACKLOG, dualstack_ipv6=is_dual)
    except (OSError, UnicodeError) as error:
        number = getattr(error, "errno", None)
        if number in (errno.EADDRINUSE, errno.EACCES):
            raise AddressError(f"port: cannot listen on port {port} of {host} ({os.strerror(number)})") from None
        reason = getattr(error, "strerror", None) or error
        raise AddressError(f"host: cannot listen on {host}, port {port} ({reason})") from None


def address_of(listening: socket.socket) -> str:
    """Return the URL of a listening socket for a browser on the same machine."""
    host, port = listening.getsockname()[:2]
    return f"http://{_ALL.get(host) or (f'[{host}]' if ':' in host else host)}:{port}"


def network_address_of(listening: socket.socket) -> str | None:
    """Return the URL of a listening socket for other machines, or None if it does not listen on all addresses."""
    host, port = listening.getsockname()[:2]
    if host not in _ALL:
        return None
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        # Connecting a UDP socket selects a local address, but sends no packet.
        probe.connect(("192.0.2.1", 9))
        return f"http://{probe.getsockname()[0]}:{port}"
    return None


def proxy_of(text: str) -> list[str]:
    """Parse an address or network for ``--proxy``. For IPv4, also return the IPv4-mapped IPv6 network."""
    try:
        network = ipaddress.ip_network(text)
    except ValueError as error:
        raise AddressError(f"proxy: {error}; use an address or a network such as 10.0.0.0/8") from None
    mapped = [f"::ffff:{network.network_address}/{96 + network.prefixlen}"] if network.version == 4 else []
    return [str(network), *mapped]


def _connections() -> int | None:
    """Raise the limit on open files if possible. Return the maximum number of connections (None on Windows)."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _WANTED_FILES if hard == resource.RLIM_INFINITY else hard
    for wanted in (min(most, each) for each in (_WANTED_FILES, _FILES_ON_MACOS)):
        if soft != resource.RLIM_INFINITY and soft < wanted:
            # The system can refuse limits below the maximum that it reports.
            with suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
                soft = wanted
    return _WANTED_FILES if soft == resource.RLIM_INFINITY else max(soft - _OTHER_FILES, 1)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None], stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready, self._stop = ready, stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            for listening in sockets or ():
                listening.listen(_BACKLOG)
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stop()
        await super().shutdown(sockets)


def serve(app: FastAPI, listening: socket.socket, ready: Callable[[], None], proxies: Sequence[str] = ()) -> None:
    """Run the server until the process is interrupted or terminated.

    Args:
        ready: Called without arguments when the server accepts connections.
        proxies: Addresses and networks, as returned by `proxy_of`, whose ``X-Forwarded-For`` headers are trusted.
    """
    BoundedProtocol.most_connections = _connections()
    # Shorten the switch interval, so that computing threads release the interpreter lock sooner.
    sys.setswitchinterval(0.001)
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        http=BoundedProtocol,
        h11_max_incomplete_event_size=MOST_HEAD,
        # uvloop accepts only one connection per iteration, which slows down the page on a busy server.
        loop="asyncio",
        backlog=_ACCEPTED,
        ws="none",
        # Keep connections open while users think.
        timeout_keep_alive=60,
        timeout_graceful_shutdown=5,
    )
    _Server(config, ready, app.state.stop).run(sockets=[listening])

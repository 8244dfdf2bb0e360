"""Limits of a server, and metering of requests per client.

A client is a session within an address. A session cookie identifies browsers, and the connection identifies programs
without cookies. For limits on games, all programs without cookies at an address count as one client. All clients at an
address share the limits of the address.
"""

import ipaddress
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from fastapi import Depends, HTTPException, Request
from starlette.types import Scope

# Rate limits of an address, relative to a client.
_ADDRESS_FACTOR = 10
# Maximum number of clients and addresses whose buckets are stored.
_MOST_REMEMBERED = 4096
# A client may hold 1/20 of all tables or 10 tables, whichever is more. An address may hold half of all tables.
_CLIENT_SHARE, _LEAST_OF_CLIENT = 20, 10
_CURE = "the server needs --proxy"

# Cost of every request, in tokens. API routes charge more. Files of the page cost nothing else.
LEAST_COST = 0.05
COOKIE = "punish-fast"
# The port after an address, and the brackets around an IPv6 address.
_PORT = re.compile(r":\d+$|^\[|\](:\d+)?$")
_SESSION = re.compile(rf"(?:^|;)\s*{COOKIE}=([A-Za-z0-9_-]{{22,64}})\s*(?:;|$)")


@dataclass(frozen=True)
class Limits:
    """Limits of a server on games and requests."""

    tables: int = 2000  # maximum number of concurrent games
    body: int = 16 * 1024  # maximum size of a request body, in bytes
    log: int = 16 * 1024 * 1024  # maximum size of a posted log, in bytes
    rate: float | None = 200.0  # maximum average cost of a client's requests per second (None if unlimited)
    burst: int = 400  # capacity of a client's bucket: maximum total cost of requests in a burst

    @property
    def client_tables(self) -> int:
        """Maximum number of concurrent games per client."""
        return min(self.tables, max(_LEAST_OF_CLIENT, self.tables // _CLIENT_SHARE))

    @property
    def address_tables(self) -> int:
        """Maximum number of concurrent games per address."""
        return max(self.client_tables, self.tables // 2)


class Client(NamedTuple):
    """Sender of a request."""

    address: str
    session: str  # id of the session in the cookie (empty if the request has no cookie)
    connection: str = ""  # port of the connection (empty if the request has a cookie)


# Client of the current request. None outside requests.
sender: ContextVar[Client | None] = ContextVar("sender", default=None)


def client_of(scope: Scope, cookies: str) -> tuple[Client, str | None]:
    """Return the client of a request, and a new session id (None if the request's cookie contains a session id)."""
    host, port = scope.get("client") or ("", 0)
    found = _SESSION.search(cookies)
    if found is not None:
        return Client(network_of(host), found[1]), None
    session = secrets.token_urlsafe(16)
    # Proxies do not forward ports, so connections behind a proxy share the limits of their address.
    return Client(network_of(host), "", str(port) if port else session), session


@lru_cache(maxsize=_MOST_REMEMBERED)
def network_of(host: str) -> str:
    """Return the IPv4 address or IPv6 network of a host. Limits apply to this address or network.

    Remove a port, because some proxies append the port. Return other hosts unchanged.
    """
    for text in (host, _PORT.sub("", host)):
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            continue
        if isinstance(address, ipaddress.IPv6Address):
            if address.ipv4_mapped is None:
                # Providers typically assign a /64 network to a customer.
                return str(ipaddress.ip_network((int(address), 64), strict=False))
            return str(address.ipv4_mapped)
        return text
    return host


class Meter:
    """Token buckets that limit the cost of requests per client and per address."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = limits.rate, limits.burst, clock
        # Tokens in each bucket and time of the last change, in the order of these times.
        self._left: OrderedDict[str | Client, tuple[float, float]] = OrderedDict()

    def charge(self, client: Client, cost: float) -> None:
        """Charge a request to a client and its address. Raise HTTPException 429 if either has too few tokens."""
        if self._rate is None:
            return
        now, levels = self._clock(), {}
        for key, factor, words in (
            (client.address, _ADDRESS_FACTOR, f" from {client.address}; wait a second (behind a proxy, {_CURE})"),
            (client, 1, "; wait a second"),
        ):
            burst = float(factor * self._burst)
            left, then = self._left.get(key, (burst, 0.0))
            levels[key] = min(burst, left + (now - then) * factor * self._rate)
            # A full bucket pays for any request, even if the cost exceeds the capacity.
            if levels[key] < min(cost, burst):
                raise HTTPException(429, f"requests: too many{words}", {"Retry-After": "1"})
        for key, level in levels.items():
            self._left[key] = max(level - cost, 0.0), now
            self._left.move_to_end(key)
        while len(self._left) > _MOST_REMEMBERED:
            self._left.popitem(last=False)


def costs(cost: float) -> Any:
    """Return a FastAPI dependency that charges a cost in addition to `LEAST_COST`."""

    async def charge(request: Request) -> None:
        request.state.charge(cost)

    return Depends(charge)

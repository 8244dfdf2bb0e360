"""Limits of a server, and requests by client: a session within an address.

A browser keeps a session cookie. A program without cookies is identified by its connection. Clients that take many
sessions reach the limit of their address, and do not affect other addresses.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from fastapi import Depends, HTTPException, Request
from starlette.types import Scope

# Ratio of the limits of an address and of a client.
_ADDRESS_FACTOR = 10
# Clients and addresses whose recent requests are remembered.
_MOST_REMEMBERED = 4096
# A client may hold 1/20 of all tables, but at least 10; an address may hold half of them.
_CLIENT_SHARE, _LEAST_OF_CLIENT = 20, 10
# The part of an IPv6 address that a provider gives to one customer.
_IPV6_PREFIX = 64

# The cost of any request. Routes add theirs, so the files of the page cost little more than nothing.
LEAST_COST = 0.05
COOKIE = "punish-fast"
# A port after an address, and the brackets of an address of IPv6.
_PORT = re.compile(r":\d+$|^\[|\](:\d+)?$")
_SESSION = re.compile(rf"(?:^|;)\s*{COOKIE}=([A-Za-z0-9_-]{{22,64}})\s*(?:;|$)")


@dataclass(frozen=True)
class Limits:
    """Limits of a server."""

    tables: int = 2000  # maximum number of games at the same time
    body: int = 16 * 1024  # maximum size of a request, in bytes
    log: int = 16 * 1024 * 1024  # maximum size of a log of games that is posted, in bytes
    rate: float | None = 200.0  # cost of the requests of one client per second, on average; None if unlimited
    burst: int = 400  # maximum cost of the requests of one client at any moment

    @property
    def client_tables(self) -> int:
        """Maximum number of games of one client."""
        return min(self.tables, max(_LEAST_OF_CLIENT, self.tables // _CLIENT_SHARE))

    @property
    def address_tables(self) -> int:
        """Maximum number of games of one address."""
        return max(self.client_tables, self.tables // 2)


class Client(NamedTuple):
    """Sender of a request: an address, and the session or else the connection within it."""

    address: str
    session: str


# The client whose request is being answered. Work of the server itself has no client.
sender: ContextVar[Client | None] = ContextVar("sender", default=None)


def client_of(scope: Scope, cookies: str) -> tuple[Client, str | None]:
    """Return the client of a request, and a new session if it has none."""
    host, port = scope.get("client") or ("", 0)
    found = _SESSION.search(cookies)
    if found is not None:
        return Client(network_of(host), found[1]), None
    session = secrets.token_urlsafe(16)
    # Proxies do not forward ports, so connections behind them have only the limits of their address.
    return Client(network_of(host), str(port) if port else session), session


@lru_cache(maxsize=_MOST_REMEMBERED)
def network_of(host: str) -> str:
    """Return the address or network that limits apply to. Some proxies add a port to an address."""
    for text in (host, _PORT.sub("", host)):
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            continue
        if isinstance(address, ipaddress.IPv6Address):
            if address.ipv4_mapped is None:
                return str(ipaddress.ip_network((int(address), _IPV6_PREFIX), strict=False))
            return str(address.ipv4_mapped)
        return text
    return host


class Meter:
    """Counts the cost of requests by client and by address."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._is_open = limits.rate is None
        rate, burst = limits.rate or 0.0, float(limits.burst)
        self._clients = _Buckets(rate, burst, clock)
        self._addresses = _Buckets(_ADDRESS_FACTOR * rate, _ADDRESS_FACTOR * burst, clock)

    def charge(self, client: Client, cost: float) -> None:
        """Count the cost of a request."""
        if self._is_open:
            return
        if not self._addresses.has(client.address, cost):
            _refuse(f"too many from {client.address}, wait a second; behind a proxy, start the server with --proxy")
        if not self._clients.has(client, cost):
            _refuse("too many, wait a second")
        self._addresses.take(client.address, cost)
        self._clients.take(client, cost)


def _refuse(words: str) -> None:
    raise HTTPException(429, f"requests: {words}", {"Retry-After": "1"})


class _Buckets:
    """Buckets of ``burst`` that fill at ``rate``, by key."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float]) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._left: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def _level(self, key: Hashable) -> float:
        left, then = self._left.get(key, (self._burst, 0.0))
        return min(self._burst, left + (self._clock() - then) * self._rate)

    def has(self, key: Hashable, cost: float) -> bool:
        """Return True if enough is left; a full bucket is enough for any cost."""
        return self._level(key) >= min(cost, self._burst)

    def take(self, key: Hashable, cost: float) -> None:
        """Take out a cost."""
        self._left[key] = max(self._level(key) - cost, 0.0), self._clock()
        self._left.move_to_end(key)
        if len(self._left) > _MOST_REMEMBERED:
            self._left.popitem(last=False)


def costs(cost: float) -> Any:
    """Return a dependency of routes that charges a cost in addition to `LEAST_COST`."""

    async def charge(request: Request) -> None:
        request.state.charge(cost)

    return Depends(charge)

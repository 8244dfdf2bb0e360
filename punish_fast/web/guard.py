"""The guard at the door: who may ask, how much, how often, and what a browser may do with the answer.

A page of another site that a browser shows can send requests to a server on the same machine. Every request must
therefore name this server as its host, which a rebound DNS name does not, and come from this server's own page or from
no page at all, which a browser says in ``Origin`` and ``Sec-Fetch-Site``. Answers allow no other origin.
"""

from __future__ import annotations

import ipaddress
import json
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LOGGER = logging.getLogger("punish_fast.web")

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = tuple(
    (name.encode(), value.encode())
    for name, value in (
        ("content-security-policy", CONTENT_SECURITY_POLICY),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
    )
)
_READS = ("GET", "HEAD")
_METHODS = (*_READS, "POST", "DELETE")
# Bytes of all headers.
_MOST_HEAD = 32 * 1024
# What takes much longer counts as so many requests, by a part of its path.
_COSTS = {"/practice": 20, "/plots/": 20, "/review": 5, "/why/": 5, "/coach": 5}
# Addresses whose recent requests are remembered.
_MOST_ADDRESSES = 4096


@dataclass(frozen=True)
class Limits:
    """What a server bears.

    Attributes:
        tables: Games at once.
        body: Bytes of a request.
        log: Bytes of a log of games that is posted.
        rate: Requests in a second from one address, on average; None for any number.
        burst: Requests at once from one address.
    """

    tables: int = 2000
    body: int = 16 * 1024
    log: int = 16 * 1024 * 1024
    rate: float | None = 200.0
    burst: int = 400


class Guard:
    """Middleware around the application."""

    def __init__(
        self, app: ASGIApp, hosts: frozenset[str], limits: Limits, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Remember what is allowed.

        Args:
            app: The application.
            hosts: Names that this server is called by, besides addresses and ``localhost``.
            limits: What it bears.
            clock: Seconds.
        """
        self._app, self._hosts, self._limits = app, hosts, limits
        self._meter = _Meter(limits, clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        begun = False

        async def sent(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
                if not any(name.lower() == b"cache-control" for name, _ in message["headers"]):
                    message["headers"].append((b"cache-control", b"no-store"))
            await send(message)

        try:
            headers = _headers_of(scope)
            self._check(scope, headers)
            await self._app(scope, self._limited(scope, headers, receive), sent)
        except HTTPException as error:
            await _refuse(error.status_code, error.detail, sent)
        except Exception:
            _LOGGER.exception("%s %s failed", scope["method"], scope["path"])
            if not begun:
                await _refuse(500, "the server failed at this; its log says more", sent)

    def _check(self, scope: Scope, headers: dict[str, str]) -> None:
        """Check who asks, and for what.

        Raises:
            HTTPException: this is not allowed.
        """
        host, method = headers.get("host", ""), scope["method"]
        if not _is_ours(host, self._hosts):
            raise HTTPException(421, "host: this server is not called so; allowed are its address and localhost")
        if method not in _METHODS:
            raise HTTPException(405, f"method: allowed are {', '.join(_METHODS)}")
        origin = headers.get("origin")
        if origin is not None and not _is_same(origin, host):
            raise HTTPException(403, "origin: requests from other pages are not answered")
        site = headers.get("sec-fetch-site", "none")
        if site not in ("same-origin", "none") and not _opens_page(scope, headers):
            raise HTTPException(403, "sec-fetch-site: requests from other pages are not answered")
        if method == "POST" and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise HTTPException(415, "content-type: allowed is application/json")
        client = scope.get("client")
        cost = next((cost for part, cost in _COSTS.items() if part in scope["path"]), 1)
        if not self._meter.admits(client[0] if client else "", cost):
            raise HTTPException(429, "too many requests; wait a second")

    def _limited(self, scope: Scope, headers: dict[str, str], receive: Receive) -> Receive:
        """A body that may not be too long.

        Raises:
            HTTPException: it says that it is.
        """
        most = self._limits.log if scope["path"] == "/games" else self._limits.body
        refused = HTTPException(413, f"body: allowed are {most:,} bytes")
        announced = headers.get("content-length", "0")
        if not announced.isdecimal() or len(announced) > 18 or int(announced) > most:
            raise refused
        received = 0

        async def limited() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > most:
                raise refused
            return message

        return limited


class _Meter:
    """Counts requests by address: a bucket of ``burst`` that fills at ``rate``."""

    def __init__(self, limits: Limits, clock: Callable[[], float]) -> None:
        self._limits, self._clock = limits, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def admits(self, address: str, cost: int) -> bool:
        """Whether there is enough left for a request; if so, it is taken."""
        rate, burst = self._limits.rate, self._limits.burst
        if rate is None:
            return True
        now, cost = self._clock(), min(cost, burst)
        left, then = self._buckets.pop(address, (float(burst), now))
        left = min(burst, left + (now - then) * rate)
        self._buckets[address] = (left - cost if left >= cost else left), now
        if len(self._buckets) > _MOST_ADDRESSES:
            self._buckets.popitem(last=False)
        return left >= cost


def _headers_of(scope: Scope) -> dict[str, str]:
    """The headers of a request.

    Raises:
        HTTPException: they are too long, or one of those that are checked stands twice.
    """
    headers: dict[str, str] = {}
    if sum(len(name) + len(value) for name, value in scope["headers"]) > _MOST_HEAD:
        raise HTTPException(431, f"head: allowed are {_MOST_HEAD:,} bytes")
    for name, value in scope["headers"]:
        key = name.decode("latin-1").lower()
        if key in headers and key in ("host", "origin", "content-type", "content-length", "authorization"):
            raise HTTPException(400, f"{key}: is given twice")
        headers[key] = value.decode("latin-1")
    return headers


@lru_cache(maxsize=1024)
def _is_ours(host: str, hosts: frozenset[str]) -> bool:
    """Whether a header ``Host`` names this server, at any port: an address, ``localhost`` or one of its names."""
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        return False
    if not name or any(sign in host for sign in "/?#@\\ "):
        return False
    if name == "localhost" or name in hosts:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_same(origin: str, host: str) -> bool:
    """Whether a header ``Origin`` is this server's own."""
    return origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}")


def _opens_page(scope: Scope, headers: dict[str, str]) -> bool:
    """Whether a person follows a link to the page, which may stand on any other page."""
    mode, where = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
    return scope["method"] in _READS and scope["path"] == "/" and (mode, where) == ("navigate", "document")


async def _refuse(status: int, detail: str, send: Send) -> None:
    body = json.dumps({"detail": detail}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    # What is left of the body is not read.
    headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

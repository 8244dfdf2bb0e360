"""Request checks, and response headers that restrict browsers.

Any web page open in a browser can send requests to a server on the same machine. Therefore, the header ``Host`` of
every request must contain an IP address or a name of this server, to prevent DNS rebinding. The headers ``Origin`` and
``Sec-Fetch-Site``, if present, must show that the request does not come from a page of another site. Links to the page
are allowed. Responses do not allow other origins.

Behind a proxy, browsers use another name, scheme and port. The server accepts names given by ``--allow-host`` with any
scheme and port.
"""

import asyncio
import ipaddress
import logging
import re
from functools import lru_cache, partial
from typing import NamedTuple
from urllib.parse import urlsplit

import idna
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from punish_fast.runtime.errors import PunishFastError, printable
from punish_fast.web.limits import COOKIE, LEAST_COST, Limits, Meter, client_of, sender
from punish_fast.web.protocol import MOST_HEAD

_LOGGER = logging.getLogger("punish_fast.web")

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_READS = ("GET", "HEAD")
_METHODS = (*_READS, "POST", "DELETE")
_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*|[0-9a-f:.]+")
# Scheme and authority of an absolute URI, which clients may send (RFC 9112, section 3.2.2).
_AUTHORITY = re.compile(r"\Ahttps?://[^/]*/?", re.IGNORECASE)
_DEFAULT_PORTS = {"http": 80, "https": 443}
_CURE = "which are its addresses, localhost and the names given by punish-fast serve --allow-host NAME"
# Delay of responses with status 429, in seconds.
_PAUSE = 1.0


class HostError(PunishFastError, ValueError):
    """Raised for an invalid host name. The message states the reason."""


class _Place(NamedTuple):
    name: str
    port: int | None


class Guard:
    """Middleware that checks requests and adds response headers."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str], names: frozenset[str], limits: Limits) -> None:
        """Accept requests for IP addresses, ``localhost`` and ``hosts``, and for ``names`` with any scheme and port."""
        self._app, self._hosts, self._names, self._limits = app, hosts | names, names, limits
        self._meter = Meter(limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, and pass it to the application or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope = {**scope, "path": _AUTHORITY.sub("/", scope["path"])}
        begun, is_head = False, scope["method"] == "HEAD"
        session: str | None = None

        async def sent(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                if message["status"] == 429:
                    # Slow down clients that repeat requests without waiting.
                    await asyncio.sleep(_PAUSE)
                answer = MutableHeaders(scope=message)
                answer.update(_HEADERS)
                answer.setdefault("cache-control", "no-store")
                if session is not None:
                    answer.append("set-cookie", f"{COOKIE}={session}; Path=/; HttpOnly; SameSite=Lax")
            elif is_head:
                message["body"] = b""
            await send(message)

        try:
            headers = _headers_of(scope)
            self._check(scope, headers)
            client, session = client_of(scope, headers.get("cookie", ""))
            self._meter.charge(client, LEAST_COST)
            sender.set(client)
            state = {**scope.get("state", {}), "client": client, "charge": partial(self._meter.charge, client)}
            # Answer HEAD like GET, without the body.
            asked = {**scope, "state": state, "method": "GET" if is_head else scope["method"]}
            await _while_awaited(self._app, asked, self._limited(scope, headers, receive), sent)
        except HTTPException as error:
            await _refuse(error, scope, receive, sent)
        except ClientDisconnect:
            pass  # The client disconnected, or the protocol refused a malformed body.
        except Exception:
            _LOGGER.exception("%s %s failed", scope["method"], scope["path"])
            if not begun:
                failure = HTTPException(500, "internal server error; see the server's log")
                await _refuse(failure, scope, receive, sent)

    def _check(self, scope: Scope, headers: Headers) -> None:
        """Raise HTTPException unless host, method, origin and content type are allowed."""
        host, method = headers.get("host", ""), scope["method"]
        if not _is_ours(host, self._hosts):
            raise HTTPException(421, f"host: {_quoted(host)} is not one of the names of this server, {_CURE}")
        if method not in _METHODS:
            raise HTTPException(405, f"method: must be one of {', '.join(_METHODS)}")
        origin = headers.get("origin")
        if origin is not None and not _is_same(origin, host, self._names):
            detail = f"{_quoted(origin)} is neither {_quoted(host)} nor one of the names of this server, {_CURE}"
            raise HTTPException(403, f"origin: {detail}")
        site = headers.get("sec-fetch-site", "none")
        if site not in ("same-origin", "none") and not _opens_page(scope, headers):
            detail = f"{_quoted(site)}; requests from other pages are not answered; open this address directly"
            raise HTTPException(403, f"sec-fetch-site: {detail}")
        if method == "POST" and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise HTTPException(415, "content-type: must be application/json")

    def _limited(self, scope: Scope, headers: Headers, receive: Receive) -> Receive:
        """Return ``receive`` with a limit on the size of the body.

        Raises HTTPException 413 if Content-Length is invalid or exceeds the limit. The returned function raises the
        same error if the body exceeds the limit.
        """
        most = self._limits.log if scope["path"] == "/games" else self._limits.body
        refused = HTTPException(413, f"body: longer than {most:,} bytes, or of unknown length")
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


async def _while_awaited(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request. Cancel a GET request if the client disconnects."""
    if scope["method"] != "GET":
        await app(scope, receive, send)
        return
    answering = asyncio.ensure_future(app(scope, receive, send))
    leaving = asyncio.ensure_future(_left(receive))
    try:
        await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
        if answering.done():
            answering.result()
    finally:
        answering.cancel()
        leaving.cancel()


async def _left(receive: Receive) -> None:
    """Wait until the client disconnects, and discard the body. If the body exceeds its limit, wait indefinitely."""
    try:
        while (await receive())["type"] != "http.disconnect":
            pass
    except HTTPException:
        await asyncio.Event().wait()


def _headers_of(scope: Scope) -> Headers:
    """Return the headers of a request. Raise HTTPException if the headers are too long or ambiguous."""
    headers = Headers(scope=scope)
    # Each header has four more characters: colon, space, CR and LF.
    # Check the length here, because uvicorn does not limit heads that arrive in a single packet.
    length = len(scope.get("raw_path", scope["path"])) + len(scope["query_string"])
    if length + sum(len(name) + len(value) + 4 for name, value in headers.raw) > MOST_HEAD:
        raise HTTPException(431, f"head: longer than {MOST_HEAD:,} bytes")
    for key in ("host", "origin", "content-type", "authorization"):
        if len(headers.getlist(key)) > 1:
            raise HTTPException(400, f"{key}: is given twice")
    if "content-length" in headers and "transfer-encoding" in headers:
        raise HTTPException(400, "content-length: is not allowed with transfer-encoding")
    return headers


def host_name(text: str) -> str:
    """Normalize a host name as browsers do: lower case, IDNA encoding, no port. Raise `HostError` if invalid."""
    place = _place(text)
    name = "" if place is None else place.name
    try:
        # For non-ASCII names, Python's codec implements IDNA 2003, but browsers use IDNA 2008.
        name = (name.encode("idna") if name.isascii() else idna.encode(name, uts46=True)).decode()
    except UnicodeError:
        name = ""
    if not _NAME.fullmatch(name):
        raise HostError(f"allow_host: {text!r} is not a host name; use a name such as games.example.org, or an address")
    return name


@lru_cache(maxsize=1024)
def _place(host: str) -> _Place | None:
    """Parse a host with an optional port. Return None if the host is invalid."""
    if any(sign in "/?#@\\" or not sign.isprintable() or sign.isspace() for sign in host):
        return None
    # IPv6 addresses are often typed without brackets.
    if ":" in host and _is_address(host):
        host = f"[{host}]"
    try:
        parts = urlsplit(f"//{host}")
        # A trailing dot marks a fully qualified name.
        name = (parts.hostname or "").removesuffix(".")
        return _Place(name, parts.port) if name else None
    except ValueError:
        return None


def _is_ours(host: str, hosts: frozenset[str]) -> bool:
    """Return True if a ``Host`` header is an IP address, ``localhost`` or a name of this server, with any port."""
    place = _place(host)
    return place is not None and (place.name in hosts or place.name == "localhost" or _is_address(place.name))


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_same(origin: str, host: str, names: frozenset[str]) -> bool:
    """Return True if ``Origin`` has the host and port of ``Host``, or one of the ``names`` served by a proxy."""
    scheme, separator, rest = origin.partition("://")
    default = _DEFAULT_PORTS.get(scheme.lower())
    page, server = _place(rest), _place(host)
    if not separator or default is None or page is None or server is None:
        return False
    is_at_host = page.name == server.name and (page.port or default) == (server.port or default)
    return is_at_host or page.name in names


def _quoted(header: str) -> str:
    return repr(printable(header, 80))


def _opens_page(scope: Scope, headers: Headers) -> bool:
    """Return True if a browser follows a link to the page or to a path under ``/links``, which any site may contain."""
    mode, where = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
    is_page = scope["path"] == "/" or scope["path"].startswith("/links/")
    return scope["method"] in _READS and is_page and (mode, where) == ("navigate", "document")


async def _refuse(error: HTTPException, scope: Scope, receive: Receive, send: Send) -> None:
    # Close the connection, because the rest of the body remains unread.
    headers = {**(error.headers or {}), "connection": "close"}
    await JSONResponse({"detail": error.detail}, error.status_code, headers)(scope, receive, send)

"""Web application: routes, page and request checks."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from pydantic import BaseModel

from punish_fast.arena.players import PlayerError
from punish_fast.play.session import NoAnswerError, ServedPlayer, UndoError
from punish_fast.punish.rules import PRESETS, Rules
from punish_fast.runtime import __version__
from punish_fast.runtime.errors import MOST_OF_LINE, PunishFastError, StoreError, printable
from punish_fast.web import game_database, games, guard, house_rules, links, open_sessions, player_registry, sessions
from punish_fast.web.limits import Limits, costs
from punish_fast.web.workers import Workers

# The module `mimetypes` depends on the Windows registry, which can contain other types.
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

# Errors answered with 409 Conflict.
_CONFLICTS = (game_database.GameDatabaseError, NoAnswerError, PlayerError, StoreError, UndoError)


class Refusal(BaseModel):
    """One-line reason why a request was refused."""

    detail: str


_REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Refusal, "description": description}
    for status, description in (
        (400, "Malformed HTTP request."),
        (401, "Wrong token."),
        (403, "Not allowed, or sent from a page of another site."),
        (404, "Not found."),
        (405, "Method not allowed."),
        (409, "The player or the database cannot answer the request."),
        (413, "Body too long."),
        (415, "The body is not JSON."),
        (421, "Unknown host name."),
        (422, "Invalid value."),
        (429, "Too many requests or games."),
        (431, "Request head too long."),
    )
}


@dataclass(frozen=True)
class ServerConfig:
    """Configuration of a server."""

    players: Sequence[ServedPlayer]
    database: Path | None = None  # database of recorded games (None to record no games)
    rules: Rules = PRESETS["tabletop"]  # rules of the games in the database
    hosts: frozenset[str] = frozenset()  # names of the server, in addition to IP addresses and `localhost`
    proxied: frozenset[str] = frozenset()  # names under which a proxy serves the page, with any scheme and port
    token: str | None = None  # secret for posting games (None to forbid posting)
    limits: Limits = field(default_factory=Limits)


def create_app(config: ServerConfig) -> FastAPI:
    """Build the web application from a server configuration."""
    workers = Workers()
    registry = player_registry.PlayerRegistry(config.players, workers)
    database = game_database.GameDatabase(config.database, config.rules, config.token)
    recorder = game_database.GameRecorder(database, workers)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        task = asyncio.get_running_loop().create_task(registry.open())
        yield
        task.cancel()
        await recorder.close()
        workers.close()

    app = FastAPI(
        title="punish-fast",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
        responses=_REFUSALS,
    )
    app.state.tables = open_sessions.OpenSessions(config.limits)
    studies: set[asyncio.subprocess.Process] = set()

    def stop() -> None:
        """End all requests that take long."""
        app.state.tables.wake()
        for process in studies:
            with suppress(ProcessLookupError):
                process.kill()

    app.state.stop = stop
    app.add_exception_handler(RequestValidationError, _explain_request)
    app.add_exception_handler(PunishFastError, _explain)
    app.add_exception_handler(404, _not_found)
    app.add_middleware(guard.Guard, hosts=config.hosts, names=config.proxied, limits=config.limits)
    for routes in (
        player_registry.player_routes(registry, workers),
        sessions.session_routes(registry, app.state.tables, recorder, workers),
        games.game_routes(database, registry, workers),
        games.statistics_routes(database, registry, workers),
        links.link_routes(database, config.proxied, workers),
        house_rules.house_rules_routes(config.rules, registry, app.state.tables, workers, studies),
    ):
        app.include_router(routes, dependencies=[costs(1)])
    # Browsers load all files of the page together, so each file costs only `LEAST_COST`.
    for path in (Path(__file__).parent / "page").iterdir():
        app.add_route("/" if path.name == "index.html" else f"/page/{path.name}", page_file(path))
    return app


async def _explain_request(_request: Request, error: Any) -> JSONResponse:
    fault = error.errors()[0]
    where = ".".join(str(part) for part in fault["loc"] if part not in ("body", "path", "query")) or "body"
    return _refusal(422, f"{where}: {fault['msg']}")


async def _explain(_request: Request, error: Exception) -> JSONResponse:
    return _refusal(409 if isinstance(error, _CONFLICTS) else 422, str(error))


async def _not_found(request: Request, error: Any) -> Response:
    """Answer a request for an unknown URL: redirect browsers to the page, and send JSON to other clients."""
    is_api = "endpoint" in request.scope and not request.url.path.startswith("/links/")
    if is_api or "text/html" not in request.headers.get("accept", ""):
        return _refusal(404, error.detail)
    # A proxy may serve the page under a prefix, so the URL must be relative.
    up = "../" * (request.url.path.count("/") - 1) or "./"
    return RedirectResponse(f"{up}#/nowhere", 303)


def _refusal(status: int, detail: str) -> JSONResponse:
    return JSONResponse({"detail": printable(detail, MOST_OF_LINE)}, status)


def page_file(path: Path) -> Callable[[Request], Awaitable[Response]]:
    """Read a file of the web page and return an endpoint that serves it with an ETag."""
    content = path.read_bytes()
    tag = f'"{blake2b(content, digest_size=8).hexdigest()}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}

    async def answer(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=_TYPES[path.suffix])

    return answer

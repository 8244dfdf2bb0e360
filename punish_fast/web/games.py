"""Routes of recorded games: lists, reviews, statistics, plots and practice."""

from __future__ import annotations

import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Header, HTTPException, Path, Query, Request, Response

from punish_fast.records.names import NAMES, clean_name, is_name
from punish_fast.records.schema import LAST_ID
from punish_fast.web.game_database import PLOTS, GameDatabase
from punish_fast.web.limits import costs
from punish_fast.web.players import PlayerRegistry
from punish_fast.web.workers import Workers

GameId = Annotated[int, Path(ge=0, le=LAST_ID, description="The id of a game in the database.")]
ModelHash = Annotated[str, Query(pattern="^[0-9a-f]{32}$", description="The hash of an agent.")]
PlotName = Annotated[str, Path(pattern="^[a-z-]{1,40}$", description="The name of a plot.")]
_MOST_LISTED = 200
# The body is not described in detail, since the reader of logs checks it.
_LOG: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"type": "array", "items": {"type": "object"}}}},
    }
}


def game_routes(database: GameDatabase, registry: PlayerRegistry, workers: Workers) -> APIRouter:
    """Return the routes under ``/games``, and ``/players``."""
    routes = APIRouter(tags=["games"])

    @routes.get("/games")
    async def list_games(
        player: Annotated[str, Query(max_length=200)] = "",
        limit: Annotated[int, Query(ge=1, le=_MOST_LISTED)] = 50,
        before: Annotated[int | None, Query(ge=0, le=LAST_ID, description="Only games before this one.")] = None,
    ) -> list[dict[str, Any]]:
        """The latest games: of one player, and before one of them if that is asked."""
        player = clean_name(player)
        if player and not is_name(player):
            raise HTTPException(422, f"player: allowed are {NAMES}")
        return await workers.run("reader", lambda: database.games(player or None, before, limit))

    @routes.post("/games", openapi_extra=_LOG)
    async def post_games(request: Request, authorization: Annotated[str, Header()] = "") -> dict[str, Any]:
        """Add the games of a log, checked like those of ``records import``; what is known is not added again."""
        database.must_take(authorization)
        content = await request.body()
        return await workers.write(lambda: database.add(content))

    @routes.get("/games/{game}")
    async def game(game: GameId) -> dict[str, Any]:
        """A recorded game."""
        return await workers.run("reader", lambda: database.game_report(game))

    @routes.get("/games/{game}/review", dependencies=[costs(4)])
    async def judge(game: GameId, model: ModelHash) -> dict[str, Any]:
        """A recorded game judged by an agent: chance to win before each choice, and what the choice lost of it."""
        found = registry.find(model)
        recorded = await workers.run("reader", lambda: database.game(game))
        judge = found.able("review")
        judged = await workers.answer(lambda: judge(recorded), found.able("is_explained"))
        against = found.facts()["against"]
        return {"game": game, "played": recorded.second, "agent": found.name, "enemy": against, **judged}

    @routes.get("/players")
    async def players() -> list[dict[str, Any]]:
        """All players, by games won."""
        return await workers.run("reader", database.players)

    return routes


def statistics_routes(database: GameDatabase, registry: PlayerRegistry, workers: Workers) -> APIRouter:
    """Return the routes ``/dashboard``, ``/plots`` and ``/practice``."""
    routes = APIRouter(tags=["statistics"])

    @routes.get("/dashboard")
    async def dashboard() -> dict[str, Any]:
        """The statistics of ``records summary``, and the names of the plots."""
        return await workers.run("reader", database.dashboard)

    @routes.get("/plots/{name}.svg", response_class=Response, dependencies=[costs(19)])
    async def plot(name: PlotName) -> Response:
        """A plot of ``records plot``."""
        if name not in PLOTS:
            raise HTTPException(404, f"plot: there is none of this name, allowed are {', '.join(PLOTS)}")
        content = await workers.run("drawer", lambda: database.plot(name))
        return Response(content, media_type="image/svg+xml")

    @routes.get("/practice", dependencies=[costs(19)])
    async def practice(
        model: ModelHash,
        n: Annotated[int, Query(ge=1, le=50)] = 10,
        seed: Annotated[int | None, Query(ge=0, lt=2**32)] = None,
    ) -> dict[str, Any]:
        """Positions in which the right choice matters most, of recorded games if there are enough."""
        found = registry.find(model)
        draw = found.able("practice")
        choices = await workers.run("reader", database.choices)
        drawn = secrets.randbits(32) if seed is None else seed
        return await workers.answer(lambda: draw(choices, n, drawn), found.able("is_explained"))

    return routes

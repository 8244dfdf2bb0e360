"""Routes of recorded games: lists, reviews, statistics, plots and practice."""

import secrets
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Header, HTTPException, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from punish_fast.play.punish.practice import MOST_OF_RIGHT
from punish_fast.records.names import NAMES, clean_name, is_name
from punish_fast.records.schema import LAST_ID
from punish_fast.runtime.errors import printable
from punish_fast.web.game_database import GameDatabase
from punish_fast.web.limits import costs
from punish_fast.web.player_registry import PlayerRegistry
from punish_fast.web.sessions import Body, name_of
from punish_fast.web.workers import Workers

GameId = Annotated[int, Path(ge=0, le=LAST_ID, description="Id of a game in the database.")]
ModelDigest = Annotated[
    str | None,
    Query(pattern="^[0-9a-f]{32}$", description="Digest of the judge, by default the strongest built-in agent."),
]
_INITIALS = "^[grdspGRDSP]{1,40}$"
Hand = Annotated[str, Path(pattern=_INITIALS, description="Cards by initials.")]
_SIDES = "own|enemy|both"
PlotName = Annotated[str, Path(pattern="^[a-z-]{1,40}$", description="Name of a plot.")]
PlayerName = Annotated[str, Query(max_length=200)]
_MOST_LISTED = 200
# The schema contains no details, because the log parser validates the body.
_LOG: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"type": "array", "items": {"type": "object"}}}},
    }
}


class PuzzleAnswer(Body):
    """Answer to the puzzle of the day."""

    name: str = Field(description="Your name in the records.")
    day: str = Field(max_length=10, description="Day of the puzzle, as in the puzzle.")
    action: int = Field(ge=0, le=99, description="Your move.")


class Details(BaseModel):
    """Details of a position, with the meanings of the options of ``hand``."""

    model_config = ConfigDict(extra="forbid")

    discard: str | None = Field(None, pattern=_INITIALS, description="Discard pile, by initials.")
    hp: str | None = Field(None, pattern="^[0-9]-[0-9]$", description="Your HP and the enemy's, such as 3-2.")
    breath: int | None = Field(None, ge=1, le=9, description="Breath of the measure.")
    enemy_hand: int | None = Field(None, ge=0, le=9, description="Number of cards in the enemy's hand.")
    exhausted: str | None = Field(None, pattern=f"^({_SIDES})$", description="Players who must rest in this breath.")
    feinted: str | None = Field(
        None, pattern=f"^({_SIDES}|[0-9]-[0-9])$", description="Players who have feinted, or their numbers of feints."
    )


def game_routes(database: GameDatabase, registry: PlayerRegistry, workers: Workers) -> APIRouter:
    """Return the route ``/players`` and the routes under ``/games``."""
    routes = APIRouter(tags=["games"])

    @routes.get("/games")
    async def list_games(
        player: PlayerName = "",
        limit: Annotated[int, Query(ge=1, le=_MOST_LISTED)] = 50,
        before: Annotated[int | None, Query(ge=0, le=LAST_ID, description="List only games before this id.")] = None,
    ) -> list[dict[str, Any]]:
        """List the latest games, optionally only one player's or only games before a given game."""
        player = clean_name(player)
        if player and not is_name(player):
            raise HTTPException(422, f"player: use {NAMES}")
        return await workers.run("reader", lambda: database.games(player or None, before, limit))

    @routes.post("/games", openapi_extra=_LOG)
    async def post_games(request: Request, authorization: Annotated[str, Header()] = "") -> dict[str, Any]:
        """Add the games in a log, with the checks of ``records import``. Skip games that are already stored."""
        database.must_take(authorization)
        content = await request.body()
        return await workers.write(lambda: database.add(content))

    @routes.get("/games/{game}")
    async def game(game: GameId) -> dict[str, Any]:
        """Return a recorded game."""
        return await workers.run("reader", lambda: database.game_report(game))

    @routes.get("/games/{game}/review", dependencies=[costs(4)])
    async def review_game(game: GameId, model: ModelDigest = None) -> dict[str, Any]:
        """Review a recorded game with an agent: the win probability before each choice, and the loss of the choice."""
        found = registry.find_judge(model, "review", database.rules)
        recorded = await workers.run("reader", lambda: database.game(game))
        reviewed = await workers.answer(lambda: found.review(recorded), found.has_judge)
        against = found.facts()["against"]
        return {"game": game, "played": recorded.second, "agent": found.name, "enemy": against, **reviewed}

    @routes.get("/players")
    async def players() -> list[dict[str, Any]]:
        """List all recorded players, sorted by number of games won."""
        return await workers.run("reader", database.players)

    return routes


def statistics_routes(database: GameDatabase, registry: PlayerRegistry, workers: Workers) -> APIRouter:
    """Return the routes ``/dashboard``, ``/plots``, ``/practice``, ``/hands``, ``/puzzle`` and ``/improve``."""
    routes = APIRouter(tags=["statistics"])

    @routes.get("/dashboard")
    async def dashboard() -> dict[str, Any]:
        """Return the statistics of ``records summary``, and the names and titles of the plots."""
        return await workers.run("reader", database.dashboard)

    @routes.get("/plots/{name}.svg", response_class=Response, dependencies=[costs(19)])
    async def plot(name: PlotName) -> Response:
        """Return a plot of ``records plot`` as SVG."""
        content = await workers.run("drawer", lambda: database.plot(name))
        return Response(content, media_type="image/svg+xml")

    @routes.get("/practice", dependencies=[costs(19)])
    async def practice(
        model: ModelDigest = None,
        n: Annotated[int, Query(ge=1, le=50)] = 10,
        seed: Annotated[int | None, Query(ge=0, lt=2**32)] = None,
        player: PlayerName = "",
    ) -> dict[str, Any]:
        """Return positions in which the right choice matters most, if possible from recorded games (of one player)."""
        found = registry.find_judge(model, "practice", database.rules)
        choices = await workers.run("reader", lambda: database.choices(clean_name(player) or None))
        drawn = secrets.randbits(32) if seed is None else seed
        return await workers.answer(lambda: found.practice(choices, n, drawn), found.has_explainer)

    @routes.get("/hands/{cards}", dependencies=[costs(4)])
    async def hand(cards: Hand, details: Annotated[Details, Query()]) -> dict[str, Any]:
        """Return how often to play each card of a hand, and its win probability, as ``hand`` reports them."""
        found = registry.judge(database.rules)
        return await workers.answer(lambda: found.hand(cards, details.model_dump()), found.has_explainer)

    @routes.get("/puzzle", dependencies=[costs(4)])
    async def puzzle(model: ModelDigest = None, player: PlayerName = "") -> dict[str, Any]:
        """Return today's puzzle, which is the same for all users on the same day in UTC, and a player's rating."""
        found, today = registry.find_judge(model, "practice", database.rules), datetime.now(UTC).date()
        asked = await workers.answer(lambda: found.puzzle(today), found.has_explainer)
        return asked | {"rating": await workers.run("reader", lambda: database.rating_for_puzzles(player))}

    @routes.post("/puzzle", dependencies=[costs(19)])
    async def answer_puzzle(answer: PuzzleAnswer) -> dict[str, Any]:
        """Record a player's first answer to today's puzzle, and return the player's rating for puzzles."""
        judge, today = registry.judge(database.rules), datetime.now(UTC).date()
        name = name_of(answer.name, registry)
        (asked,) = (await workers.answer(lambda: judge.puzzle(today), judge.has_explainer))["positions"]
        values = {each["action"]: each["value"] for each in asked["actions"]}
        if answer.day != today.isoformat() or answer.action not in values:
            raise HTTPException(409, "puzzle: this is not a move in today's puzzle; reload the page")
        is_right = max(values.values()) - values[answer.action] < MOST_OF_RIGHT
        await workers.write(lambda: database.answer_puzzle(name, answer.day, int(asked["state"]), is_right))
        return await workers.run("reader", lambda: database.rating_for_puzzles(name))

    @routes.get("/improve", dependencies=[costs(19)])
    async def improve(player: PlayerName, model: ModelDigest = None) -> dict[str, Any]:
        """Return a player's results, costly habits and worst positions, compared with the agent ``model``."""
        found, name = registry.find_judge(model, "improve", database.rules), clean_name(player)
        choices = await workers.run("reader", lambda: database.choices(name))
        results = await workers.run("reader", database.results)
        if choices is None:
            raise HTTPException(404, f"player: no games of {printable(name, 40)}")
        report = await workers.answer(lambda: found.improve(choices, results, name), found.is_coached(None))
        return report | {"puzzles": await workers.run("reader", lambda: database.rating_for_puzzles(name))}

    return routes

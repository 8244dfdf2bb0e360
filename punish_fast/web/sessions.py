"""Routes for tables at which users play against agents or each other."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from punish_fast.arena.built_in_players import RESERVED
from punish_fast.play.session import ChoiceError, UndoError
from punish_fast.records.logs import BOTS
from punish_fast.records.names import PlayerNameError, checked_name, looks_like
from punish_fast.web.game_database import GameRecorder
from punish_fast.web.limits import costs
from punish_fast.web.open_sessions import QUIET, OpenSessions
from punish_fast.web.player_registry import PlayerRegistry, of_punish
from punish_fast.web.table import YOU
from punish_fast.web.workers import Workers

# Time limit of the search for a hint, in seconds.
_HINT_SECONDS = 3.0
_LAST_SEED = (1 << 64) - 1
Number = Annotated[int, Query(ge=0, le=10**6)]

TableId = Annotated[str, Path(pattern="^[A-Za-z0-9_-]{32}$", description="Secret name of a seat at a table.")]
InvitationId = Annotated[str, Path(pattern="^[A-Za-z0-9_-]{32}$", description="Secret name of an invitation.")]
WatchId = Annotated[str, Path(pattern="^[A-Za-z0-9_-]{32}$", description="Secret name of a table for spectators.")]


class Body(BaseModel):
    """Body of a request."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewTable(Body):
    """Opponent and settings of a new game."""

    opponent: str = Field(pattern="^[0-9a-f]{32}$", description="Digest of an agent.")
    friend: bool = Field(False, description="Whether to play a friend instead of the agent, under the agent's rules.")
    clock: int = Field(int(QUIET), ge=10, le=int(QUIET), description="Seconds per move against a friend.")
    game: str | None = Field(
        None, pattern="^[a-z0-9-]{1,40}$", description="Name of the agent's game; null for any game."
    )
    name: str = Field(YOU, description="Your name in the records.")
    temperature: float | None = Field(None, description="One of the agent's temperatures; null for none.")
    seed: str | None = Field(
        None, pattern="^[0-9]{1,20}$", description="Random seed of the deals; a game with a seed is not saved."
    )
    second: bool = Field(False, description="Whether to let the agent move first in a game with alternating moves.")


class Seen(Body):
    """Number of events that the user has seen."""

    n_events: int = Field(ge=0, description="Number of events that you have seen; prevents repeated moves.")


class Choice(Seen):
    """Action of the user."""

    action: int = Field(ge=0, le=99, description="One of the legal actions.")


class Moment(Body):
    """Breath at which to replay a finished game."""

    breath: int = Field(ge=1, description="Number of the breath before which the new game begins, from 1.")


class Visitor(Body):
    """Name of a user who accepts an invitation."""

    name: str = Field(description="Your name in the records.")


def name_of(person: str, registry: PlayerRegistry, *others: str) -> str:
    """Normalize a user's name. Raise HTTPException 422 for invalid names and names similar to a bot or ``others``."""
    try:
        name = checked_name(person, {*BOTS, *RESERVED, *(player.name for player in registry.players)})
    except PlayerNameError as error:
        raise HTTPException(422, f"name: {error}") from None
    if any(looks_like(name, other) for other in others):
        raise HTTPException(422, f"name: {name} is already used at this table; choose another name")
    return name


def session_routes(
    registry: PlayerRegistry, tables: OpenSessions, recorder: GameRecorder, workers: Workers
) -> APIRouter:
    """Return the routes under ``/tables``."""
    routes = APIRouter(prefix="/tables", tags=["tables"])

    @routes.post("", status_code=201)
    async def open_table(wanted: NewTable, request: Request) -> dict[str, Any]:
        """Open a table. Begin the game unless a friend still has to join."""
        player = registry.find(wanted.opponent)
        game = player.game_name
        if wanted.game not in (None, game):
            raise HTTPException(422, f"game: {wanted.game!r}, but {player.name} plays {game}")
        seed = None if wanted.seed is None else int(wanted.seed)
        if seed is not None and seed > _LAST_SEED:
            raise HTTPException(422, f"seed: {seed} is not from 0 to {_LAST_SEED}")
        if wanted.second and player.no_second is not None:
            raise HTTPException(422, f"second: must be false, because in {game} {player.no_second}")
        if wanted.friend and (seed is not None or player.rules is None):
            raise HTTPException(422, "friend: must be false with a seed, and in games other than Punish")
        name = name_of(wanted.name, registry, *([YOU] if wanted.friend else ()))
        if wanted.friend or not player.is_ready(wanted.temperature):
            # Two users need the states of the game, but not the agent's strategy.
            await workers.answer(
                partial(player.match, 0) if wanted.friend else partial(player.opponents, wanted.temperature),
                wanted.friend,
            )
        clock = float(wanted.clock) if wanted.friend else None
        seat = tables.open(player, name, wanted.temperature, seed, int(wanted.second), request.state.client, clock)
        database = recorder.database
        seat.table.keeps = database.path is not None and database.rules == player.rules and seed is None
        await seat.table.play_on(workers)
        return seat.shown(0)

    _add_moves(routes, tables, recorder, workers)
    _add_friends(routes, registry, tables)
    _add_advice(routes, registry, tables, workers)
    return routes


def _add_moves(routes: APIRouter, tables: OpenSessions, recorder: GameRecorder, workers: Workers) -> None:
    @routes.get("/{table}")
    async def look(table: TableId, since: Number = 0, version: Number | None = None) -> dict[str, Any]:
        """Return your view of the table, and all events from number ``since`` onward.

        At a table of two users, if ``version`` is current, first wait up to 25 seconds for a change.
        """
        seat = tables.find(table)
        await seat.table.wait(version)
        seat.table.check_clock()
        return seat.shown(since)

    @routes.post("/{table}/choice")
    async def choose(table: TableId, choice: Choice) -> dict[str, Any]:
        """Make a move. Return your view of the table and the new events."""
        tables.find_on(table)
        found = tables.find_seen(table, choice.n_events)
        try:
            found.session.choose(found.number, choice.action)
        except ChoiceError as error:
            raise HTTPException(422, str(error)) from None
        found.table.chosen = found.table.now()
        await found.table.play_on(workers)
        found.table.change()
        if found.table.keeps and not found.session.is_on:
            recorder.add(found.table.finished, found.table.keep)
        return found.shown(choice.n_events)

    @routes.post("/{table}/undo")
    async def undo(table: TableId, seen: Seen) -> dict[str, Any]:
        """Undo your last move and all later moves. Return your view and all events.

        Undo is unavailable in games with hidden information and in games between two users.
        """
        found = tables.find_seen(table, seen.n_events)
        if found.session.is_on and found.number not in found.session.waiting:
            raise UndoError("table: it is not your turn")
        found.session.undo()
        return found.shown(0)

    @routes.post("/{table}/replay", status_code=201)
    async def replay(table: TableId, moment: Moment, request: Request) -> dict[str, Any]:
        """Open a table for a finished game against an agent, from a breath onward. The new game is not saved."""
        return tables.replay(tables.find(table), moment.breath, request.state.client).shown(0)

    @routes.delete("/{table}", status_code=204)
    async def leave(table: TableId) -> Response:
        """Leave the table."""
        tables.leave(table)
        return Response(status_code=204)


def _add_friends(routes: APIRouter, registry: PlayerRegistry, tables: OpenSessions) -> None:
    @routes.get("/invitations/{invitation}")
    async def invitation(invitation: InvitationId) -> dict[str, Any]:
        """Return the host, game, rules and clock of the table to which you are invited."""
        host = tables.invited(invitation)
        presentation, name = host.table.player.presentation, host.session.seats[host.number].name
        return {"host": name, "game": presentation.game, "rules": presentation.rules(), "clock": host.table.clock}

    @routes.get("/watch/{watch}")
    async def watch(watch: WatchId, since: Number = 0) -> dict[str, Any]:
        """Return what both users at a table know, and all events from number ``since`` onward."""
        return tables.watched(watch).watched(since)

    @routes.post("/invitations/{invitation}", status_code=201)
    async def join(invitation: InvitationId, visitor: Visitor, request: Request) -> dict[str, Any]:
        """Take the free seat and begin the game."""
        host = tables.invited(invitation)
        name = name_of(visitor.name, registry, YOU, host.session.seats[host.number].name)
        return tables.join(host, name, request.state.client).shown(0)

    @routes.delete("/{table}/choice")
    async def take_back(table: TableId) -> dict[str, Any]:
        """Take back your move before your friend has chosen."""
        found = tables.find_on(table)
        if found.table.clock is None or found.session.chosen(found.number) is None:
            raise HTTPException(409, "table: there is no move to take back")
        found.session.take_back(found.number)
        found.table.change()
        return found.shown(len(found.session.events))

    @routes.post("/{table}/again")
    async def play_again(table: TableId) -> dict[str, Any]:
        """Request another game. The game begins when both players have requested it."""
        found = tables.find(table)
        tables.play_again(found)
        return found.shown(0)


def _add_advice(routes: APIRouter, registry: PlayerRegistry, tables: OpenSessions, workers: Workers) -> None:
    @routes.get("/{table}/guide")
    async def guide(table: TableId) -> dict[str, Any]:
        """Return paragraphs about the rules that matter in the current position."""
        found = tables.find_on(table)
        enemy = found.table.named(found.session.seats[found.number - 1])
        return {"paragraphs": found.table.player.presentation.guide(found.view, enemy)}

    @routes.get("/{table}/costliest", dependencies=[costs(4)])
    async def costliest(table: TableId) -> dict[str, Any]:
        """Return your costliest choice in a finished game, and its judge. Null if no choice lost a point.

        ``model`` is the digest of the judge, or null if the server does not offer this agent.
        """
        found = tables.find(table)
        judge = registry.judge(of_punish(found.table.player, "costliest").rules)
        if found.session.winner is None:
            raise HTTPException(409, "table: the game is not over")
        game, won = found.table.finished.record(), found.session.winner == found.number
        worst = await workers.answer(lambda: judge.costliest(game, won), judge.has_judge)
        return {"judge": judge.person, "model": judge.digest if judge in registry.players else None, "choice": worst}

    @routes.get("/{table}/hint", dependencies=[costs(4)])
    async def hint(table: TableId) -> dict[str, Any]:
        """Return the outcome of each move with perfect play, and mark the best moves.

        If ``exact`` is false, the search reached its time limit. Unknown outcomes are then null, and the number of
        plies until a win or loss can be null.
        """
        found = tables.find_on(table, is_advised=True)
        view, player, n_events = found.view, found.table.player, len(found.session.events)
        if found.number not in found.session.waiting:
            raise HTTPException(409, "table: it is not your turn")

        def search(until: float) -> tuple[dict[str, Any], bool]:
            return (known := player.hint(view, until)), known["exact"]

        known = await workers.think(search, _HINT_SECONDS)
        return {"n_events": n_events, **(known or player.hint(view, 0.0))}

    @routes.get("/{table}/coach", dependencies=[costs(4)])
    async def advise(
        table: TableId,
        as_opponent: Annotated[bool, Query(description="Whether the enemy plays like your opponent.")] = False,
    ) -> dict[str, Any]:
        """Return each move with its win probability and reason, best first, and the probability of each enemy move.

        By default, the enemy plays like the judge of choices, who also judges the finished game.
        """
        found = tables.find_on(table, is_advised=True)
        view, player, n_events = found.view, of_punish(found.table.player, "advice"), len(found.session.events)
        judge, heat = (player, found.table.temperature) if as_opponent else (registry.judge(player.rules), None)
        advice = await workers.answer(lambda: judge.advice(view, heat), judge.is_coached(heat))
        return {"n_events": n_events, "judge": judge.person, **advice}

"""Routes of tables, at which people play against agents. Hidden information stays on the server."""

import secrets
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from punish_fast.arena.players import NAMES as BUILT_IN_NAMES
from punish_fast.play.games.match import GameMatch
from punish_fast.play.punish.match import PunishMatch
from punish_fast.play.punish.records import Finished
from punish_fast.play.session import ChoiceError, HumanPlayer, PlaySession, SessionPlayer, UndoError
from punish_fast.punish.codes import action_name
from punish_fast.records.logs import BOTS
from punish_fast.records.names import PlayerNameError, checked_name
from punish_fast.web.game_recorder import GameRecorder
from punish_fast.web.limits import Client, Limits, costs
from punish_fast.web.players import AnyPlayer, PlayerRegistry
from punish_fast.web.workers import Workers

YOU = "you"
# Seconds without a request after which a running game and a finished game, respectively, are cleared.
_IDLE, _OVER = 3600.0, 900.0
# Seconds without a request after which a running game may be cleared to make room.
_QUIET = 600.0
# Time limits, in seconds, of the search for an agent's move and for a hint.
_MOVE_SECONDS, _HINT_SECONDS = 2.0, 3.0
_NOBODY = Client("", "")
_ID_BYTES = 24
_LAST_SEED = (1 << 64) - 1

TableId = Annotated[str, Path(pattern="^[A-Za-z0-9_-]{32}$", description="Secret name of a table.")]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class NewTable(_Body):
    """Opponent and settings of a new game."""

    opponent: str = Field(pattern="^[0-9a-f]{32}$", description="Hash of an agent.")
    game: str | None = Field(None, pattern="^[a-z0-9-]{1,40}$", description="The agent's game, or null.")
    name: str = Field(YOU, description="Your name in the records.")
    temperature: float | None = Field(None, description="One of the agent's temperatures, or null.")
    seed: str | None = Field(
        None, pattern="^[0-9]{1,20}$", description="Seed of the deals; with a seed, the game is not saved."
    )
    second: bool = Field(False, description="Whether the agent moves first, in games in which players take turns.")


class Seen(_Body):
    """Progress of the game as the person knows it."""

    n_events: int = Field(ge=0, description="Number of events that you have seen, so that no move is made twice.")


class Choice(Seen):
    """A move."""

    action: int = Field(ge=0, le=99, description="One of the legal actions.")


@dataclass(eq=False)
class OpenSession:
    """Game of a person against agents."""

    id: str  # secret name
    player: AnyPlayer  # opponent
    temperature: float | None  # opponent's temperature
    session: PlaySession  # progress of the game
    match: PunishMatch | GameMatch  # full state, including hidden information
    seed: int  # random seed of the deals; the agent's choices use a separate secret seed
    is_chosen: bool  # the person chose the seed, so the game is practice; otherwise the seed is secret until the end
    touched: float  # time of the last request
    client: Client  # client who opened the table
    seat: int = 0  # person's seat
    keeps: bool = False  # the game is stored in the database when it ends
    kept: int | None = None  # id in the database
    flaw: str | None = None  # reason why the game could not be stored

    def shown(self, since: int) -> dict[str, Any]:
        """Return the information visible to the person, including the events from number ``since`` on."""
        session, presentation = self.session, self.player.presentation
        players = [*session.seats[self.seat :], *session.seats[: self.seat]]
        names = [YOU if seat == self.seat else self.named(player) for seat, player in enumerate(session.seats)]
        told = session.events[since:]
        events = [{"n": n, **presentation.event(event, self.seat, names)} for n, event in enumerate(told, since)]
        return {
            "table": self.id,
            "game": presentation.game,
            "rules": presentation.rules(),
            "opponent": self.player.identity,
            "temperature": self.temperature,
            "names": [self.named(player) for player in players],
            "seat": self.seat,
            "is_on": session.is_on,
            "winner": session.winner,
            "legal": presentation.moves(self.view),
            "view": presentation.view(self.view),
            "events": events,
            "n_events": len(session.events),
            # The seed determines future deals.
            "seed": str(self.seed) if self.is_chosen or not session.is_on else None,
            "keeps": self.keeps,
            "kept": self.kept,
            "flaw": self.flaw,
        }

    def named(self, player: SessionPlayer) -> str:
        """Return the name of a player as shown to people."""
        is_agent = not player.is_human
        return player.name.replace(self.player.name, self.player.person, 1) if is_agent else player.name

    @property
    def view(self) -> Any:
        """Person's view of the game."""
        return self.session.view(self.seat)

    async def play_on(self, workers: Workers) -> None:
        """Make the agents' moves and reveal choices until the person has to choose."""
        session, player = self.session, self.player
        while session.is_on and not session.waiting:
            others = [seat for seat in self.match.to_move if seat != self.seat]
            if not player.moves_quickly:
                for seat in others:
                    action = await workers.think(partial(self._choice, seat), _MOVE_SECONDS)
                    hasty = player.able("hasty_action")
                    session.choose(seat, hasty(session.view(seat).state) if action is None else action)
            session.reveal()

    def _choice(self, seat: int, until: float) -> tuple[int | None, bool]:
        """Return an agent's choice and True, or (None, False) if its search missed the deadline."""
        if not self.player.able("prepare")(self.session.view(seat).state, until):
            return None, False
        return self.session.seats[seat].choice(self.match, seat), True

    @property
    def finished(self) -> Finished:
        """The finished game."""
        first, second = self.session.seats
        assert self.session.winner is not None
        assert isinstance(self.match, PunishMatch)
        return Finished(self.match, (first, second), self.session.winner)

    def keep(self, game_id: int | None, flaw: str | None) -> None:
        """Set the id in the database, or the reason why the game could not be stored."""
        self.kept, self.flaw = game_id, flaw


class OpenSessions:
    """All current games, in memory."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._tables: dict[str, OpenSession] = {}

    def __len__(self) -> int:
        return len(self._tables)

    def open(
        self,
        player: AnyPlayer,
        name: str,
        temperature: float | None,
        seed: int | None,
        seat: int = 0,
        client: Client = _NOBODY,
    ) -> OpenSession:
        """Open a table for a person in a seat and begin the game."""
        self._make_room(client)
        dealt = secrets.randbits(64) if seed is None else seed
        match = player.match(dealt, secrets.randbits(64))
        opponents = player.opponents(temperature)
        session = PlaySession(match, [*opponents[:seat], HumanPlayer(name), *opponents[seat:]])
        session.begin()
        table_id = secrets.token_urlsafe(_ID_BYTES)
        self._tables[table_id] = OpenSession(
            table_id, player, temperature, session, match, dealt, seed is not None, self._clock(), client, seat
        )
        return self._tables[table_id]

    def find(self, table_id: str) -> OpenSession:
        """Return a table by its secret name; raise HTTPException 404 if there is none."""
        table = self._tables.get(table_id)
        if table is None or self._is_stale(table):
            raise HTTPException(404, "table: unknown, or cleared after a long pause; open a new one")
        table.touched = self._clock()
        return table

    def find_seen(self, table_id: str, seen: Seen) -> OpenSession:
        """Return a table; raise HTTPException 409 if the person has not seen all events."""
        table = self.find(table_id)
        n = len(table.session.events)
        if seen.n_events != n:
            raise HTTPException(409, f"n_events: {seen.n_events}, but {n} events have happened; reload the table")
        return table

    def find_on(self, table_id: str) -> OpenSession:
        """Return a table whose game is running; raise HTTPException 409 if it is over."""
        table = self.find(table_id)
        if not table.session.is_on:
            raise HTTPException(409, "table: the game is over")
        return table

    def clear(self, table_id: str) -> None:
        """Clear a table; raise the error of `find`."""
        del self._tables[self.find(table_id).id]

    def _is_stale(self, table: OpenSession) -> bool:
        idle = self._clock() - table.touched
        return idle > _OVER and (idle > _IDLE or not table.session.is_on)

    def _make_room(self, client: Client) -> None:
        """Clear tables until a client may open another; raise HTTPException 429 if no table may be cleared."""
        # Clear finished games first, then games idle for `_QUIET` seconds. If all tables of the server are in use,
        # clear a table of the address with the most tables.
        limits, tables = self._limits, self._tables
        for table in [table for table in tables.values() if self._is_stale(table)]:
            del tables[table.id]
        for most, whose, words in (
            (limits.client_tables, client, "you play"),
            (limits.address_tables, client[:1], f"are played from {client.address}"),
            (limits.tables, (), "are played here"),
        ):
            held = [table for table in tables.values() if table.client[: len(whose)] == whose]
            if len(held) < most:
                continue
            oldest = min(held, key=lambda table: (table.session.is_on, table.touched))
            if oldest.session.is_on and self._clock() - oldest.touched <= _QUIET:
                crowd = Counter(table.client.address for table in held)
                oldest = max(held, key=lambda table: (crowd[table.client.address], -table.touched))
                if whose or crowd[oldest.client.address] <= crowd[client.address] + 1:
                    raise HTTPException(429, f"tables: {most:,} games {words} now; finish one, or try again later")
            del tables[oldest.id]


def _name_of(person: str, registry: PlayerRegistry) -> str:
    """Return the normalized name of a person, which must not resemble the name of an agent."""
    try:
        return checked_name(person, {*BOTS, *BUILT_IN_NAMES, *(player.name for player in registry.players)})
    except PlayerNameError as error:
        raise HTTPException(422, f"name: {error}") from None


def session_routes(
    registry: PlayerRegistry, tables: OpenSessions, recorder: GameRecorder | None, workers: Workers
) -> APIRouter:
    """Return the routes under ``/tables``."""
    routes = APIRouter(prefix="/tables", tags=["tables"])

    @routes.post("", status_code=201)
    async def open_table(wanted: NewTable, request: Request) -> dict[str, Any]:
        """Open a table and begin the game."""
        player = registry.find(wanted.opponent)
        game = player.game_name
        if wanted.game not in (None, game):
            raise HTTPException(422, f"game: {wanted.game!r}, but {player.name} plays {game}")
        seed = None if wanted.seed is None else int(wanted.seed)
        if seed is not None and seed > _LAST_SEED:
            raise HTTPException(422, f"seed: {seed} is not from 0 to {_LAST_SEED}")
        if wanted.second and player.no_second is not None:
            raise HTTPException(422, f"second: must be false, because in {game} {player.no_second}")
        name = _name_of(wanted.name, registry)
        if not player.is_ready(wanted.temperature):
            await workers.run("solver", lambda: player.opponents(wanted.temperature))
        seat, client = int(wanted.second), request.state.client
        table = tables.open(player, name, wanted.temperature, seed, seat, client)
        await table.play_on(workers)
        is_recorded = recorder is not None and recorder.rules == player.rules
        table.keeps = is_recorded and not table.is_chosen
        return table.shown(0)

    @routes.get("/{table}")
    async def look(table: TableId, since: Annotated[int, Query(ge=0, le=10**6)] = 0) -> dict[str, Any]:
        """Return your view of the table, including the events from number ``since`` on."""
        return tables.find(table).shown(since)

    @routes.post("/{table}/choice")
    async def choose(table: TableId, choice: Choice) -> dict[str, Any]:
        """Make a move, and return what happens up to your next choice."""
        tables.find_on(table)
        found = tables.find_seen(table, choice)
        try:
            found.session.choose(found.seat, choice.action)
        except ChoiceError as error:
            raise HTTPException(422, str(error)) from None
        await found.play_on(workers)
        if recorder is not None and found.keeps and not found.session.is_on:
            recorder.add(found.finished, found.keep)
        return found.shown(choice.n_events)

    @routes.post("/{table}/undo")
    async def undo(table: TableId, seen: Seen) -> dict[str, Any]:
        """Undo your last move and all later ones, in games without hidden information; return the whole game."""
        found = tables.find_seen(table, seen)
        if found.session.is_on and found.seat not in found.session.waiting:
            raise UndoError("table: it is not your turn")
        found.session.undo()
        return found.shown(0)

    @routes.delete("/{table}", status_code=204)
    async def clear(table: TableId) -> Response:
        """Leave the table."""
        tables.clear(table)
        return Response(status_code=204)

    _add_advice(routes, tables, workers)
    return routes


def _add_advice(routes: APIRouter, tables: OpenSessions, workers: Workers) -> None:
    @routes.get("/{table}/guide")
    async def guide(table: TableId) -> dict[str, Any]:
        """Return paragraphs that explain the rules relevant in the current position."""
        found = tables.find_on(table)
        return {
            "paragraphs": found.player.presentation.guide(found.view, found.named(found.session.seats[found.seat - 1]))
        }

    @routes.get("/{table}/hint", dependencies=[costs(4)])
    async def hint(table: TableId) -> dict[str, Any]:
        """Return the outcome of each move with perfect play, and mark the best moves.

        If ``exact`` is false, the search was cut short: unknown outcomes are null, and the plies of a win or loss can
        be null.
        """
        found = tables.find_on(table)
        view, hint, n_events = found.view, found.player.able("hint"), len(found.session.events)
        if found.seat not in found.session.waiting:
            raise HTTPException(409, "table: it is not your turn")

        def search(until: float) -> tuple[dict[str, Any], bool]:
            return (known := hint(view, until)), known["exact"]

        known = await workers.think(search, _HINT_SECONDS)
        return {"n_events": n_events, **(known or hint(view, 0.0))}

    @routes.get("/{table}/coach", dependencies=[costs(4)])
    async def advise(table: TableId) -> dict[str, Any]:
        """Return the win probability of each move, the best first, with reasons, and the enemy's expected moves."""
        found = tables.find_on(table)
        view, player, n_events = found.view, found.player, len(found.session.events)
        coach_of = player.able("coach")
        coach = await workers.answer(lambda: coach_of(found.temperature), player.able("is_coached")(found.temperature))
        explain = player.able("explain_advice")
        explained = await workers.run("adviser", lambda: explain(view, found.temperature))
        return {
            "n_events": n_events,
            "chances": [
                {"action": a, "name": action_name(a), "win": p, "why": explained.contrast(a)}
                for a, p in coach.win_chances(view).items()
            ],
            "expected": [
                {"action": a, "name": action_name(a), "probability": p} for a, p in coach.expected(view).items()
            ],
        }

"""A table for a user against agents or for two users, and the users' seats."""

import asyncio
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any

from punish_fast.play.punish.match import Finished, PunishMatch
from punish_fast.play.session import Match, PlaySession, ServedPlayer, SessionPlayer
from punish_fast.web.limits import Client
from punish_fast.web.workers import Workers

YOU = "you"
# Seconds to wait for a change at a table. Many proxies cancel requests after 60 seconds.
_WAIT_SECONDS = 25.0
# Minimum number of seconds for the first move in a game between two users.
_FIRST_SECONDS = 120.0
ID_BYTES = 24
# Entries of a view that both players know.
_PUBLIC = ("measure", "breath", "breaths", "discard", "deck", "own", "enemy")


@dataclass(eq=False)
class OpenSession:
    """Game of a user against agents, or of two users."""

    player: ServedPlayer  # opponent (in a game between two users, the agent that defines the rules)
    temperature: float | None  # softmax temperature of the opponent (None if the user did not choose one)
    session: PlaySession  # progress of the game
    match: Match  # full state, including hidden information
    seed: int  # random seed of the deals (the agent's choices use a separate secret seed)
    is_chosen: bool  # True if the user chose the seed (otherwise the seed is secret until the game is over)
    now: Callable[[], float]
    clock: float | None = None  # seconds per move in a game between two users (None in a game against agents)
    seats: list["Seat"] = field(default_factory=list)  # seats of the users at the table
    has_begun: bool = False
    again: set[int] = field(default_factory=set)  # seats of users who want to play again
    invitation: str = field(default_factory=lambda: secrets.token_urlsafe(ID_BYTES))  # secret name of the free seat
    watch: str = field(default_factory=lambda: secrets.token_urlsafe(ID_BYTES))  # secret name for spectators
    number: int = 1  # number of the game between the two users, from 1
    keeps: bool = False  # True to store the finished game in the database
    kept: int | None = None  # id of the game in the database (None if it is not stored)
    flaw: str | None = None  # reason why the game could not be stored
    previous: "OpenSession | None" = None  # previous game of the two users, kept for its review
    won: tuple[int, int] = (0, 0)  # previous games won by the user in each seat
    ended: str | None = None  # reason why a game between two users ended early
    version: int = 0  # number of visible changes at the table
    touched: float = 0.0  # time of the last request
    moved: float = 0.0  # time at which the clock of the current move starts
    chosen: float = -inf  # time of the last choice by a user
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self) -> None:
        """Begin the game."""
        self.session.begin()
        # Users need time to notice that the game has begun.
        self.has_begun, self.moved = True, self.now() + max(0.0, _FIRST_SECONDS - (self.clock or 0.0))
        self.change()

    @property
    def is_on(self) -> bool:
        """True if the game has begun and is not over."""
        return self.has_begun and self.ended is None and self.session.is_on

    @property
    def is_over(self) -> bool:
        """True if the game has begun and is over."""
        return self.has_begun and not self.is_on

    @property
    def score(self) -> tuple[int, int]:
        """Games won by the user in each seat, including this game if it is over."""
        winner = self.session.winner
        return self.won[0] + (winner == 0), self.won[1] + (winner == 1)

    @property
    def left(self) -> float | None:
        """Seconds left for the next move. None if there is no clock or the game is not running."""
        return None if self.clock is None or not self.is_on else max(0.0, self.moved + self.clock - self.now())

    def change(self) -> None:
        """Increment the version and wake all requests that wait for a change."""
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait(self, version: int | None) -> None:
        """Wait for a change at a table of two users if ``version`` is current.

        The wait ends after `_WAIT_SECONDS` or when the clock runs out.
        """
        if version == self.version and self.clock is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), min(_WAIT_SECONDS, self.left or _WAIT_SECONDS))

    def named(self, player: SessionPlayer) -> str:
        """Return the name of a player as shown to users."""
        is_agent = not player.is_human
        return player.name.replace(self.player.name, self.player.person, 1) if is_agent else player.name

    def end(self, words: str) -> None:
        """End a game between two users early. ``words`` is the reason."""
        self.ended = f"{words} The game is over and is not recorded."
        self.change()

    def check_clock(self) -> None:
        """End the game if no time is left for the current move."""
        if self.left == 0.0:
            late = " and ".join(self.session.seats[number].name for number in self.session.waiting)
            self.end(f"{late} did not move in time.")

    async def play_on(self, workers: Workers) -> None:
        """Make agents choose, and reveal all choices, until a user must choose or the game is over."""
        session, player = self.session, self.player
        while session.is_on and not session.waiting:
            others = [seat for seat in self.match.to_move if not session.is_person(seat)]
            if not player.moves_quickly:
                for seat in others:
                    action = await workers.think(partial(self._choice, seat), player.move_seconds)
                    session.choose(seat, player.hasty_action(session.view(seat).state) if action is None else action)
            session.reveal()
            self.moved = self.now()

    def _choice(self, seat: int, until: float) -> tuple[int | None, bool]:
        """Return an agent's choice and True, or (None, False) if the agent's search missed the deadline ``until``."""
        if not self.player.prepare(self.session.view(seat).state, until):
            return None, False
        return self.session.seats[seat].choice(self.match, seat), True

    def watched(self, since: int) -> dict[str, Any]:
        """Return what both users know as a JSON-like object, with all events from number ``since`` onward.

        The object does not depend on hands, or on choices before they are revealed.
        """
        session, presentation = self.session, self.player.presentation
        view = presentation.view(session.view(0)) if self.has_begun else None
        names = [player.name for player in session.seats]
        events = [presentation.event(event, 0, names) for event in session.events[since:]]
        for event in events:
            event.pop("hand", None)
        return {
            "number": self.number,
            "names": names,
            "rules": presentation.rules(),
            "is_on": not self.is_over,
            "winner": session.winner,
            "ended": self.ended,
            "score": self.score,
            "kept": self.kept,
            "view": view and {key: view[key] for key in _PUBLIC},
            "events": [{"n": n} | event for n, event in enumerate(events, since)],
            "n_events": len(session.events),
        }

    @property
    def finished(self) -> Finished:
        """The finished game, which must be Punish, for records and reviews."""
        first, second = self.session.seats
        assert self.session.winner is not None
        assert isinstance(self.match, PunishMatch)
        return Finished(self.match, (first, second), self.session.winner)

    def keep(self, game_id: int | None, flaw: str | None) -> None:
        """Store the game's id in the database, or the reason why the game could not be recorded."""
        self.kept, self.flaw = game_id, flaw
        self.change()


@dataclass(eq=False)
class Seat:
    """A user's seat at a table. A seat shows no information that is hidden from the user."""

    id: str  # secret name
    table: OpenSession
    number: int  # index of the seat in the game
    client: Client  # client that took the seat

    @property
    def session(self) -> PlaySession:
        """Progress of the game."""
        return self.table.session

    @property
    def view(self) -> Any:
        """Current position as seen by the user."""
        return self.session.view(self.number)

    def shown(self, since: int) -> dict[str, Any]:
        """Return the table as a JSON-like object for the user, with all events from number ``since`` onward."""
        table, session, presentation = self.table, self.session, self.table.player.presentation
        players = [*session.seats[self.number :], *session.seats[: self.number]]
        names = [YOU if seat == self.number else table.named(player) for seat, player in enumerate(session.seats)]
        told = session.events[since:]
        events = [{"n": n, **presentation.event(event, self.number, names)} for n, event in enumerate(told, since)]
        moves = presentation.moves(self.view) if table.has_begun else []
        return {
            "table": self.id,
            "game": presentation.game,
            "rules": presentation.rules(),
            "opponent": table.player.digest,
            "names": [table.named(player) for player in players],
            "seat": self.number,
            "is_on": not table.is_over,
            "winner": session.winner,
            "legal": moves if self.number in session.waiting and table.is_on else [],
            "view": presentation.view(self.view) if table.has_begun else None,
            "events": events,
            "uncovered": table.match.uncovered(self.number),
            "n_events": len(session.events),
            # The seed is secret during the game, because it determines future deals.
            "seed": str(table.seed) if table.is_chosen or table.is_over else None,
            **{name: getattr(table, name) for name in ("temperature", "keeps", "kept", "flaw")},
            "friend": None if table.clock is None else self._friend(moves),
        }

    def _friend(self, moves: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the state of a table for two users, without the move that the friend has chosen."""
        table, session, mine = self.table, self.session, self.session.chosen(self.number)
        return {
            **{name: getattr(table, name) for name in ("invitation", "watch", "version", "left", "ended")},
            "is_here": len(table.seats) > 1,
            "chosen": next((move for move in moves if move["action"] == mine), None),
            "has_chosen": session.chosen(1 - self.number) is not None,
            "score": [table.score[number] for number in (self.number, 1 - self.number)],
            "again": [number in table.again for number in (self.number, 1 - self.number)],
            # The previous game is stored in the background, possibly after this game has begun.
            "previous": None if table.previous is None else table.previous.kept,
        }

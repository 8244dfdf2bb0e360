"""Tables at which users play against agents or each other. Hidden information stays on the server.

Each user has a seat with a secret name. A game against agents begins when a user opens the table. A game between two
users begins when the second user takes a seat. In games between two users, requests can wait for changes at the table.
"""

import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

from fastapi import HTTPException

from punish_fast.play.punish.match import PunishMatch
from punish_fast.play.session import HumanPlayer, PlaySession, ServedPlayer
from punish_fast.web.limits import Client, Limits
from punish_fast.web.table import ID_BYTES, OpenSession, Seat

# Seconds without a request after which a running game expires, and after which a finished game expires.
_IDLE, _OVER = 3600.0, 900.0
# Seconds without a request after which a running game may be cleared to make room.
# A game between two users allows the same maximum time per move.
QUIET = 600.0
# Seconds after a choice during which a running game is cleared only if all games of its client are as recent.
_RECENT = 60.0
_NOBODY = Client("", "")


class OpenSessions:
    """Open tables, stored in memory."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._seats: dict[str, Seat] = {}

    def __len__(self) -> int:
        return len(self._tables)

    @property
    def _tables(self) -> list[OpenSession]:
        return list(dict.fromkeys(seat.table for seat in self._seats.values()))

    @property
    def players(self) -> list[ServedPlayer]:
        """Players at open tables."""
        return [table.player for table in self._tables if not self._is_stale(table)]

    def wake(self) -> None:
        """Wake all requests that wait for a change at any table."""
        for table in self._tables:
            table.change()

    def open(
        self,
        player: ServedPlayer,
        name: str,
        temperature: float | None,
        seed: int | None,
        seat: int = 0,
        client: Client = _NOBODY,
        clock: float | None = None,
    ) -> Seat:
        """Open a table for a user in a seat. Begin the game, or wait for a friend if ``clock`` is not None.

        Raise HTTPException 429 if there are too many games.
        """
        self._make_room(client)
        dealt = secrets.randbits(64) if seed is None else seed
        match = player.match(dealt, secrets.randbits(64))
        others = player.opponents(temperature) if clock is None else [HumanPlayer("your friend")]
        session = PlaySession(match, [*others[:seat], HumanPlayer(name), *others[seat:]])
        table = OpenSession(player, temperature, session, match, dealt, seed is not None, self._clock, clock)
        if clock is None:
            table.begin()
        return self._sit(table, seat, client)

    def _sit(self, table: OpenSession, number: int, client: Client) -> Seat:
        seat = Seat(secrets.token_urlsafe(ID_BYTES), table, number, client)
        table.touched = self._clock()
        table.seats.append(seat)
        self._seats[seat.id] = seat
        return seat

    def replay(self, seat: Seat, breath: int, client: Client) -> Seat:
        """Open a table for a finished game of Punish against an agent, beginning before a breath, counted from 1.

        The new game has the same cards. The agent's later choices are drawn again. Raise HTTPException 409 for
        other games, 422 if the game has no such breath, and 429 if there are too many games.
        """
        table, match = seat.table, seat.table.match
        if table.clock is not None or not table.is_over or not isinstance(match, PunishMatch):
            raise HTTPException(409, "table: only a finished game of Punish against an agent can be replayed")
        if breath > len(match.breaths):
            raise HTTPException(422, f"breath: {breath} is not allowed; the maximum is {len(match.breaths)}")
        self._make_room(client)
        again = table.player.match(table.seed, secrets.randbits(64))
        session = PlaySession(again, table.session.seats)
        new = OpenSession(table.player, table.temperature, session, again, table.seed, True, self._clock)
        new.flaw = "Replays are not saved."
        new.begin()
        for before in match.breaths[: breath - 1]:
            session.repeat(dict(enumerate(before.actions)))
        return self._sit(new, seat.number, client)

    def invited(self, invitation: str) -> Seat:
        """Return the host's seat. Raise HTTPException 404 for unknown invitations, and 409 if no seat is free."""
        table = self._known("invitation", (table for table in self._tables if table.invitation == invitation))
        if table.has_begun:
            raise HTTPException(409, "invitation: both seats of this table are taken; ask for a link of your own")
        return table.seats[0]

    def watched(self, watch: str) -> OpenSession:
        """Return a table by its secret name for spectators. Raise HTTPException 404 for unknown names."""
        return self._known("watch", (table for table in self._tables if table.watch == watch))

    def _known(self, kind: str, found: Iterator[OpenSession]) -> OpenSession:
        table = next(found, None)
        if table is None or self._is_stale(table):
            raise HTTPException(404, f"{kind}: unknown, or the game has ended; ask for a new link")
        return table

    def join(self, host: Seat, name: str, client: Client) -> Seat:
        """Take the free seat at a host's table and begin the game."""
        seat = self._sit(host.table, 1 - host.number, client)
        seat.session.seats = [HumanPlayer(name) if k == seat.number else p for k, p in enumerate(seat.session.seats)]
        seat.table.begin()
        return seat

    def play_again(self, seat: Seat) -> None:
        """Request another game between two users. The second request begins the game.

        Raises HTTPException 409 if a user has left, the game is not over, or the opponent is an agent.
        """
        table = seat.table
        if table.clock is None or not table.is_over or len(table.seats) < 2:
            raise HTTPException(409, "table: another game needs two people, who have finished this one")
        table.again.add(seat.number)
        if len(table.again) == 2:
            seed = secrets.randbits(64)
            match = table.player.match(seed, secrets.randbits(64))
            new = replace(table, match=match, seed=seed, session=PlaySession(match, table.session.seats), again=set())
            new.kept, new.flaw, new.ended, new.previous, table.previous = None, None, None, table, None
            new.won, new.number = table.score, table.number + 1
            for each in table.seats:
                each.table = new
            new.begin()
        table.change()

    def find(self, seat_id: str) -> Seat:
        """Return a seat by secret name. Raise HTTPException 404 if the name is unknown or the table has expired."""
        seat = self._seats.get(seat_id)
        if seat is None or self._is_stale(seat.table):
            why = "the server was restarted, or nobody moved for a long time"
            raise HTTPException(404, f"This game is lost, because {why}; start a new one.")
        seat.table.touched = self._clock()
        return seat

    def find_seen(self, seat_id: str, n_events: int) -> Seat:
        """Return a seat. Raise HTTPException 409 if the number of events is not ``n_events``."""
        seat = self.find(seat_id)
        n = len(seat.session.events)
        if n_events != n:
            raise HTTPException(409, f"n_events: {n_events}, but {n} events have happened; reload the table")
        return seat

    def find_on(self, seat_id: str, is_advised: bool = False) -> Seat:
        """Return a seat. Raise HTTPException 409 if its game is over or has not begun.

        Pass ``is_advised=True`` for requests for help, which raise the same error in a game between two users.
        """
        seat = self.find(seat_id)
        if not seat.table.is_on:
            raise HTTPException(409, f"table: the game {'is over' if seat.table.has_begun else 'has not begun'}")
        if is_advised and seat.table.clock is not None:
            raise HTTPException(409, "table: there is no help in a game between two people")
        return seat

    def leave(self, seat_id: str) -> None:
        """Leave a table and end its game. Raise the same error as `find`."""
        seat = self.find(seat_id)
        table = seat.table
        del self._seats[seat_id]
        table.seats.remove(seat)
        if table.is_on:
            table.end(f"{table.session.seats[seat.number].name} has left.")
        table.change()

    def _is_stale(self, table: OpenSession) -> bool:
        table.check_clock()
        idle = self._clock() - table.touched
        return idle > _OVER and (idle > _IDLE or table.is_over)

    def _clear(self, table: OpenSession) -> None:
        for seat in table.seats:
            del self._seats[seat.id]
        table.change()

    def _make_room(self, client: Client) -> None:
        """Clear tables until a client may open a new one. Raise HTTPException 429 if no table may be cleared."""
        # A table of two users counts toward the limits of both clients.
        limits = self._limits
        for table in self._tables:
            if self._is_stale(table):
                self._clear(table)
        for most, whose, words in (
            (limits.client_tables, client[:2], "you play"),
            (limits.address_tables, client[:1], f"are played from {client.address}"),
            (limits.tables, (), "are played here"),
        ):
            held = [t for t in self._tables if any(seat.client[: len(whose)] == whose for seat in t.seats)]
            if len(held) < most:
                continue
            removed = self._removable(held, client, whose)
            if removed is None:
                raise HTTPException(429, f"tables: {most:,} games {words} now; finish one, or try again later")
            self._clear(removed)

    def _removable(self, held: list[OpenSession], client: Client, whose: tuple[str, ...]) -> OpenSession | None:
        """Select a table to clear for a client. Return None if all tables must stay.

        ``held`` lists the tables of ``whose``: of a client, of an address, or of all clients if ``whose`` is empty.
        """
        now = self._clock()
        quietest = min(held, key=lambda table: (not table.is_over, table.touched))
        if quietest.is_over or now - quietest.touched > QUIET:
            return quietest
        crowd = Counter(part for table in held for part in {seat.client[:n] for seat in table.seats for n in (1, 2)})
        # For each table, the number of games per address and per client.
        rank = {t: max((crowd[seat.client[:1]], crowd[seat.client[:2]]) for seat in t.seats) for t in held}
        if not whose and max(rank.values())[0] <= crowd[client[:1]] + 1:
            # Counting the new game, no address has more games than this client's, so clear a table of this address.
            held = [table for table in held if any(seat.client[:1] == client[:1] for seat in table.seats)]
        oldest = max(held, key=lambda table: (rank[table], now - table.chosen > _RECENT), default=None)
        if whose == client[:2]:
            # Programs without a cookie might belong to different users, so clear a table rather than refuse the client.
            return None if client.session else oldest
        # At the limit of the server, clear only tables of an address that has more games, or of a client that has more
        # games at the same address.
        is_crowded = oldest is not None and rank[oldest] > (crowd[client[:1]], crowd[client[:2]] + 1)
        return oldest if whose or is_crowded else None

"""Finished games at the table, as records of a database or a log."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

from punish_fast.play.punish_match import PunishMatch
from punish_fast.play.seats import Agent, Person
from punish_fast.punish.space import StateSpace
from punish_fast.records.database import RecordsError
from punish_fast.records.importing import insert_logs
from punish_fast.records.logs import RecordedGame, Side, log_of, read_log, write_log
from punish_fast.runtime.files import write_text

# Games of the same players in as many seconds.
_MOST_TRIES = 1000


def record_of(match: PunishMatch, seats: tuple[Person, Person], winner: int, game_id: int) -> RecordedGame:
    """The record of a finished game; by custom its id is the Unix second in which it ended."""
    sides = [
        Side(
            name=player.name,
            number=tuple(range(len(match.breaths))),
            states=tuple(breath.states[seat] for breath in match.breaths),
            actions=tuple(breath.actions[seat] for breath in match.breaths),
            temperature=getattr(player, "temperature", None),
            is_bot=isinstance(player, Agent),
        )
        for seat, player in enumerate(seats)
    ]
    return RecordedGame(game_id, sides[winner], sides[1 - winner])


class Finished(NamedTuple):
    """A finished game: the match, the players and the seat that won."""

    match: PunishMatch
    seats: tuple[Person, Person]
    winner: int

    @property
    def players(self) -> frozenset[str]:
        """Their names."""
        return frozenset(player.name for player in self.seats)

    def record(self, game_id: int) -> RecordedGame:
        """Its record."""
        return record_of(self.match, self.seats, self.winner, game_id)


class Keeper:
    """Keeps finished games.

    Attributes:
        database: The database; None if games are not kept there.
        log: The log; None without.
    """

    def __init__(self, space: StateSpace, database: Path | None, log: Path | None) -> None:
        """Check the log, before any game is played.

        Raises:
            RecordsError: the log is none, or holds games that contradict themselves and would be lost.
        """
        self.database, self.log = database, log
        self._space = space
        self._layout = "breaths"
        self._logged: list[RecordedGame] = []
        if log is not None and log.exists() and log.stat().st_size:
            found = read_log(log)
            if found.refused:
                raise RecordsError(f"{log}: game {found.refused[0].id} contradicts itself; name another log")
            self._layout, self._logged = found.layout if found.games else "breaths", list(found.games)

    def keep(self, match: PunishMatch, seats: tuple[Person, Person], winner: int) -> int:
        """Keep a game; return its id in the database, or without one in the log. Errors as in `keep_all`."""
        return self.keep_all([Finished(match, seats, winner)])[0]

    def keep_all(self, games: Sequence[Finished]) -> list[int]:
        """Keep games that ended at about the same time; return their ids.

        Only one thread at a time may call this.

        Raises:
            RecordsError: the database takes no more games of these players in this moment.
            StoreError: a file cannot be written.
        """
        now = int(time.time())
        taken = {game.id for game in self._logged}
        # Players have one game in a second.
        following = {game.players: count(now) for game in games}
        waiting, ids = list(range(len(games))), [0] * len(games)
        for _ in range(_MOST_TRIES):
            records = {}
            for k in waiting:
                game_id = next(free for free in following[games[k].players] if free not in taken)
                records[k] = games[k].record(game_id)
            stored = self._store(list(records.values()))
            for k, game in records.items():
                ids[k] = stored.get(game, 0)
            waiting = [k for k, game in records.items() if game not in stored]
            if not waiting:
                return ids
        raise RecordsError(f"{self.database}: holds too many games of this moment; some are not kept")

    def _store(self, games: list[RecordedGame]) -> dict[RecordedGame, int]:
        """The ids under which the games were stored; those that were not are left out."""
        stored = {game: game.id for game in games}
        if self.database is not None:
            log = log_of(write_log(games, "games").encode(), "play.json")
            stored = insert_logs(self._space, [log], self.database).stored
        if self.log is not None and stored:
            write_text(self.log, write_log([*self._logged, *stored], self._layout))
            self._logged += stored
        return stored

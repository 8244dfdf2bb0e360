"""Finished games at the table, as records of a database or a log."""

from __future__ import annotations

import time
from pathlib import Path

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
        """Keep a game; return its id.

        Raises:
            RecordsError: the database takes no game of these players in this second.
            StoreError: a file cannot be written.
        """
        now = int(time.time())
        known = {game.id for game in self._logged}
        for game_id in range(now, now + _MOST_TRIES):
            game = record_of(match, seats, winner, game_id)
            if game_id not in known and (self.database is None or self._insert(game, self.database)):
                break
        else:
            raise RecordsError(f"{self.database}: holds too many games of this moment; this one is not kept")
        if self.log is not None:
            write_text(self.log, write_log([*self._logged, game], self._layout))
            self._logged.append(game)
        return game_id

    def _insert(self, game: RecordedGame, database: Path) -> bool:
        """Whether the database has taken the game."""
        log = log_of(write_log([game], "games").encode(), "play.json")
        return insert_logs(self._space, [log], database).imported == 1

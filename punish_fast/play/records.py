"""Finished games at the table, as records of a database or a log."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from punish_fast.play.punish_match import PunishMatch
from punish_fast.play.seats import Agent, Person
from punish_fast.punish.space import StateSpace
from punish_fast.records.database import RecordsError
from punish_fast.records.importing import record_games
from punish_fast.records.logs import LAYOUTS, RecordedGame, Side, read_log, write_log
from punish_fast.records.schema import new_id
from punish_fast.runtime.files import write_text
from punish_fast.runtime.folder_lock import file_lock


@dataclass(frozen=True)
class Finished:
    """A finished game: the match, the players, the seat that won, and the Unix second in which it ended."""

    match: PunishMatch
    seats: tuple[Person, Person]
    winner: int
    ended: int = field(default_factory=lambda: int(time.time()))

    def record(self) -> RecordedGame:
        """Return its record, with a new id."""
        sides = [
            Side(
                name=player.name,
                number=tuple(range(len(self.match.breaths))),
                states=tuple(breath.states[seat] for breath in self.match.breaths),
                actions=tuple(breath.actions[seat] for breath in self.match.breaths),
                temperature=getattr(player, "temperature", None),
                is_bot=isinstance(player, Agent),
            )
            for seat, player in enumerate(self.seats)
        ]
        return RecordedGame(new_id(), sides[self.winner], sides[1 - self.winner], self.ended)


class Keeper:
    """Keeps finished games.

    Attributes:
        database: The database; None if games are not kept there.
        log: The log; None without.
    """

    def __init__(self, space: StateSpace, database: Path | None, log: Path | None) -> None:
        """Check the log, before any game is played.

        Raises:
            RecordsError: If the log is not one, or if games in it cannot be read and would be lost.
        """
        self.database, self.log = database, log
        self._space = space
        if log is not None:
            _read_whole(log)

    def keep_all(self, games: Sequence[Finished]) -> list[int]:
        """Keep games; return their ids.

        Only one thread at a time may call this.

        Raises:
            RecordsError: If the database is of other rules, or cannot be used, or if games in the log cannot be read.
            StoreError: If a file cannot be written.
        """
        records = [game.record() for game in games]
        if self.database is not None:
            report = record_games(self._space, records, self.database)
            if report.imported < len(records):
                raise RecordsError(f"{self.database}: a game was not kept: {report.remarks[0].reason}")
        if self.log is not None:
            target = Path(os.path.realpath(self.log))
            # Other processes may have added games since.
            with file_lock(target.with_name(f".{target.name}.lock")):
                layout, logged = _read_whole(self.log)
                write_text(self.log, write_log([*logged, *records], layout))
        return [record.id for record in records]


def _read_whole(path: Path) -> tuple[str, tuple[RecordedGame, ...]]:
    """Return the layout and the games of a log, which may be missing or empty.

    Raises:
        RecordsError: If it is not a log, or if a game in it cannot be read.
    """
    if not path.exists() or path.stat().st_size == 0:
        return LAYOUTS[0], ()
    found = read_log(path)
    if found.refused or found.flaw:
        flaw = found.flaw or f"holds a game that cannot be read ({found.refused[0].reason})"
        raise RecordsError(f"{path}: {flaw}; name another log")
    return found.layout if found.games else LAYOUTS[0], found.games

"""Storage of finished games in a database."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from punish_fast.play.punish.match import PunishMatch
from punish_fast.play.session import SessionPlayer
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.database import RecordsError
from punish_fast.records.importing import record_games
from punish_fast.records.logs import RecordedGame, Side
from punish_fast.records.schema import new_id


@dataclass(frozen=True)
class Finished:
    """A finished game: the match, the players, the seat that won, and the Unix second in which it ended."""

    match: PunishMatch
    seats: Sequence[SessionPlayer]
    winner: int
    ended: int = field(default_factory=lambda: int(time.time()))

    def record(self) -> RecordedGame:
        """Return the record of the game, with a new id."""
        sides = [
            Side(
                name=player.name,
                number=tuple(range(len(self.match.breaths))),
                states=tuple(breath.states[seat] for breath in self.match.breaths),
                actions=tuple(breath.actions[seat] for breath in self.match.breaths),
                temperature=player.temperature,
                is_bot=not player.is_human,
            )
            for seat, player in enumerate(self.seats)
        ]
        return RecordedGame(new_id(), sides[self.winner], sides[1 - self.winner], self.ended)

    def keep(self, space: StateSpace, database: Path | None) -> int:
        """Store the game if there is a database, and return its id. Not thread-safe.

        ``space`` contains the states of the game under ``view``.
        """
        record = self.record()
        if database is not None:
            report = record_games(space, [record], database)
            if not report.imported:
                raise RecordsError(f"{database}: a game was not saved: {report.remarks[0].reason}")
        return record.id

"""Import of logs into a database: every game once, with a reason for every rejected game.

A game is identified by its id, the second in which it was played, and by its breaths. Two games can end in the same
second. The database holds one game per id, so the second one gets the next free id and keeps the id of its log beside
it. The original program merged the breaths of two such games; a game whose breaths are all part of a stored game with
its id therefore counts as known, whoever played it.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from punish_fast.punish.space import StateSpace
from punish_fast.records.database import open_to_write
from punish_fast.records.games import GameWriter, Origin, read_games
from punish_fast.records.logs import GameLog, RecordedGame, read_log
from punish_fast.records.validation import check_games

CONTRADICTION, CONFLICT, SAME_SECOND = "contradicts itself", "conflicts", "same second"
REJECTED, WARNING = "rejected", "warning"


@dataclass(frozen=True)
class Remark:
    """A rejected game, or a warning about an imported one.

    Attributes:
        verdict: ``"rejected"`` or ``"warning"``.
        kind: The kind of fault.
        reason: The fault and its place.
        game: The id of the game in its log.
        players: Their names, the winner's first if there is a winner.
        file: The log.
    """

    verdict: str
    kind: str
    reason: str
    game: int
    players: tuple[str, ...]
    file: str

    def as_mapping(self) -> dict[str, Any]:
        """The remark in JSON."""
        return vars(self) | {"players": list(self.players)}


@dataclass
class ImportReport:
    """The result of an import.

    Attributes:
        files: Path, layout, digest and number of games of each log.
        games: Number of games in all logs.
        imported: Number of imported games.
        known: Number of games that were in the database or in another log.
        remarks: Rejections and warnings.
        stored: The id in the database of each imported game.
    """

    files: list[dict[str, Any]]
    games: int = 0
    imported: int = 0
    known: int = 0
    remarks: list[Remark] = field(default_factory=list)
    stored: dict[RecordedGame, int] = field(default_factory=dict)

    def count(self, verdict: str) -> dict[str, int]:
        """Numbers of remarks with a verdict, by kind of fault."""
        return dict(Counter(remark.kind for remark in self.remarks if remark.verdict == verdict).most_common())

    @property
    def rejected(self) -> int:
        """Number of rejected games."""
        return sum(self.count(REJECTED).values())

    def as_mapping(self) -> dict[str, Any]:
        """The report in JSON."""
        return {
            "files": self.files,
            "games": self.games,
            "imported": self.imported,
            "known": self.known,
            "rejected": self.rejected,
            "rejected_by_kind": self.count(REJECTED),
            "warnings_by_kind": self.count(WARNING),
            "remarks": [remark.as_mapping() for remark in self.remarks],
        }


def import_logs(
    space: StateSpace, paths: Iterable[str | Path], database: str | Path, strict: bool = False
) -> ImportReport:
    """Read logs and import them with `insert_logs`.

    Raises:
        RecordsError: a file cannot be read or is no log.
    """
    return insert_logs(space, [read_log(path) for path in paths], database, strict)


def insert_logs(space: StateSpace, logs: Sequence[GameLog], database: str | Path, strict: bool = False) -> ImportReport:
    """Import logs into a database in one transaction.

    Args:
        space: The states of the game, under the rules that were played.
        logs: The logs.
        database: The database, created if there is none.
        strict: Reject games with any fault, not only unreachable states and illegal actions.

    Raises:
        RecordsError: the database holds something else.
        LockedError: another process kept the database locked.
        OutputError: the database may not be written to.
        WriteError: it could not be written to its end.
    """
    report, candidates = _examine(space, logs, strict)
    if candidates or Path(database).exists():
        imported = datetime.now(UTC).isoformat(timespec="seconds")
        with open_to_write(Path(database), creates=True) as connection:
            inserter = _Inserter(connection, imported, strict)
            for game, log, warnings in candidates:
                inserter.insert(game, log, warnings, report)
    return report


_Candidate = tuple[RecordedGame, GameLog, list[Remark]]


def _examine(space: StateSpace, logs: Sequence[GameLog], strict: bool) -> tuple[ImportReport, list[_Candidate]]:
    """A report on the rejected games, and the other games with their warnings."""
    report = ImportReport([_describe(log) for log in logs])
    report.games = sum(len(log.games) + len(log.refused) for log in logs)
    for log in logs:
        for refused in log.refused:
            remark = Remark(REJECTED, CONTRADICTION, refused.reason, refused.id, refused.names, str(log.path))
            report.remarks.append(remark)
    games = [(game, log) for log in logs for game in log.games]
    candidates = []
    for (game, log), faults in zip(games, check_games(space, [game for game, _ in games]), strict=True):
        rejects = [fault for fault in faults if fault.is_fatal or strict]
        if rejects:
            report.remarks.append(_remark(REJECTED, rejects[0].kind, rejects[0].reason, game, log))
        else:
            candidates.append((game, log, [_remark(WARNING, f.kind, f.reason, game, log) for f in faults]))
    return report, candidates


def _describe(log: GameLog) -> dict[str, Any]:
    games = len(log.games) + len(log.refused)
    return {"file": str(log.path), "layout": log.layout, "digest": log.digest, "games": games}


def _remark(verdict: str, kind: str, reason: str, game: RecordedGame, log: GameLog) -> Remark:
    return Remark(verdict, kind, reason, game.id, (game.winner.name, game.loser.name), str(log.path))


def _breaths_of(game: RecordedGame) -> Counter[tuple[int, int, int]]:
    """Counts of (1 for the winner else 0, state, action)."""
    sides = ((1, game.winner), (0, game.loser))
    return Counter((won, *choice) for won, side in sides for choice in zip(side.states, side.actions, strict=True))


class _Inserter:
    """Inserts games that a database does not hold, each under a free id."""

    def __init__(self, connection: sqlite3.Connection, imported: str, strict: bool) -> None:
        self._strict = strict
        self._imported = imported
        self._writer = GameWriter(connection)
        self._taken = {number for (number,) in connection.execute("SELECT game_id FROM games")}
        self._by_logged_id: dict[int, list[RecordedGame]] = {}
        for _, game in read_games(connection):
            self._by_logged_id.setdefault(game.id, []).append(game)

    def insert(self, game: RecordedGame, log: GameLog, warnings: list[Remark], report: ImportReport) -> None:
        """Insert a game unless it is known, and report it."""
        others = self._by_logged_id.setdefault(game.id, [])
        if any(_breaths_of(game) <= _breaths_of(other) for other in others):
            report.known += 1
            return
        names = game.winner.name, game.loser.name
        if any({other.winner.name, other.loser.name} == set(names) for other in others):
            reason = "the database holds another game of these players with this id"
            report.remarks.append(_remark(REJECTED, CONFLICT, reason, game, log))
            return
        number = game.id
        if number in self._taken:
            number = next(free for free in range(number, number + len(self._taken) + 1) if free not in self._taken)
            reason = f"another game has this id: {'not stored' if self._strict else f'stored as {number}'}"
            verdict = REJECTED if self._strict else WARNING
            report.remarks.append(_remark(verdict, SAME_SECOND, reason, game, log))
            if self._strict:
                return
        self._taken.add(number)
        others.append(game)
        self._writer.write(number, game, Origin(log.digest, self._imported))
        report.stored[game] = number
        report.imported += 1
        report.remarks += warnings

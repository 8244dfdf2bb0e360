"""Import of games from logs and databases. Each game is stored once. Rejected games are reported with a reason.

Games recorded by this program have random ids, which logs preserve. In the original program, the id of a game is the
Unix second of its end, so two games can have the same id. The second game is then stored under a random id, together
with its id in the log. The original program merged the breaths of games with the same id. Therefore, a game counts as
known, regardless of its players, if a stored game with the same id contains all its breaths. If two games only have the
same second of play, their players must also be the same.
"""

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from punish_fast.punish.states.space import StateSpace
from punish_fast.records.database import RecordsError, open_file, open_to_read, open_to_write
from punish_fast.records.games import GameWriter, Selection, read_games
from punish_fast.records.log_fields import explains, roundings_of
from punish_fast.records.logs import MALFORMED, REJECTED, WARNING, GameLog, RecordedGame, Remark, check_names, log_of
from punish_fast.records.schema import invalid_rows, new_id
from punish_fast.records.validation import FEINTS, UNREACHABLE, Fault, check_games
from punish_fast.runtime.files import SQLITE

CONFLICT, SAME_SECOND, ROUNDED, CUT_OFF = "conflicts", "same second", "rounded states", "cut off"


@dataclass
class ImportReport:
    """Result of an import."""

    # Path, layout, digest, number of games and flaw of each log. The flaw is the reason for an early stop, or None.
    files: list[dict[str, Any]]
    games: int = 0  # number of games in all logs
    imported: int = 0  # number of imported games
    known: int = 0  # number of games that are also in the database or in another log
    remarks: list[Remark] = field(default_factory=list)  # rejections and warnings

    def count(self, verdict: str) -> dict[str, int]:
        """Return the number of remarks with the given verdict, by kind of fault."""
        return dict(Counter(remark.kind for remark in self.remarks if remark.verdict == verdict).most_common())

    @property
    def rejected(self) -> int:
        """Number of rejected games."""
        return sum(self.count(REJECTED).values())

    def as_mapping(self) -> dict[str, Any]:
        """Return the report as a JSON-like dict."""
        return vars(self) | {
            "rejected": self.rejected,
            "cut_off": sum(file["flaw"] is not None for file in self.files),
            "rejected_by_kind": self.count(REJECTED),
            "warnings_by_kind": self.count(WARNING),
            "remarks": [vars(remark) for remark in self.remarks],
        }


def import_logs(space: StateSpace, paths: Iterable[str | Path], database: str | Path) -> ImportReport:
    """Read logs and other databases, and import their games with `insert_logs`."""
    return insert_logs(space, [_read(Path(path)) for path in paths], database)


def _read(path: Path) -> GameLog:
    with open_file(path) as file:
        is_database = file.read(len(SQLITE)) == SQLITE
        file.seek(0)
        if not is_database:
            return log_of(file.read(), path)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    with open_to_read(path) as connection:
        found = [game for _, game in read_games(connection)]
    games, refused = [], []
    for game in found:
        try:
            check_names([game])
            games.append(game)
        except RecordsError as error:
            refused.append(Remark(REJECTED, MALFORMED, str(error), game.id, ()))
    return GameLog(path, digest, "database", tuple(games), tuple(refused))


def record_games(space: StateSpace, games: Sequence[RecordedGame], database: str | Path) -> ImportReport:
    """Insert games recorded by this program with `insert_logs`. The games must have ids from `new_id`."""
    check_names(games)
    return insert_logs(space, [GameLog(Path("record"), None, "games", tuple(games), ())], database)


def insert_logs(space: StateSpace, logs: Sequence[GameLog], database: str | Path) -> ImportReport:
    """Import the games of logs, played under the rules of ``space``, into a database in one transaction.

    A missing database is created only if at least one game is valid.
    """
    report, candidates = _examine(space, logs)
    if candidates or Path(database).exists():
        with open_to_write(Path(database), creates=True) as connection:
            writer = GameWriter(connection)
            for candidate in candidates:
                _insert(connection, writer, candidate, report)
    return report


_Candidate = tuple[RecordedGame, GameLog, list[Remark]]


def _examine(space: StateSpace, logs: Sequence[GameLog]) -> tuple[ImportReport, list[_Candidate]]:
    """Return a report on truncated logs and rejected games, and the accepted games with warnings."""
    report = ImportReport([_describe(log) for log in logs])
    report.games = sum(len(log.games) + len(log.refused) for log in logs)
    for log in logs:
        if log.flaw:
            report.remarks.append(Remark(WARNING, CUT_OFF, f"the log {log.flaw}", None, (), str(log.path)))
        report.remarks += [replace(refused, file=str(log.path)) for refused in log.refused]
    candidates = []
    for log in logs:
        faults = check_games(space, log.games)
        rounded = _rounded_games(space, log, faults)
        for game, found in zip(log.games, faults, strict=True):
            if game in rounded:
                report.remarks.append(_remark(REJECTED, ROUNDED, _WHY_ROUNDED, game, log))
            elif found and found[0].is_fatal:
                report.remarks.append(_remark(REJECTED, found[0].kind, found[0].reason, game, log))
            else:
                candidates.append((game, log, [_remark(WARNING, f.kind, f.reason, game, log) for f in found]))
    return report, candidates


_WHY_ROUNDED = "another program has rounded the states to 53 bits; import the original log, with states as text"


def _rounded_games(space: StateSpace, log: GameLog, faults: Sequence[list[Fault]]) -> set[RecordedGame]:
    """Return the games whose states may be rounded codes of other reachable states."""
    # A game is suspect if it has unreachable states or, if states are numbers, faults other than wrong feints.
    # A suspect game is rounded if a rounding explains its states.
    # If states are numbers or a rounded game has unreachable states, the log has probably been rounded.
    # Then also return every game whose states can result from a rounding that leaves the log's states unchanged.
    codes = {game: [*game.winner.states, *game.loser.states] for game in log.games}
    rounded, is_proved = set(), log.in_numbers
    for game, found in zip(log.games, faults, strict=True):
        kinds = {fault.kind for fault in found}
        is_suspect = UNREACHABLE in kinds or (log.in_numbers and not kinds <= {FEINTS})
        if is_suspect and any(explains(each, space, codes[game]) for each in roundings_of(codes[game])):
            rounded.add(game)
            is_proved |= UNREACHABLE in kinds
    common = roundings_of(code for game in log.games for code in codes[game]) if is_proved else []
    return rounded | {game for game in log.games if any(explains(each, space, codes[game]) for each in common)}


def _describe(log: GameLog) -> dict[str, Any]:
    games = len(log.games) + len(log.refused)
    return {"file": str(log.path), "layout": log.layout, "digest": log.digest, "games": games, "flaw": log.flaw or None}


def _remark(verdict: str, kind: str, reason: str, game: RecordedGame, log: GameLog) -> Remark:
    return Remark(verdict, kind, reason, game.id, (game.winner.name, game.loser.name), str(log.path))


def _breaths_of(game: RecordedGame) -> Counter[tuple[int, int, int]]:
    """Count a game's choices as tuples of side (1 for the winner, 0 for the loser), state and action."""
    sides = ((1, game.winner), (0, game.loser))
    return Counter((won, *choice) for won, side in sides for choice in zip(side.states, side.actions, strict=True))


def _is_other_version(game: RecordedGame, other: RecordedGame) -> bool:
    """Return True if a game is another version of a stored game, with the same players and the same random id.

    A game of the original program must contain all breaths of the stored game and more. Its id is irrelevant.
    """
    same_players = {game.winner.name, game.loser.name} == {other.winner.name, other.loser.name}
    is_longer = _breaths_of(other) < _breaths_of(game)
    return same_players and (is_longer if game.played is None else game.id == other.id)


# Query for stored games that can be equal to a game from a log.
# Their id, in the database or in a log, is the game's id or second of play.
# If the original program recorded the game, all games of the same players in the same second are included.
# Each term uses an index.
_PLAYERS = "(SELECT player_id FROM players WHERE username IN (:winner, :loser))"
_CANDIDATES = (
    "SELECT game_id FROM games WHERE typeof(game_id) = 'integer' AND (game_id IN (:id, :second) OR logged_id IN"
    f" (:id, :second) OR (played = :only_second AND winner_id IN {_PLAYERS} AND loser_id IN {_PLAYERS}))"
)


def _insert(connection: sqlite3.Connection, writer: GameWriter, candidate: _Candidate, report: ImportReport) -> None:
    """Insert a game under a free id, unless the game is known or conflicts with a stored game. Update the report."""
    game, log, warnings = candidate
    keys = {"id": game.id, "second": game.second, "only_second": game.id if game.played is None else None}
    names = {"winner": game.winner.name, "loser": game.loser.name}
    numbers = [number for (number,) in connection.execute(_CANDIDATES, keys | names)]
    others = [other for number in numbers for _, other in read_games(connection, Selection(game=number))]
    if any(_breaths_of(game) <= _breaths_of(other) for other in others):
        report.known += 1
        return
    if any(_is_other_version(game, other) for other in others):
        reason = "the database contains another version of this game"
        report.remarks.append(_remark(REJECTED, CONFLICT, reason, game, log))
        return
    number = game.id
    if number in numbers:
        number = new_id()
        reason = f"another game has this id: stored as {number}"
        report.remarks.append(_remark(WARNING, SAME_SECOND, reason, game, log))
    connection.execute("SAVEPOINT game")
    writer.write(number, game, log.digest)
    if faults := invalid_rows(connection, number):
        connection.execute("ROLLBACK TO game")
        report.remarks.append(_remark(REJECTED, MALFORMED, faults[0], game, log))
    else:
        report.imported += 1
        report.remarks += warnings
    connection.execute("RELEASE game")

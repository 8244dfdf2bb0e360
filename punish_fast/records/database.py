"""The SQLite database of recorded games: tables, opening, migration.

The original program keeps four tables::

    players          player_id, username, is_bot
    bot_parameters   paramset_id, temperature
    games            game_id (Unix seconds), winner_id, loser_id, winner_paramset_id, loser_paramset_id
    breaths          game_id, is_winner, state (18 digits), action (two digits)      one row per choice

That is version 0 (``PRAGMA user_version``). Version 1 adds columns, and version 2 adds ``played`` and indexes::

    games            imported (when, ISO 8601), source_digest (SHA-256 of the log; NULL for games recorded here),
                     logged_id (the id in the log), played (Unix seconds)
    breaths          number (0 for a player's first choice of the game)

Games of the original keep its ids, Unix seconds below `LAST_SECOND`. Other games have random ids between `LAST_SECOND`
and 2^53, since games can end in the same second and many programs round numbers above 2^53.

The original program still reads and writes version 2, because it names its columns in these two tables; in its rows
the new columns are NULL and breaths are in the order of insertion. It fills ``players`` by position, so that table must
stay as it is. For players without parameters the original writes the text ``NULL`` or nothing.

A database of an older version is read through a migrated copy in memory and migrated by the first write.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path

from punish_fast.runtime.files import OutputError, WriteError
from punish_fast.runtime.json_values import brief

FORMAT_VERSION = 2

# How long to wait for another process that writes.
BUSY_SECONDS = 10.0

_TABLES = {
    "players": ("player_id INT NOT NULL", "username TEXT NOT NULL", "is_bot INT NOT NULL", "PRIMARY KEY (player_id)"),
    "bot_parameters": ("paramset_id INT NOT NULL", "temperature FLOAT", "PRIMARY KEY (paramset_id)"),
    "games": (
        "game_id INT NOT NULL",
        "winner_id INT NOT NULL",
        "loser_id INT NOT NULL",
        "winner_paramset_id INT",
        "loser_paramset_id INT",
        "PRIMARY KEY (game_id)",
        "FOREIGN KEY (winner_id) REFERENCES players(player_id)",
        "FOREIGN KEY (loser_id) REFERENCES players(player_id)",
        "FOREIGN KEY (winner_paramset_id) REFERENCES bot_parameters(paramset_id)",
        "FOREIGN KEY (loser_paramset_id) REFERENCES bot_parameters(paramset_id)",
    ),
    "breaths": (
        "game_id INT NOT NULL",
        "is_winner INT NOT NULL",
        "state INT NOT NULL",
        "action INT NOT NULL",
        "FOREIGN KEY (game_id) REFERENCES games(game_id)",
    ),
}
_ADDED = {
    "games": ("imported TEXT", "source_digest TEXT", "logged_id INT", "played INT"),
    "breaths": ("number INT",),
}
# Indexes that make the time of an insertion independent of the number of games.
_INDEXED = (("players", "username"), ("games", "logged_id"), ("games", "played"), ("breaths", "game_id"))

# The largest ids, times of play (the end of the year 9999), numbers of breaths, states (18 digits), temperatures.
LAST_ID, LAST_SECOND, LAST_BREATH, LAST_STATE = 2**53 - 1, 253_402_300_799, 10**6, 10**18 - 1
MAX_TEMPERATURE = 1e300


def _within(column: str, last: int) -> str:
    return f"typeof({column}) = 'integer' AND {column} BETWEEN 0 AND {last}"


# Conditions that every row must satisfy.
_LAWS = {
    "players": {
        "player_id": "typeof(player_id) = 'integer'",
        "username": "typeof(username) = 'text'",
        "is_bot": "is_bot IN (0, 1)",
    },
    "bot_parameters": {
        "paramset_id": "typeof(paramset_id) = 'integer'",
        "temperature": "temperature IS NULL OR typeof(temperature) IN ('real', 'integer')"
        f" AND temperature BETWEEN 0 AND {MAX_TEMPERATURE}",
    },
    "games": {
        "game_id": _within("game_id", LAST_ID),
        "winner_id": "winner_id IN (SELECT player_id FROM players)",
        "loser_id": "loser_id IN (SELECT player_id FROM players) AND loser_id IS NOT winner_id",
        "logged_id": f"logged_id IS NULL OR {_within('logged_id', LAST_ID)}",
        "played": _within("coalesce(played, game_id)", LAST_SECOND),
    },
    "breaths": {
        "game_id": "game_id IN (SELECT game_id FROM games)",
        "is_winner": "is_winner IN (0, 1)",
        "state": _within("state", LAST_STATE),
        # Ten times the card, and 1 for a feint.
        "action": f"{_within('action', 99)} AND action % 10 <= 1",
        "number": f"number IS NULL OR {_within('number', LAST_BREATH)}",
    },
}
# Steps of SQLite's machine on a connection, about a minute; and after how many it asks whether to go on.
_MAX_STEPS, _STEPS_AT_ONCE = 5_000_000_000, 100_000


class RecordsError(Exception):
    """A database or log that cannot be used; the message names the file and the fault."""


class LockedError(RecordsError):
    """A database locked by another process."""


_UNFINISHED = (
    OutputError,
    "another process was killed while it wrote; make the file and its folder writable, so that SQLite can undo that",
)
# Errors by SQLite's result codes, extended or primary.
_ERRORS: dict[int, tuple[type[Exception], str]] = {
    sqlite3.SQLITE_READONLY_ROLLBACK: _UNFINISHED,
    sqlite3.SQLITE_READONLY_CANTLOCK: _UNFINISHED,
    sqlite3.SQLITE_READONLY_RECOVERY: _UNFINISHED,
    sqlite3.SQLITE_BUSY: (LockedError, "is locked by another process; nothing was changed"),
    sqlite3.SQLITE_LOCKED: (LockedError, "is locked by another process; nothing was changed"),
    sqlite3.SQLITE_READONLY: (OutputError, "may not be written to; nothing was changed"),
    sqlite3.SQLITE_PERM: (OutputError, "may not be written to; nothing was changed"),
    sqlite3.SQLITE_FULL: (WriteError, "no space left on the disk; nothing was changed"),
    sqlite3.SQLITE_IOERR: (WriteError, "cannot be read or written to its end; nothing was changed"),
    sqlite3.SQLITE_NOTADB: (RecordsError, "is no SQLite database"),
    sqlite3.SQLITE_CORRUPT: (RecordsError, "is a damaged database"),
    sqlite3.SQLITE_CANTOPEN: (RecordsError, "cannot be opened here"),
    sqlite3.SQLITE_INTERRUPT: (RecordsError, "takes too long to read; nothing was changed"),
    sqlite3.SQLITE_TOOBIG: (RecordsError, "holds a value that is too large; nothing was changed"),
}


@contextmanager
def open_to_read(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database of recorded games for reading, at the current version, and check every row.

    A file without tables, which a process leaves that is killed before its first commit, is a database without games.

    Raises:
        RecordsError: If the file is missing, cannot be read or holds something else.
        LockedError: If another process is writing to it.
        OutputError: If a killed process left a change that cannot be undone without write access.
    """
    _require_file(path, "database")
    # SQLite needs write access to undo an unfinished change; without one, it reads files that are read-only.
    with _explained(path), closing(_connect(path, "rw")) as stored, closing(_connect(None)) as migrated:
        # One transaction, so that everything read is consistent.
        stored.execute("BEGIN")
        connection = stored
        if _version_of(path, stored) < FORMAT_VERSION:
            stored.backup(migrated)
            stored.rollback()
            connection = migrated
            for trigger in _triggers_of(migrated):
                migrated.execute(f"DROP TRIGGER {_quoted(trigger)}")
            migrate(path, migrated)
        else:
            _require_tables(path, stored, is_current=True)
            _require_laws(path, stored)
        connection.execute("PRAGMA query_only = ON")
        yield connection


@contextmanager
def open_to_write(path: Path, creates: bool = False, erases: bool = False) -> Iterator[sqlite3.Connection]:
    """Open a database of recorded games in a transaction, migrated to the current version.

    The transaction is committed when the block ends. If the block fails or changes no row, the file stays as it was.
    Only one process at a time can write; others wait. All rows are checked before a migration and if ``erases`` is
    set; otherwise the time does not depend on the number of games.

    Args:
        path: The database.
        creates: Create it if there is none.
        erases: Overwrite deleted and replaced data in the file.

    Raises:
        RecordsError: it cannot be opened, or is no database of recorded games.
        LockedError: another process kept it locked, or keeps data in its files that was to be erased.
        OutputError: it may not be written to.
        WriteError: it could not be written to its end; nothing was changed.
    """
    is_new = creates and not _exists(path)
    if not is_new:
        _require_file(path, "database")
    with _explained(path), closing(_connect(path, "rwc" if creates else "rw")) as connection:
        try:
            with _transaction(path, connection, erases):
                yield connection
            if erases:
                _erase_log(path, connection)
        finally:
            if is_new:
                _remove_if_empty(path)


@contextmanager
def _transaction(path: Path, connection: sqlite3.Connection, erases: bool) -> Iterator[None]:
    """A transaction that migrates and is rolled back if the block fails or changes no row."""
    if erases:
        connection.execute("PRAGMA secure_delete = ON")
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version_of(path, connection)
        for trigger in _triggers_of(connection):
            raise RecordsError(f"{path}: has a trigger, {brief(trigger)}, which may change what is written; drop it")
        if version < FORMAT_VERSION:
            migrate(path, connection)
        else:
            _require_tables(path, connection, is_current=True)
            if erases:
                _require_laws(path, connection)
        before = connection.total_changes
        yield
    except BaseException:
        connection.rollback()
        raise
    if connection.total_changes == before:
        connection.rollback()
    else:
        connection.commit()


def _erase_log(path: Path, connection: sqlite3.Connection) -> None:
    """Move a write-ahead log, which keeps old data, into the database."""
    is_busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if is_busy:
        kept = "its files keep what was replaced or deleted until that process closes them"
        raise LockedError(f"{path}: the change was made, but another process reads the database, and {kept}")


def _remove_if_empty(path: Path) -> None:
    """Remove a new file into which nothing was written; SQLite writes nothing to a file that was removed."""
    with suppress(OSError):
        if path.stat().st_size == 0:
            path.unlink()


def migrate(path: Path, connection: sqlite3.Connection) -> None:
    """Bring an empty database or one of an older version to the current version, within the open transaction.

    Raises:
        RecordsError: If it holds something else.
    """
    if not _kinds_of(connection):
        for table, columns in _TABLES.items():
            connection.execute(f"CREATE TABLE {table}({', '.join(columns)})")
    _require_tables(path, connection)
    for table, columns in _ADDED.items():
        there = _columns_of(connection, table)
        for column in columns:
            if column.split()[0] not in there:
                connection.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    _require_laws(path, connection)
    # Version 1 gave a game the next free second as its id if another game had its second.
    connection.execute(f"UPDATE games SET played = logged_id WHERE played IS NULL AND logged_id <= {LAST_SECOND}")
    for table, column in _INDEXED:
        connection.execute(f"CREATE INDEX IF NOT EXISTS {table}_{column} ON {table}({column})")
    connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")


def new_id() -> int:
    """Return a random id of a game, which no Unix second of a game can equal."""
    return LAST_SECOND + 1 + secrets.randbelow(LAST_ID - LAST_SECOND)


def _columns_of(connection: sqlite3.Connection, table: str) -> list[str]:
    """Return the column names of a table, or an empty list if the table is missing."""
    return [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]


def _connect(path: Path | None, mode: str = "") -> sqlite3.Connection:
    """Connect to a file, or to a new database in memory."""
    address = ":memory:" if path is None else f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    steps = count(_STEPS_AT_ONCE, _STEPS_AT_ONCE)
    connection.set_progress_handler(lambda: next(steps) > _MAX_STEPS, _STEPS_AT_ONCE)
    return connection


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return True


def read_file(path: Path, what: str) -> bytes:
    """Return the bytes of a regular file.

    Raises:
        RecordsError: it cannot be read; ``what`` it should be is named for a folder.
    """
    _require_file(path, what)
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from None


def _require_file(path: Path, what: str) -> None:
    """Check that a path is a regular file.

    The file is not opened: closing it again would release all locks that this process holds on a database.
    """
    try:
        if path.is_dir():
            raise RecordsError(f"{path}: is a folder, not a {what}")
        if not path.exists():
            raise RecordsError(f"{path}: there is no such file")
        if not path.is_file():
            raise RecordsError(f"{path}: is no regular file")
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> RecordsError:
    return RecordsError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})")


def _kinds_of(connection: sqlite3.Connection) -> dict[str, str]:
    """What each name in the database is: a table, a view, an index or a trigger."""
    kind = "CASE WHEN sql LIKE 'CREATE VIRTUAL%' THEN 'virtual table' ELSE type END"
    return dict(connection.execute(f"SELECT name, {kind} FROM sqlite_master"))


def _triggers_of(connection: sqlite3.Connection) -> list[str]:
    return [name for name, kind in _kinds_of(connection).items() if kind == "trigger"]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _version_of(path: Path, connection: sqlite3.Connection) -> int:
    """Return the version of a database, after SQLite has undone the change that a killed process left unfinished.

    Raises:
        RecordsError: If it is no SQLite database, or of a later version.
    """
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    # SQLite takes a file of one byte for an empty database, and would overwrite it.
    if path.stat().st_size == 1:
        raise RecordsError(f"{path}: is no SQLite database")
    if version > FORMAT_VERSION:
        this = f"this one reads versions up to {FORMAT_VERSION}"
        raise RecordsError(f"{path}: version {version} was written by a newer punish-fast, update it; {this}")
    if version < 0:
        raise RecordsError(f"{path}: user_version is {version}, allowed are 0 to {FORMAT_VERSION}")
    return version


def _require_tables(path: Path, connection: sqlite3.Connection, is_current: bool = False) -> None:
    """Check the tables and columns of version 0, or of the current version."""
    kinds = _kinds_of(connection)
    for table, columns in _TABLES.items():
        if table not in kinds:
            raise RecordsError(f"{path}: is no database of recorded games, it has no table {table}")
        # A view may hide work without end.
        if kinds[table] != "table":
            raise RecordsError(f"{path}: {table} is a {kinds[table]}, it must be a table")
        there = _columns_of(connection, table)
        for column in (*columns, *(_ADDED.get(table, ()) if is_current else ())):
            name = column.split()[0]
            if name not in ("PRIMARY", "FOREIGN") and name not in there:
                raise RecordsError(f"{path}: table {table} has no column {name}")


def _require_laws(path: Path, connection: sqlite3.Connection) -> None:
    for table, laws in _LAWS.items():
        law = " AND ".join(f"({law})" for law in laws.values())
        broken = connection.execute(f"SELECT {', '.join(laws)} FROM {table} WHERE ({law}) IS NOT 1 LIMIT 1").fetchone()
        if broken is not None:
            values = ", ".join(f"{column} {brief(value)}" for column, value in zip(laws, broken, strict=True))
            raise RecordsError(f"{path}: table {table} has an invalid row: {values}")


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Errors of SQLite in one line."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translated(path, error) from None
    except UnicodeError:
        raise RecordsError(f"{path}: is a damaged database, or holds text that is not UTF-8") from None


def _translated(path: Path, error: sqlite3.Error) -> Exception:
    code = getattr(error, "sqlite_errorcode", 0)
    kind, text = _ERRORS.get(code) or _ERRORS.get(code & 0xFF) or (RecordsError, f"cannot be used ({error})")
    return kind(f"{path}: {text}")

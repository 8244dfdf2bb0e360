"""Access to a database of recorded games, for reading or for writing in one transaction."""

import os
import sqlite3
import time
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any

from punish_fast.records import schema
from punish_fast.runtime.errors import (
    MOST_OF_LINE,
    DataWarning,
    OutputError,
    PunishFastError,
    WriteError,
    brief,
    printable,
)
from punish_fast.runtime.files import fault_of_input, replacing

# Maximum number of seconds to wait while another process writes.
BUSY_SECONDS = 10.0
# Maximum size of a text, blob or row in bytes. SQLite does not read longer values.
_MOST_BYTES = 1_000_000
# Maximum number of games in a message.
_MOST_GAMES = 5
_REPAIR = "punish-fast records repair removes"

_FileState = tuple[tuple[int, ...], ...]
# States of files whose rows were checked. Two changes within `_SETTLED_SECONDS` might leave the same file times.
_checked: dict[Path, _FileState] = {}
_SETTLED_SECONDS = 2.0


class RecordsError(PunishFastError):
    """Raised when a database or log cannot be used, or an argument for recorded games is invalid."""


class LockedError(RecordsError):
    """Raised when a database is locked by another process."""

    exit_code = 1


# Exception classes by SQLite's primary result code. All other codes result in `RecordsError`.
_ERRORS: dict[int, type[PunishFastError]] = {
    sqlite3.SQLITE_BUSY: LockedError,
    sqlite3.SQLITE_LOCKED: LockedError,
    sqlite3.SQLITE_READONLY: OutputError,
    sqlite3.SQLITE_PERM: OutputError,
    sqlite3.SQLITE_FULL: WriteError,
    sqlite3.SQLITE_IOERR: WriteError,
}
# Advice for some errors, by SQLite's extended result code.
_UNFINISHED = "another process was killed while writing; make the file and folder writable so that SQLite can repair it"
_ADVICE = {
    sqlite3.SQLITE_READONLY_ROLLBACK: _UNFINISHED,
    sqlite3.SQLITE_READONLY_CANTLOCK: _UNFINISHED,
    sqlite3.SQLITE_READONLY_RECOVERY: _UNFINISHED,
    sqlite3.SQLITE_READONLY_DIRECTORY: "its folder is not writable, but SQLite writes files there; copy it elsewhere",
    sqlite3.SQLITE_NOTADB: "is not an SQLite database of recorded games",
    sqlite3.SQLITE_TOOBIG: f"contains a text or blob of more than {_MOST_BYTES:,} bytes, which {_REPAIR}",
}


@contextmanager
def open_to_read(path: Path, warning: type[Warning] = DataWarning) -> Iterator[sqlite3.Connection]:
    """Open a database of recorded games for reading. Check all rows if the file has changed since the last check.

    Invalid rows and their games are omitted, and a warning of the class ``warning`` describes them. A database of an
    older version or with invalid rows is read through a migrated temporary copy. A file without tables, which remains
    if a process is killed before its first commit, is read as a database without games.
    """
    _require_file(path)
    # SQLite needs write access to roll back an unfinished change. The mode "rw" also allows read-only files.
    with _explained(path), closing(_connect(path, "rw")) as stored, closing(_connect(None)) as copy:
        before = _state_of(path)
        # A single transaction makes all reads consistent.
        stored.execute("BEGIN")
        connection = stored
        is_current = _version_of(path, stored) == schema.FORMAT_VERSION
        if not is_current or (_checked.get(path) != _state_of(path) and schema.invalid_rows(stored)):
            stored.backup(copy)
            stored.rollback()
            connection = copy
            for trigger in schema.triggers_of(copy):
                copy.execute('DROP TRIGGER "{}"'.format(trigger.replace('"', '""')))
            schema.migrate(copy)
            if found := schema.invalid_rows(copy):
                warnings.warn(_left_out(path, found, schema.remove_invalid_rows(copy)), warning, stacklevel=3)
        else:
            _remember(path, before)
        connection.execute("PRAGMA query_only = ON")
        yield connection


def _left_out(path: Path, found: list[str], games: list[int]) -> str:
    """Return a warning about invalid rows and their games."""
    named = ", ".join(map(str, games[:_MOST_GAMES])) + ", ..." * (len(games) > _MOST_GAMES)
    return f"{path}: {'; '.join(found)}; games left out: {len(games):,} ({named or 'none'}); {_REPAIR} invalid rows"


def _state_of(path: Path) -> _FileState:
    """Return the times, sizes and inodes of a database and its write-ahead log, omitting missing and empty files."""
    found: list[tuple[int, ...]] = []
    for end in ("", "-wal"):
        with suppress(OSError):
            status = Path(f"{path.resolve()}{end}").stat()
            if status.st_size:
                found.append((status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev))
    return tuple(found)


def _remember(path: Path, state: _FileState) -> None:
    """Record that all rows were checked, unless the last change is too recent to distinguish later changes by time."""
    settled = time.time_ns() - int(_SETTLED_SECONDS * 1e9)
    if all(max(status[:2]) < settled for status in state):
        _checked[path] = state


@contextmanager
def open_to_write(path: Path, creates: bool = False, erases: bool = False) -> Iterator[sqlite3.Connection]:
    """Open a database of recorded games, migrated to the current version, in a write transaction.

    The transaction is committed at the end of the block. If the block fails or changes no row, the file is unchanged. A
    new file then remains empty. It is not deleted, because another process might have opened it. Only one process at a
    time can write. Other processes wait up to `BUSY_SECONDS`. The time to open a database of the current version does
    not depend on the number of games. Rows are checked only if ``erases`` is True. A warning then describes the
    first invalid row, because it might contain data that should be erased.

    Args:
        creates: If True, create a missing database.
        erases: If True, overwrite deleted and replaced data in the file.
    """
    if not creates or os.path.exists(path):  # noqa: PTH110 - accepts invalid file names
        _require_file(path)
    with _explained(path), closing(_connect(path, "rwc" if creates else "rw")) as connection:
        with _transaction(path, connection, erases):
            yield connection
        if erases:
            _erase_log(path, connection)


@contextmanager
def _transaction(path: Path, connection: sqlite3.Connection, erases: bool) -> Iterator[None]:
    """Run the block in a transaction that migrates the database. Roll back if the block fails or changes no row."""
    if erases:
        connection.execute("PRAGMA secure_delete = ON")
    connection.execute("BEGIN IMMEDIATE")
    n_merged = 0
    try:
        version = _version_of(path, connection)
        for trigger in schema.triggers_of(connection):
            raise RecordsError(f"{path}: has a trigger, {brief(trigger)}, which may change written data; drop it")
        if version < schema.FORMAT_VERSION:
            n_merged = schema.migrate(connection)
        before = connection.total_changes
        yield
        found = schema.invalid_rows(connection) if erases else []
    except BaseException:
        connection.rollback()
        raise
    if connection.total_changes == before:
        connection.rollback()
        return
    connection.commit()
    if n_merged:
        warnings.warn(f"{path}: merged players whose names are spellings of one name: {n_merged:,}", stacklevel=2)
    if found:
        kept = f"{path}: {found[0]}, which may contain erased data; {_REPAIR} it"
        warnings.warn(kept, DataWarning, stacklevel=2)


def repair(path: Path) -> dict[str, Any]:
    """Copy a database, and remove invalid rows and their games from the original.

    The name of the copy has ``-before-repair`` after the stem. An existing file is not replaced. Removed rows are
    overwritten in the database, but remain in the copy.

    Returns:
        The path ``database``, the path ``copy`` (None if all rows are valid), a description of the first invalid row in
        each table as ``invalid``, and the ids of the removed games as ``games``.
    """
    _require_file(path)
    with _explained(path), closing(_connect(path, "rw")) as connection, closing(_connect(path, "rw")) as stored:
        # Copy the database before the migration.
        stored.execute("BEGIN")
        stored.execute("PRAGMA user_version")
        # Texts of any length must be removable.
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2**31 - 1)
        # Prevent writes before the commit, because they would wait for the lock of `stored`.
        connection.execute("PRAGMA cache_spill = OFF")
        with _transaction(path, connection, erases=True):
            invalid = schema.invalid_rows(connection)
            report: dict[str, Any] = {"database": path, "copy": None, "invalid": invalid, "games": []}
            if not invalid:
                return report
            copy = path.with_stem(f"{path.stem}-before-repair")
            if os.path.lexists(copy):
                raise OutputError(f"{copy}: already exists; move it away before the next repair")
            with replacing(copy) as temporary:
                temporary.touch(path.stat().st_mode)
                with closing(_connect(temporary, "rw")) as written:
                    stored.backup(written)
            stored.rollback()
            report |= {"copy": copy, "games": schema.remove_invalid_rows(connection)}
        _erase_log(path, connection)
        return report


def _erase_log(path: Path, connection: sqlite3.Connection) -> None:
    """Merge the write-ahead log, which contains erased data, into the database. Raise `LockedError` if in use."""
    is_busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if is_busy:
        kept = "its files keep replaced and deleted data until that process closes them"
        raise LockedError(f"{path}: the change was made, but another process is reading the database, and {kept}")


def _connect(path: Path | None, mode: str = "") -> sqlite3.Connection:
    """Connect to a file, or to a new temporary database if ``path`` is None."""
    address = "" if path is None else f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    connection.create_function("is_utf8", 1, schema.is_utf8, deterministic=True)
    return connection


@contextmanager
def open_file(path: Path) -> Iterator[BufferedReader]:
    """Open a regular file to read bytes."""
    _require_file(path)
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise RecordsError(f"{path}: cannot be read ({error.strerror})") from None


def _require_file(path: Path) -> None:
    """Raise `RecordsError` if a path is not a regular file."""
    # Do not open the file, because closing it would release all locks of this process on the database.
    if fault := fault_of_input(path):
        raise RecordsError(f"{path}: {fault}")


def _version_of(path: Path, connection: sqlite3.Connection) -> int:
    """Return the version of a database, or the previous version if names must be normalized."""
    # With this query, SQLite rolls back unfinished changes of killed processes.
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    # Reject a file of one byte. SQLite would treat it as an empty database and overwrite it.
    if path.stat().st_size == 1:
        raise RecordsError(f"{path}: is not an SQLite database")
    if version < 0:
        raise RecordsError(f"{path}: user_version is {version}; it must be from 0 to {schema.FORMAT_VERSION}")
    if version > schema.FORMAT_VERSION:
        this = f"this one reads versions up to {schema.FORMAT_VERSION}; update it"
        raise RecordsError(f"{path}: version {version} was written by a newer punish-fast; {this}")
    if version == schema.FORMAT_VERSION:
        schema.require_tables(connection, is_current=True)
        version -= schema.has_other_spellings(connection)
    return version


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Convert database errors to exceptions of this package with one-line messages."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0)
        kind = _ERRORS.get(code & 0xFF)
        text = printable(f"{path}: {_ADVICE.get(code, error)}", MOST_OF_LINE)
        raise (RecordsError(text) if kind is None else kind(f"{text}; nothing was changed")) from None
    except schema.SchemaError as error:
        raise RecordsError(f"{path}: {error}") from None
    except UnicodeError:
        raise RecordsError(f"{path}: is a damaged database, or contains text that is not UTF-8") from None

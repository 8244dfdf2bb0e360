"""Damaged databases of recorded games: by their schema, by their rows, and by their bytes."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import numpy as np

TABLES = {
    "players": ("player_id", "username", "is_bot"),
    "bot_parameters": ("paramset_id", "temperature"),
    "games": (
        *("game_id", "winner_id", "loser_id", "winner_paramset_id", "loser_paramset_id"),
        *("imported", "logged_id", "played"),
    ),
    "breaths": ("game_id", "is_winner", "state", "action", "number"),
}
# SQL literals.
VALUES = (
    *("NULL", "0", "1", "-1", "2", "5", "91", "99", "255", "1e30", "-9e999", "9e999", "0.5", "''", "'x'", "'NULL'"),
    *("9223372036854775807", "-9223372036854775808", "1000000000000000000", "253402300800", "x'00ff'"),
    *("'A' || char(10) || 'n'", "char(27) || '[2J'", "char(0)", "hex(zeroblob(50000))", "zeroblob(100000)"),
    *("CAST(x'ff' AS TEXT)", "char(55357)", "'naive'", "'Ann'", "'101010200220000001'", "random()"),
)
_MOST_PAGES = 1000
_SCRIPTS = (
    "DROP TABLE {table}",
    "ALTER TABLE {table} RENAME TO other",
    "ALTER TABLE {table} RENAME COLUMN {column} TO other",
    "ALTER TABLE {table} DROP COLUMN {column}",
    "ALTER TABLE {table} ADD COLUMN more DEFAULT {value}",
    "ALTER TABLE {table} ADD COLUMN more AS ({column} || {value})",
    "DELETE FROM {table}",
    "DELETE FROM {table} WHERE rowid % 3 = 1",
    "INSERT INTO {table} SELECT * FROM {table} LIMIT 1",
    "PRAGMA user_version = {number}",
    "PRAGMA application_id = {number}",
    "PRAGMA encoding = 'UTF-16'; VACUUM",
    "PRAGMA auto_vacuum = FULL; PRAGMA page_size = 512; VACUUM",
    "PRAGMA journal_mode = WAL",
    "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; UPDATE {table} SET {column} = {column}",
    "CREATE INDEX slow ON {table}({column}, {value})",
    "CREATE UNIQUE INDEX one ON {table}({column})",
    "CREATE TRIGGER stay BEFORE DELETE ON {table} BEGIN SELECT RAISE(IGNORE); END",
    "CREATE TRIGGER stay BEFORE UPDATE ON {table} BEGIN SELECT RAISE(ABORT, 'no'); END",
    "CREATE TRIGGER more AFTER INSERT ON {table} BEGIN DELETE FROM {table}; END",
    "ALTER TABLE {table} RENAME TO other; CREATE VIEW {table} AS SELECT * FROM other",
    "ALTER TABLE {table} RENAME TO other; CREATE TABLE {table} AS SELECT * FROM other",
    "ALTER TABLE {table} RENAME TO other; CREATE TABLE {table} AS SELECT * FROM other WHERE 0",
    "DROP TABLE {table}; CREATE VIEW {table} AS WITH RECURSIVE n({column}) AS (SELECT 1 UNION ALL SELECT {column} + 1"
    " FROM n) SELECT * FROM n",
    "DROP TABLE {table}; CREATE VIRTUAL TABLE {table} USING fts5({columns})",
    "DROP TABLE {table}; CREATE TABLE {table}({columns}, PRIMARY KEY ({column})) WITHOUT ROWID",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = {value} WHERE name = '{table}'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 1 + rootpage % 5 WHERE name = '{table}'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET type = 'view' WHERE name = '{table}'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET name = 'x', tbl_name = 'x' WHERE name = '{table}'",
)
_UPDATES = (
    "UPDATE {table} SET {column} = {value}",
    "UPDATE {table} SET {column} = {value} WHERE rowid = {number}",
    "UPDATE {table} SET {column} = {column} + {value} WHERE rowid = {number}",
    "UPDATE {table} SET {column} = {column} * 10 WHERE rowid % {number} = 1",
    # Without the table's constraints.
    "CREATE TABLE other AS SELECT * FROM {table}; DROP TABLE {table}; ALTER TABLE other RENAME TO {table};"
    " UPDATE {table} SET {column} = {value} WHERE rowid = {number}",
)


def mutate(path: Path, generator: np.random.Generator) -> None:
    for _ in range(generator.integers(1, 4)):
        if generator.random() < 0.3:
            path.write_bytes(damaged(path.read_bytes(), generator))
        else:
            _run(path, generator)


def _run(path: Path, generator: np.random.Generator) -> None:
    """Run a script; what SQLite refuses to do is left out."""
    scripts = _UPDATES if generator.random() < 0.5 else _SCRIPTS
    table = list(TABLES)[generator.integers(len(TABLES))]
    script = scripts[generator.integers(len(scripts))].format(
        table=table,
        column=TABLES[table][generator.integers(len(TABLES[table]))],
        columns=", ".join(TABLES[table]),
        value=VALUES[generator.integers(len(VALUES))],
        number=generator.integers(1, 9),
    )
    with suppress(sqlite3.Error, UnicodeError), closing(sqlite3.connect(path, isolation_level=None)) as connection:
        # A copy of a view without end would fill the disk.
        connection.execute(f"PRAGMA max_page_count = {_MOST_PAGES}")
        connection.executescript(script)


def damaged(content: bytes, generator: np.random.Generator) -> bytes:
    """A database file with other bytes in its header, in a page, or at its end."""
    changed = bytearray(content)
    if not changed:
        return content
    way, page = int(generator.integers(5)), 4096
    begin = int(generator.integers(-(-len(changed) // page))) * page
    if way == 0:
        for _ in range(generator.integers(1, 9)):
            changed[generator.integers(min(100, len(changed)))] = generator.integers(256)
    elif way == 1:
        for _ in range(generator.integers(1, 9)):
            changed[generator.integers(len(changed))] = generator.integers(256)
    elif way == 2:  # the head of a page: its kind, and where its cells are
        for _ in range(generator.integers(1, 9)):
            changed[min(begin + int(generator.integers(60)), len(changed) - 1)] = generator.integers(256)
    elif way == 3:
        other = int(generator.integers(-(-len(changed) // page))) * page
        changed[begin : begin + page] = changed[other : other + page]
    else:
        del changed[int(generator.integers(len(changed))) :]
    return bytes(changed)

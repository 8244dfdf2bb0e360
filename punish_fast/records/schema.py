"""Schema of the SQLite database of recorded games, migration of older versions, and normalization of player names.

The original program uses four tables::

    players          player_id, username, is_bot
    bot_parameters   paramset_id, temperature
    games            game_id (Unix seconds), winner_id, loser_id, winner_paramset_id, loser_paramset_id
    breaths          game_id, is_winner, state (18 digits), action (two digits)      one row per choice

These tables are version 0 (``PRAGMA user_version``). Version 1 adds columns. Version 2 adds ``played`` and indexes::

    games            imported (time, ISO 8601), source_digest (SHA-256 of the log; NULL for games recorded here),
                     logged_id (id in the log), played (Unix seconds)
    breaths          number (0 for a player's first choice of the game)

Version 3 adds a table::

    puzzles          player_id, day (ISO 8601), state, is_right      one row per player and answered puzzle of the day

Games of the original program keep their ids, Unix seconds up to `LAST_SECOND`, unless the id is taken. Other games have
random ids between `LAST_SECOND` and 2^53, because several games can end in the same second, and many programs round
numbers above 2^53.

The original program can read and write version 3, because its queries list the columns of ``games`` and ``breaths``. In
the rows that it inserts, the new columns are NULL. The order of insertion is the order of a game's breaths. The columns
of ``players`` must not change, because the original program inserts into this table by position. For players without
parameters, it writes the text ``NULL`` or a null value as ``paramset_id``.

A database of an older version is read through a migrated temporary copy. The first write migrates the file.
"""

import secrets
import sqlite3
import sys
from collections import defaultdict
from typing import NamedTuple

from punish_fast.records.names import LONGEST_NAME, clean_name, numbered_names
from punish_fast.runtime.errors import PunishFastError, brief

FORMAT_VERSION = 3

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
# Tables of version 3.
_LATER = {
    "puzzles": (
        "player_id INT NOT NULL",
        "day TEXT NOT NULL",
        "state INT NOT NULL",
        "is_right INT NOT NULL",
        "PRIMARY KEY (player_id, day)",
        "FOREIGN KEY (player_id) REFERENCES players(player_id)",
    ),
}
_ADDED = {"games": ("imported TEXT", "source_digest TEXT", "logged_id INT", "played INT"), "breaths": ("number INT",)}
# Indexed columns. These indexes keep insertions fast even for many games.
_INDEXED = (("players", "username"), ("games", "logged_id"), ("games", "played"), ("breaths", "game_id"))

# Maximum id, time of play (end of the year 9999), number of a breath, and state (18 digits).
# Played and simulated games have at most 100,000 breaths.
LAST_ID, LAST_SECOND, LAST_BREATH, LAST_STATE = 2**53 - 1, 253_402_300_799, 99_999, 10**18 - 1
MAX_TEMPERATURE = sys.float_info.max


def _within(column: str, last: int) -> str:
    return f"typeof({column}) = 'integer' AND {column} BETWEEN 0 AND {last}"


def _has_parameters(column: str) -> str:
    return f"typeof({column}) <> 'integer' OR {column} IN (SELECT paramset_id FROM bot_parameters)"


_N_BREATHS = "(SELECT count(*) FROM breaths WHERE breaths.game_id = games.game_id)"
# Number of choices in a game with the same number as another choice of the same player.
_N_REPEATED = (
    "(SELECT count(number) - count(DISTINCT 2 * number + is_winner) FROM breaths"
    " WHERE breaths.game_id = games.game_id AND typeof(number) = 'integer')"
)
# Conditions for the rows of each table, by column.
_LAWS = {
    "players": {
        "player_id": "typeof(player_id) = 'integer'",
        # The length of a text in SQL excludes everything after a null character, so convert it to a blob.
        "username": f"typeof(username) = 'text' AND length(CAST(username AS BLOB)) <= {4 * LONGEST_NAME}"
        " AND is_utf8(CAST(username AS BLOB))",
        "is_bot": "is_bot IN (0, 1)",
    },
    "bot_parameters": {
        "paramset_id": "typeof(paramset_id) = 'integer'",
        # SQLite reads 9e999 as infinity.
        "temperature": "temperature IS NULL OR typeof(temperature) IN ('real', 'integer')"
        " AND temperature >= 0 AND temperature < 9e999",
    },
    "games": {
        "game_id": _within("game_id", LAST_ID),
        "winner_id": "winner_id IN (SELECT player_id FROM players)",
        "loser_id": "loser_id IN (SELECT player_id FROM players) AND loser_id IS NOT winner_id",
        "winner_paramset_id": _has_parameters("winner_paramset_id"),
        "loser_paramset_id": _has_parameters("loser_paramset_id"),
        "logged_id": f"logged_id IS NULL OR {_within('logged_id', LAST_ID)}",
        "played": _within("coalesce(played, game_id)", LAST_SECOND),
        f"{_N_BREATHS} AS choices": f"{_N_BREATHS} <= {2 * (LAST_BREATH + 1)}",
        f"{_N_REPEATED} AS repeated": f"{_N_REPEATED} = 0",
    },
    "breaths": {
        "game_id": "game_id IN (SELECT game_id FROM games)",
        "is_winner": "is_winner IN (0, 1)",
        "state": _within("state", LAST_STATE),
        # An action is ten times the card, plus 1 for a feint.
        "action": f"{_within('action', 99)} AND action % 10 <= 1",
        "number": f"number IS NULL OR {_within('number', LAST_BREATH)}",
    },
    "puzzles": {
        "player_id": "player_id IN (SELECT player_id FROM players)",
        "day": "typeof(day) = 'text' AND date(day) IS day",
        "state": _within("state", LAST_STATE),
        "is_right": "is_right IN (0, 1)",
    },
}


LAWS = {table: " AND ".join(f"({law})" for law in laws.values()) for table, laws in _LAWS.items()}
_INVALID = {table: f"({law}) IS NOT 1" for table, law in LAWS.items()}
# Conditions that select the rows of the game ``:game`` in tables without game ids.
_SIDES = "SELECT winner_{0} FROM games WHERE game_id = :game UNION SELECT loser_{0} FROM games WHERE game_id = :game"
_OF_GAME = {
    "players": f"player_id IN ({_SIDES.format('id')})",
    "bot_parameters": f"paramset_id IN ({_SIDES.format('paramset_id')})",
    "puzzles": "0",
}
# Condition for a game with an invalid choice.
_HAS_INVALID = f"game_id IN (SELECT game_id FROM breaths WHERE {_INVALID['breaths']})"


class SchemaError(PunishFastError):
    """Raised for a database with a different schema. The message does not contain the file name."""


def migrate(connection: sqlite3.Connection) -> int:
    """Migrate an empty or older database within the open transaction, and return the number of merged players.

    Invalid rows remain unchanged (see `remove_invalid_rows`).
    """
    if not _kinds_of(connection):
        for table, columns in _TABLES.items():
            connection.execute(f"CREATE TABLE {table}({', '.join(columns)})")
    require_tables(connection)
    for table, columns in _LATER.items():
        connection.execute(f"CREATE TABLE IF NOT EXISTS {table}({', '.join(columns)})")
    for table, columns in _ADDED.items():
        there = _columns_of(connection, table)
        for column in columns:
            if column.split()[0] not in there:
                connection.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    require_tables(connection, is_current=True)
    # If two games ended in the same second, version 1 stored the second game under the next free second.
    connection.execute(f"UPDATE games SET played = logged_id WHERE played IS NULL AND logged_id <= {LAST_SECOND}")
    for table, column in _INDEXED:
        connection.execute(f"CREATE INDEX IF NOT EXISTS {table}_{column} ON {table}({column})")
    n_merged = merge_spellings(connection)
    connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
    return n_merged


def new_id() -> int:
    """Return a random game id greater than any Unix second of play."""
    return LAST_SECOND + 1 + secrets.randbelow(LAST_ID - LAST_SECOND)


def _columns_of(connection: sqlite3.Connection, table: str) -> list[str]:
    """Return the column names of a table, or an empty list if the table is missing."""
    return [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]


def _kinds_of(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the kind of each object in a database by name: table, virtual table, view, index or trigger."""
    kind = "CASE WHEN sql LIKE 'CREATE VIRTUAL%' THEN 'virtual table' ELSE type END"
    return dict(connection.execute(f"SELECT name, {kind} FROM sqlite_master"))


def is_utf8(raw: bytes | None) -> bool:
    """Return True if bytes are UTF-8. Connections of `database` provide this function to SQL."""
    try:
        (raw or b"").decode()
    except UnicodeDecodeError:
        return False
    return True


def triggers_of(connection: sqlite3.Connection) -> list[str]:
    """Return the names of all triggers."""
    return [name for name, kind in _kinds_of(connection).items() if kind == "trigger"]


def require_tables(connection: sqlite3.Connection, is_current: bool = False) -> None:
    """Raise `SchemaError` if a table or column of version 0 (of the current version if ``is_current``) is missing."""
    kinds = _kinds_of(connection)
    for table, columns in (_TABLES | (_LATER if is_current else {})).items():
        if table not in kinds:
            raise SchemaError(f"is not a database of recorded games; it has no table {table}")
        # Reject views, because the query of a view might not terminate.
        if kinds[table] != "table":
            raise SchemaError(f"{table} is a {kinds[table]}; it must be a table")
        there = _columns_of(connection, table)
        for column in (*columns, *(_ADDED.get(table, ()) if is_current else ())):
            name = column.split()[0]
            if name not in ("PRIMARY", "FOREIGN") and name not in there:
                raise SchemaError(f"table {table} has no column {name}")


def invalid_rows(connection: sqlite3.Connection, game: int | None = None) -> list[str]:
    """Describe the first invalid row in each table, or among the rows of a game. The list is empty if all are valid.

    The connection must decode text with the error handler ``surrogateescape`` (see `database`).
    """
    found = []
    for table, laws in _LAWS.items():
        where = _INVALID[table] + ("" if game is None else f" AND {_OF_GAME.get(table, 'game_id = :game')}")
        rows = connection.execute(f"SELECT {', '.join(laws)} FROM {table} WHERE {where} LIMIT 1", {"game": game})
        for row in rows:
            values = (f"{name[0]} {brief(value)}" for name, value in zip(rows.description, row, strict=True))
            found.append(f"table {table} has an invalid row: {', '.join(values)}")
    return found


def remove_invalid_rows(connection: sqlite3.Connection) -> list[int]:
    """Delete all invalid rows and their games in a migrated database, and return the ids of these games.

    Raises:
        SchemaError: If an invalid row is left, because the schema suppresses deletions.
    """
    for table in ("players", "bot_parameters", "puzzles"):
        connection.execute(f"DELETE FROM {table} WHERE {_INVALID[table]}")
    games = f"{_INVALID['games']} OR {_HAS_INVALID}"
    numbers = f"SELECT game_id FROM games WHERE typeof(game_id) = 'integer' AND ({games})"
    removed = [game for (game,) in connection.execute(numbers)]
    connection.execute(f"DELETE FROM games WHERE {games}")
    connection.execute(f"DELETE FROM breaths WHERE {_INVALID['breaths']}")
    for fault in invalid_rows(connection):
        raise SchemaError(fault)
    return removed


class _Row(NamedTuple):
    """Row of ``players``. Rows with a normalized name are first in sorted order."""

    is_other_spelling: bool
    number: int
    is_bot: int


def has_other_spellings(connection: sqlite3.Connection) -> bool:
    """Return True if any player's name is not normalized. The original program can write such names."""
    # The query excludes almost all normalized names.
    suspects = "username GLOB '*[^!-~ ]*' OR username GLOB ' *' OR username GLOB '* ' OR username GLOB '*  *'"
    names = connection.execute(f"SELECT username FROM players WHERE ({suspects}) AND {LAWS['players']}")
    return any(clean_name(name) != name for (name,) in names)


def merge_spellings(connection: sqlite3.Connection) -> int:
    """Normalize all player names and merge players whose names become equal, within the open transaction.

    A bot is not merged with a human player, and players who met in a game are not merged. One of the names then gets a
    number. Return the number of removed players.
    """
    groups: dict[str, list[_Row]] = defaultdict(list)
    players = f"SELECT player_id, username, is_bot FROM players WHERE {LAWS['players']}"
    for number, name, is_bot in connection.execute(players):
        groups[clean_name(name)].append(_Row(name != clean_name(name), number, is_bot))
    changed = {name: sorted(rows) for name, rows in groups.items() if len(rows) > 1 or rows[0].is_other_spelling}
    if not changed:
        return 0
    met = {frozenset(pair) for pair in connection.execute("SELECT winner_id, loser_id FROM games")}
    taken = set(groups)
    n_merged = 0
    for name, rows in changed.items():
        for k, (first, *others) in enumerate(_people(rows, met)):
            spelling = name if k == 0 else next(each for each in numbered_names(name) if each not in taken)
            taken.add(spelling)
            connection.execute("UPDATE players SET username = ? WHERE player_id = ?", (spelling, first.number))
            for other in others:
                for side in ("winner_id", "loser_id"):
                    connection.execute(f"UPDATE games SET {side} = ? WHERE {side} = ?", (first.number, other.number))
                ids = first.number, other.number
                connection.execute("UPDATE OR IGNORE puzzles SET player_id = ? WHERE player_id = ?", ids)
                for table in ("puzzles", "players"):
                    connection.execute(f"DELETE FROM {table} WHERE player_id = ?", ids[1:])
            n_merged += len(others)
    return n_merged


def _people(rows: list[_Row], met: set[frozenset[int]]) -> list[list[_Row]]:
    """Group rows that can be the same player: all bots or all human players, and no two met in a game."""
    people: list[list[_Row]] = []
    for row in rows:
        for person in people:
            if all(row.is_bot == each.is_bot and {row.number, each.number} not in met for each in person):
                person.append(row)
                break
        else:
            people.append([row])
    return people

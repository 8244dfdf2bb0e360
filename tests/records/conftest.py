"""Small databases and logs of games played at random, and the real ones where there are any."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from playing import RULES, some_games

from punish_fast.punish.states.space import StateSpace
from punish_fast.records import database
from punish_fast.records.importing import import_logs
from punish_fast.records.logs import RecordedGame, write_log

# The tables as the original makes them.
ORIGINAL = """
CREATE TABLE players(player_id INT NOT NULL, username TEXT NOT NULL, is_bot INT NOT NULL, PRIMARY KEY (player_id));
CREATE TABLE bot_parameters(paramset_id INT NOT NULL, temperature FLOAT, PRIMARY KEY (paramset_id));
CREATE TABLE games(game_id INT NOT NULL, winner_id INT NOT NULL, loser_id INT NOT NULL, winner_paramset_id INT,
    loser_paramset_id INT, PRIMARY KEY (game_id), FOREIGN KEY (winner_id) REFERENCES players(player_id),
    FOREIGN KEY (loser_id) REFERENCES players(player_id));
CREATE TABLE breaths(game_id INT NOT NULL, is_winner INT NOT NULL, state INT NOT NULL, action INT NOT NULL,
    FOREIGN KEY (game_id) REFERENCES games(game_id));
INSERT INTO players VALUES (1, 'Ann', 0), (2, 'Ben', 0), (3, 'naive', 1);
INSERT INTO bot_parameters VALUES (1, 0.0);
INSERT INTO games VALUES (100, 1, 2, 'NULL', 'NULL'), (200, 3, 2, 1, NULL);
INSERT INTO breaths VALUES (200, 1, 101010200220000001, 20), (200, 0, 110100200220000001, 90),
    (100, 1, 101010200220000001, 40), (100, 1, 201000200210010101, 20), (100, 0, 110100200220000001, 10),
    (100, 0, 200100200110010101, 91);
"""


def run_sql(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)


def query(path: Path, statement: str) -> list[tuple]:
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = lambda raw: raw.decode(errors="surrogateescape")
        return connection.execute(statement).fetchall()


def dump(path: Path) -> list[tuple]:
    """Return the schema and all rows of a database; in Python 3.13, ``iterdump`` fails on virtual tables."""
    schema = query(path, "SELECT type, name, sql FROM sqlite_master")
    tables = [name for kind, name, _ in schema if kind == "table"]
    return schema + [row for name in tables for row in query(path, f'SELECT * FROM "{name}"')]


@pytest.fixture
def original(tmp_path: Path) -> Path:
    """A database of the original: two games, one with a bot, and an action that is no action."""
    path = tmp_path / "original.db"
    run_sql(path, ORIGINAL)
    return path


@pytest.fixture(scope="session")
def space() -> StateSpace:
    return StateSpace(RULES)


@pytest.fixture(scope="session")
def games() -> list[RecordedGame]:
    return some_games(30)


@pytest.fixture
def log(tmp_path: Path, games: list[RecordedGame]) -> Path:
    path = tmp_path / "saves.json"
    path.write_text(write_log(games))
    return path


@pytest.fixture
def db(tmp_path: Path, space: StateSpace, log: Path) -> Path:
    """A database into which `log` was imported."""
    path = tmp_path / "games.db"
    import_logs(space, [log], path)
    return path


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)


@pytest.fixture(scope="session")
def real_db() -> Path:
    return _real("PUNISH_FAST_GAMES_DB")


@pytest.fixture(scope="session")
def real_logs() -> list[Path]:
    return sorted(_real("PUNISH_FAST_SAVES").glob("*saves*.json"))


def _real(variable: str) -> Path:
    if not os.environ.get(variable):
        pytest.skip(f"{variable} names no real games")
    return Path(os.environ[variable])

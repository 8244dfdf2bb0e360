import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from punish_fast.records import database, schema
from punish_fast.records.database import LockedError, RecordsError, open_to_read, open_to_write, repair
from punish_fast.records.schema import FORMAT_VERSION, invalid_rows
from punish_fast.runtime.errors import DataWarning, OutputError
from records.conftest import dump, query, run_sql

TABLES = ("bot_parameters", "breaths", "games", "players", "puzzles")


def test_an_original_database_is_read_as_it_is(original):
    before = original.read_bytes()
    original.chmod(0o400)
    with open_to_read(original) as connection:
        assert connection.execute("SELECT count(*) FROM breaths").fetchone() == (6,)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            connection.execute("DELETE FROM breaths")
    assert original.read_bytes() == before
    assert [path.name for path in original.parent.iterdir()] == [original.name]


def test_writing_migrates_in_the_same_transaction_and_once(original, db, monkeypatch):
    with open_to_write(original) as connection:
        connection.execute("INSERT INTO players VALUES (4, 'Cay', 0)")
    assert query(original, "PRAGMA user_version") == [(FORMAT_VERSION,)]
    columns = {table: [row[1] for row in query(original, f"PRAGMA table_info({table})")] for table in TABLES}
    assert columns["breaths"][-1] == "number"
    assert columns["games"][-4:] == ["imported", "source_digest", "logged_id", "played"]
    assert len(columns["players"]) == 3
    monkeypatch.setattr(schema, "migrate", lambda _connection: pytest.fail("it is migrated, which takes long"))
    for opened in (open_to_read, open_to_write):
        with opened(db) as connection:
            assert connection.execute("SELECT count(*) FROM games").fetchone() == (30,)


def test_a_migration_keeps_the_time_of_play_beside_ids_that_were_moved(original):
    """Version 1 moved the id of a game to the next free second."""
    run_sql(
        original,
        "ALTER TABLE games ADD imported TEXT; ALTER TABLE games ADD source_digest TEXT; ALTER TABLE games ADD logged_id"
        " INT; ALTER TABLE breaths ADD number INT; UPDATE games SET logged_id = 150 WHERE game_id = 200;"
        " PRAGMA user_version = 1",
    )
    times = "SELECT game_id, coalesce(played, game_id) FROM games ORDER BY game_id"
    with open_to_read(original) as connection:
        assert connection.execute(times).fetchall() == [(100, 100), (200, 150)]
    with open_to_write(original) as connection:
        connection.execute("INSERT INTO players VALUES (4, 'Cay', 0)")
    assert query(original, times) == [(100, 100), (200, 150)]


@pytest.mark.parametrize(
    "script",
    [
        "PRAGMA encoding = 'UTF-16'; VACUUM",
        "PRAGMA page_size = 512; VACUUM",
        "PRAGMA journal_mode = WAL",
        'CREATE TRIGGER "a ""stop" BEFORE UPDATE ON games BEGIN SELECT RAISE(ABORT, \'no\'); END',
        "CREATE INDEX games_logged_id ON games(winner_id)",
    ],
)
def test_an_older_database_of_any_settings_is_read_as_the_current_version(original, script):
    run_sql(original, script)
    with open_to_read(original) as connection:
        assert connection.execute("SELECT count(played), count(*) FROM games").fetchone() == (0, 2)
        assert connection.execute("PRAGMA user_version").fetchone() == (FORMAT_VERSION,)


@pytest.mark.parametrize("opened", [open_to_read, open_to_write])
def test_what_a_killed_process_left_is_undone(original, opened):
    """A process is killed in the middle of a commit."""
    before = dump(original)
    journal = Path(f"{original}-journal")
    many = "WITH RECURSIVE n(k) AS (SELECT 9 UNION ALL SELECT k + 1 FROM n WHERE k < 9999) SELECT k, 'x' || k, 0 FROM n"
    with closing(sqlite3.connect(original, isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN")
        connection.execute(f"INSERT INTO players {many}")
        contents = {path: path.read_bytes() for path in (original, journal)}
    for path, content in contents.items():
        path.write_bytes(content)
    with opened(original) as connection:
        assert connection.execute("SELECT count(*) FROM players").fetchone() == (3,)
    assert dump(original) == before


def test_a_reader_leaves_the_locks_of_a_writer_in_its_process_alone(original):
    """A process loses its locks on a file when it closes any of its descriptors of it."""
    insert = f"import sqlite3; sqlite3.connect({str(original)!r}, timeout=0).execute('DELETE FROM breaths')"
    with open_to_write(original) as connection:
        connection.execute("INSERT INTO players VALUES (4, 'Cay', 0)")
        with open_to_read(original) as reader:
            assert reader.execute("SELECT count(*) FROM players").fetchone() == (3,)
        done = subprocess.run([sys.executable, "-c", insert], capture_output=True, text=True, check=False)
    assert "database is locked" in done.stderr


def test_nothing_changes_if_nothing_is_written_or_something_fails(original):
    before = original.read_bytes()
    with open_to_write(original):
        pass
    with pytest.raises(ZeroDivisionError), open_to_write(original) as connection:
        connection.execute("DELETE FROM breaths")
        connection.execute(f"INSERT INTO players VALUES ({1 // 0}, '', 0)")
    with pytest.raises(RecordsError, match="UNIQUE"), open_to_write(original) as connection:
        connection.execute("INSERT INTO players VALUES (4, 'Cay', 0)")
        connection.execute("INSERT INTO players VALUES (4, 'Dan', 0)")
    assert original.read_bytes() == before
    # A database with a trigger is read but not written.
    run_sql(original, "CREATE TRIGGER stay BEFORE DELETE ON players BEGIN SELECT RAISE(IGNORE); END")
    before = original.read_bytes()
    with open_to_read(original) as connection:
        assert connection.execute("SELECT count(*) FROM players").fetchone() == (3,)
    with pytest.raises(RecordsError, match="has a trigger, 'stay', which may change written data"):
        open_to_write(original).__enter__()
    assert original.read_bytes() == before


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("PRAGMA user_version = 4", "version 4 was written by a newer punish-fast; this one reads"),
        ("PRAGMA user_version = -5", r"user_version is -5; it must be from 0 to 3$"),
        ("DROP TABLE breaths", "no table breaths"),
        ("ALTER TABLE games DROP COLUMN loser_paramset_id", "table games has no column loser_paramset_id"),
        ("ALTER TABLE breaths RENAME TO b; CREATE VIEW breaths AS SELECT * FROM b", "breaths is a view; it must be a"),
        (
            "DROP TABLE games; CREATE VIRTUAL TABLE games"
            " USING fts5(game_id, winner_id, loser_id, winner_paramset_id, loser_paramset_id)",
            "games is a virtual table",
        ),
        (
            "UPDATE players SET username = hex(zeroblob(600000))",
            "a text or blob of more than 1,000,000 bytes, which punish-fast records repair removes",
        ),
        ("CREATE VIEW puzzles AS SELECT * FROM players", "puzzles is a view; it must be a table"),
        ("DROP TABLE players; CREATE TABLE other(x)", "is not a database of recorded games; it has no table players"),
    ],
)
def test_foreign_databases_are_refused(original, script, text):
    run_sql(original, script)
    before = dump(original)
    for opened in (open_to_read(original), open_to_write(original), open_to_write(original, creates=True)):
        with pytest.raises(RecordsError, match=text), opened:
            pass
    assert dump(original) == before


# A script that makes rows of the database `original` invalid, a message, and the ids of the games that stay.
INVALID = [
    ("UPDATE players SET is_bot = 'yes'", "table players has an invalid row", []),
    ("UPDATE players SET is_bot = 'yes' WHERE player_id = 1", "is_bot 'yes'; games left out: 1 ", [200]),
    ("UPDATE players SET player_id = 7 WHERE player_id = 1", "table games has an invalid row", [200]),
    ("UPDATE players SET username = CAST(x'ff' AS TEXT) WHERE player_id = 1", "username '.udcff'", [200]),
    (
        "UPDATE players SET username = 'A' || char(0) || hex(zeroblob(2000)) WHERE player_id = 3",
        "has an invalid",
        [100],
    ),
    ("UPDATE breaths SET state = 'x' WHERE rowid = 1", "table breaths has an invalid row", [100]),
    ("UPDATE breaths SET action = 12 WHERE rowid = 6", "action 12", [200]),
    ("UPDATE breaths SET state = 1000000000000000000 WHERE rowid = 6", "state 1000000000000000000", [200]),
    ("ALTER TABLE breaths ADD number INT; UPDATE breaths SET number = 100000 WHERE rowid = 6", "number 100000", [200]),
    ("ALTER TABLE games ADD logged_id INT; UPDATE games SET logged_id = -1", "logged_id -1", []),
    ("UPDATE games SET game_id = 253402300800 WHERE game_id = 100", "has an invalid row: game_id 2534", [200]),
    (
        "CREATE TABLE IF NOT EXISTS puzzles(player_id INT, day TEXT, state INT, is_right INT);"
        " INSERT INTO puzzles VALUES (1, '2026-12-01', 5, 1), (1, 'now', 5, 1)",
        "table puzzles has an invalid row: player_id 1, day 'now'",
        [100, 200],
    ),
    ("UPDATE games SET game_id = -5 WHERE game_id = 100", "has an invalid row: game_id -5", [200]),
    ("UPDATE games SET loser_id = winner_id WHERE game_id = 100", "table games has an invalid row", [200]),
    ("UPDATE bot_parameters SET temperature = 9e999", "temperature inf", [100]),
    (
        f"UPDATE players SET is_bot = '{'x' * 5000}' WHERE player_id = 1",
        r"is_bot 'x{59}\.\.\.; games left out: 1 ",
        [200],
    ),
    ("UPDATE breaths SET is_winner = 2 WHERE rowid = 6", "table breaths", [200]),
    (
        # A table that allows NULL, unlike the original's.
        "CREATE TABLE b AS SELECT * FROM breaths; DROP TABLE breaths; ALTER TABLE b RENAME TO breaths;"
        " UPDATE breaths SET is_winner = NULL",
        "table breaths",
        [],
    ),
    ("ALTER TABLE breaths ADD number INT; UPDATE breaths SET number = 0 WHERE game_id = 100", "repeated 2", [200]),
    ("DELETE FROM bot_parameters", "winner_paramset_id 1, .* games left out: 1 ", [100]),
    ("DELETE FROM games WHERE game_id = 100", "table breaths .* games left out: 0 .none", [200]),
    (
        "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k <= 200000)"
        " INSERT INTO breaths(game_id, is_winner, state, action) SELECT 100, 1, 101010200220000001, 40 FROM n",
        "choices 200005",
        [200],
    ),
]
IDS = "SELECT game_id FROM games ORDER BY game_id"


@pytest.mark.parametrize("is_current", [False, True])
@pytest.mark.parametrize(("script", "text", "kept"), INVALID)
def test_invalid_rows_are_left_out_with_their_games_and_named(original, script, text, kept, is_current):
    """Databases with invalid rows are still written, and only a repair, which makes a copy, removes these rows."""
    if is_current:
        with open_to_write(original) as connection:
            connection.execute("INSERT INTO players VALUES (4, 'Cay', 0)")
        script = ";".join(part for part in script.split(";") if not part.startswith("ALTER"))
    run_sql(original, script)
    with pytest.warns(DataWarning, match=f"original.db: .*{text}"), open_to_read(original) as connection:
        assert connection.execute(IDS).fetchall() == [(game,) for game in kept]
        assert invalid_rows(connection) == []
    with open_to_write(original) as connection:
        connection.execute("INSERT INTO players VALUES (5, 'Dan', 0)")
    before = dump(original)
    done = repair(original)
    assert (len(done["invalid"]) > 0, query(original, IDS)) == (True, [(game,) for game in kept])
    assert dump(done["copy"]) == before
    with open_to_read(original) as connection:
        assert connection.execute("SELECT count(*) FROM players WHERE username = 'Dan'").fetchone() == (1,)
    assert repair(original)["copy"] is None


def test_a_repair_keeps_an_older_copy_and_removes_texts_of_any_length(original):
    original.chmod(0o600)
    run_sql(original, "UPDATE players SET username = hex(zeroblob(600000)) WHERE player_id = 3")
    copy = original.with_name("original-before-repair.db")
    copy.touch()
    before = original.read_bytes()
    with pytest.raises(OutputError, match=r"original-before-repair\.db: already exists"):
        repair(original)
    assert (original.read_bytes(), copy.read_bytes()) == (before, b"")
    copy.unlink()
    assert (repair(original)["games"], copy.stat().st_mode & 0o777) == ([200], 0o600)
    assert query(original, IDS) == [(100,)]


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_removed_rows_are_only_in_the_copy(original, mode):
    run_sql(original, f"PRAGMA journal_mode = {mode}")
    run_sql(original, "UPDATE players SET username = 'Zorro', is_bot = 'yes' WHERE player_id = 1")
    with closing(sqlite3.connect(original)) as other:
        other.execute("SELECT count(*) FROM games").fetchall()
        copy = repair(original)["copy"]
        files = [original.read_bytes(), *(path.read_bytes() for path in original.parent.glob("*.db-wal"))]
    assert b"Zorro" in copy.read_bytes()
    assert not any(b"Zorro" in content for content in files)


@pytest.mark.parametrize("content", [b"x", b"no database\n" * 99, b"SQLite format 3\0" + b"\xff" * 5000])
def test_files_that_are_no_databases_are_refused_and_stay(tmp_path, content):
    path = tmp_path / "x.db"
    path.write_bytes(content)
    for opened in (open_to_read(path), open_to_write(path), open_to_write(path, creates=True)):
        with pytest.raises(RecordsError, match=r"x\.db: "), opened:
            pass
    assert path.read_bytes() == content


def test_places_that_cannot_be_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "none.db", tmp_path / "pipe", tmp_path / ("x" * 5000), tmp_path / "a\0b"):
        for opened in (open_to_read(path), open_to_write(path)):
            with pytest.raises(RecordsError), opened:
                pass
    with pytest.raises(RecordsError, match="unable to open"), open_to_write(tmp_path / "none" / "x.db", creates=True):
        pass


@pytest.mark.usefixtures("impatient")
def test_a_locked_database_is_left_alone(original):
    before = original.read_bytes()
    with closing(sqlite3.connect(original, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for opened in (open_to_read(original), open_to_write(original)):
            with pytest.raises(LockedError, match="locked"), opened:
                pass
    assert original.read_bytes() == before


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_database_in_a_folder_without_write_access_is_read_or_the_reason_is_given(original, mode):
    run_sql(original, f"PRAGMA journal_mode = {mode}")
    allowed = (
        nullcontext() if mode == "delete" else pytest.raises(OutputError, match=r"x\.db: its folder is not writable")
    )
    user = os.geteuid()
    with tempfile.TemporaryDirectory() as name:  # the folder of the test is closed to other users
        path = Path(shutil.copy(original, Path(name) / "x.db"))
        path.parent.chmod(0o555)
        try:
            # The superuser may write everywhere.
            os.seteuid(user or 65534)
            with allowed, open_to_read(path):
                pass
        finally:
            os.seteuid(user)
            path.parent.chmod(0o755)


def test_a_new_database_has_the_original_tables_once_something_is_written(tmp_path):
    path = tmp_path / "new.db"
    with open_to_write(path, creates=True):
        pass
    with pytest.raises(ZeroDivisionError), open_to_write(path, creates=True) as connection:
        connection.execute(f"INSERT INTO players VALUES ({1 // 0}, '', 0)")
    assert list(tmp_path.iterdir()) == [path]
    with open_to_read(path) as connection:
        assert connection.execute("SELECT count(*) FROM games").fetchone() == (0,)
    with open_to_write(path, creates=True) as connection:
        connection.execute("INSERT INTO players VALUES (1, 'Ann', 0)")
    names = query(path, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    assert names == [(name,) for name in TABLES]
    with open_to_read(path) as connection:
        assert connection.execute("SELECT username FROM players").fetchall() == [("Ann",)]


def test_rows_are_checked_again_only_after_a_change(original, monkeypatch):
    with open_to_write(original) as connection:
        connection.execute("UPDATE players SET username = username")
    checked = []
    monkeypatch.setattr(schema, "invalid_rows", lambda connection: checked.append(1) or invalid_rows(connection))

    def n_checks() -> int:
        checked.clear()
        for _ in range(3):
            with open_to_read(original):
                pass
        return len(checked)

    # A change within the resolution of the clock leaves the time of the file.
    assert n_checks() == 3
    monkeypatch.setattr(database, "_SETTLED_SECONDS", -60.0)
    assert n_checks() == 1
    assert n_checks() == 0
    with closing(sqlite3.connect(original)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        assert n_checks() == 1
        connection.execute("UPDATE players SET is_bot = 7")
        connection.commit()
        with pytest.warns(DataWarning, match="invalid row"), open_to_read(original):
            pass

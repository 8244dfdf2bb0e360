import sqlite3
from contextlib import closing

import pytest
from playing import LAYOUTS, written

from punish_fast.records.database import LockedError, RecordsError
from punish_fast.records.importing import import_logs
from punish_fast.records.logs import write_log
from punish_fast.records.player_data import anonymise_player, delete_player, games_of_player
from records.conftest import dump, query, run_sql


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_export_holds_all_games_and_can_be_imported(tmp_path, space, db, games, layout):
    mine = [game for game in games if "Ann" in (game.winner.name, game.loser.name)]
    exported = games_of_player(db, "Ann")
    assert write_log(exported) == write_log(mine)
    path = tmp_path / "ann.json"
    path.write_text(written(exported, layout))
    assert import_logs(space, [path], db).known == len(mine)
    assert import_logs(space, [path], tmp_path / "new.db").imported == len(mine)


def test_an_anonymised_player_cannot_be_found_on_disk(db, space, log):
    assert b"Ann" in db.read_bytes()
    alias = anonymise_player(db, "Ann")
    assert alias.startswith("player-")
    assert b"Ann" not in db.read_bytes()
    assert query(db, "SELECT count(*) FROM games") == [(30,)]
    # Logs that still know the name do not bring it back.
    before = db.read_bytes()
    assert import_logs(space, [log], db).known == 30
    assert db.read_bytes() == before
    assert {alias} <= {name for game in games_of_player(db, alias) for name in (game.winner.name, game.loser.name)}
    run_sql(db, f"UPDATE players SET username = '{alias}-' WHERE username = 'Ben'")
    run_sql(db, f"UPDATE players SET username = 'Ann' WHERE username = '{alias}'")
    run_sql(db, f"UPDATE players SET username = '{alias}' WHERE username = 'Cay'")
    assert anonymise_player(db, "Ann") == f"{alias}--"


def test_a_deleted_player_is_gone_with_all_games(db, games):
    theirs = [game for game in games if "Ben" in (game.winner.name, game.loser.name)]
    n_breaths = sum(len(side.states) for game in theirs for side in (game.winner, game.loser))
    assert delete_player(db, "Ben") == (len(theirs), n_breaths)
    assert b"Ben" not in db.read_bytes()
    assert query(db, "SELECT count(*) FROM games") == [(30 - len(theirs),)]
    assert query(db, "SELECT count(*) FROM breaths WHERE game_id NOT IN (SELECT game_id FROM games)") == [(0,)]
    assert ("Ben",) not in query(db, "SELECT username FROM players")


def test_unknown_players_and_names_that_no_log_holds(db):
    before = dump(db)
    for change in (games_of_player, anonymise_player, delete_player):
        for name in ("Zoe", "", "ann", "%", "\ud800", "'; DROP TABLE games; --"):
            with pytest.raises(RecordsError, match="there is no player"):
                change(db, name)
    assert dump(db) == before
    run_sql(db, "UPDATE players SET username = 'A' || char(10) || 'n' WHERE username = 'Ann'")
    games = games_of_player(db, "A\nn")
    with pytest.raises(RecordsError, match=r"player 'A\\nn': logs allow only names of .*; anonymize this player first"):
        write_log(games)
    anonymise_player(db, "A\nn")


def files_of(path):
    return b"".join(each.read_bytes() for each in path.parent.glob(f"{path.name}*") if not each.name.endswith("-shm"))


@pytest.mark.parametrize("change", [anonymise_player, delete_player])
def test_a_write_ahead_log_keeps_no_name(db, change):
    run_sql(db, "PRAGMA journal_mode = WAL")
    with closing(sqlite3.connect(db)) as other:
        other.execute("SELECT count(*) FROM games").fetchall()
        change(db, "Ann")
        assert b"Ann" not in files_of(db)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("change", [anonymise_player, delete_player])
def test_what_a_reader_keeps_in_a_write_ahead_log_is_said(db, change):
    run_sql(db, "PRAGMA journal_mode = WAL")
    with closing(sqlite3.connect(db, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM games").fetchall()
        with pytest.raises(LockedError, match=r"change was made, but another process is reading .* until that process"):
            change(db, "Ann")
        assert b"Ann" in files_of(db)
    # As soon as the reader has closed it.
    assert b"Ann" not in files_of(db)
    assert ("Ann",) not in query(db, "SELECT username FROM players")


@pytest.mark.parametrize("change", [anonymise_player, delete_player])
def test_a_database_that_ignores_changes_is_refused(db, change):
    run_sql(db, "CREATE TRIGGER stay BEFORE UPDATE ON players BEGIN SELECT RAISE(IGNORE); END")
    run_sql(db, "CREATE TRIGGER stay2 BEFORE DELETE ON players BEGIN SELECT RAISE(IGNORE); END")
    before = db.read_bytes()
    with pytest.raises(RecordsError, match="has a trigger"):
        change(db, "Ann")
    assert db.read_bytes() == before


def test_a_name_that_a_constraint_keeps_is_an_error(db):
    """The alias differs from another name only in case."""
    ((number,),) = query(db, "SELECT player_id FROM players WHERE username = 'Ann'")
    run_sql(
        db,
        "CREATE TABLE p(player_id INT, username TEXT COLLATE NOCASE UNIQUE ON CONFLICT IGNORE, is_bot INT);"
        f"INSERT INTO p SELECT * FROM players; INSERT INTO p VALUES (99, 'PLAYER-{number}', 0);"
        "DROP TABLE players; ALTER TABLE p RENAME TO players",
    )
    with pytest.raises(RecordsError, match="the database keeps the player 'Ann'; nothing was changed"):
        anonymise_player(db, "Ann")

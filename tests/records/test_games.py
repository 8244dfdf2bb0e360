import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
from playing import FIRST_ID, LAYOUTS, some_games, written

from punish_fast.records.database import LockedError, RecordsError, open_to_read, open_to_write
from punish_fast.records.games import (
    GameWriter,
    Selection,
    anonymize_player,
    delete_player,
    games_of_player,
    read_games,
)
from punish_fast.records.importing import import_logs
from punish_fast.records.logs import RecordedGame, write_log
from punish_fast.runtime.errors import DataWarning
from records.conftest import dump, query, run_sql

DIGEST = "0" * 64


def stored(path, selection=None) -> list[tuple[int, RecordedGame]]:
    with open_to_read(path) as connection:
        return list(read_games(connection, selection))


def plain(game: RecordedGame) -> RecordedGame:
    """``game`` without what the layout by breath does not tell."""
    sides = [replace(side, is_bot=None, temperature=None) for side in (game.winner, game.loser)]
    return replace(game, winner=sides[0], loser=sides[1])


def kept(path, *games, shift=0):
    """A database of games, whose ids are moved by ``shift``."""
    with open_to_write(path, creates=True) as connection:
        writer = GameWriter(connection)
        for game in games:
            writer.write(game.id + shift, game, DIGEST)
    return path


@pytest.fixture
def path(tmp_path):
    return kept(tmp_path / "x.db", *some_games(12), shift=1)


def test_games_are_read_and_selected(path, original):
    found = stored(path)
    assert [number for number, _ in found] == [game.id + 1 for game in some_games(12)]
    assert [plain(game) for _, game in found] == some_games(12)
    assert query(path, "SELECT DISTINCT source_digest FROM games") == [(DIGEST,)]
    by_id = dict(stored(original))
    assert by_id[100].winner.actions == (40, 20)
    assert by_id[100].loser.number == (0, 1)
    assert (by_id[200].winner.name, by_id[200].winner.temperature, by_id[200].loser.temperature) == ("naive", 0.0, None)
    names = {(game.winner.name, game.loser.name) for _, game in stored(path, Selection(humans_only=True))}
    assert names
    assert not any("naive" in pair for pair in names)
    assert all("Ann" in (g.winner.name, g.loser.name) for _, g in stored(path, Selection(player="Ann")))
    assert len(stored(path, Selection(until=FIRST_ID + 180))) == 4


def test_bots_are_known_by_their_names_or_their_parameters(tmp_path, path):
    assert dict(query(path, "SELECT username, is_bot FROM players")) == {"Ann": 0, "Ben": 0, "Cay": 0, "naive": 1}
    game = some_games(1)[0]
    robot = replace(game, winner=replace(game.winner, name="Robot", is_bot=True, temperature=0.25))
    person = replace(game, id=5, winner=replace(game.winner, name="Dan", is_bot=False))
    again = replace(robot, id=6, winner=replace(robot.winner, temperature=0.0))
    other = kept(tmp_path / "y.db", robot, person, again)
    by_id = dict(stored(other))
    assert (by_id[robot.id].winner.is_bot, by_id[robot.id].winner.temperature) == (True, 0.25)
    assert (by_id[5].winner.is_bot, by_id[5].winner.temperature) == (False, None)
    assert (by_id[6].winner.is_bot, by_id[6].winner.temperature) == (True, 0.0)
    assert query(other, "SELECT count(*) FROM bot_parameters") == [(2,)]
    first = some_games(1)[0]
    later = replace(first, id=5, loser=replace(first.loser, is_bot=True, temperature=0.5))
    reserved = replace(first, id=6, winner=replace(first.winner, name="general_pawnn", is_bot=False))
    by_id = dict(stored(kept(tmp_path / "z.db", first, later, reserved)))
    assert (by_id[first.id].loser.is_bot, by_id[first.id].loser.temperature) == (True, None)
    assert (by_id[5].loser.is_bot, by_id[5].loser.temperature) == (True, 0.5)
    assert (by_id[6].winner.is_bot, by_id[6].winner.temperature) == (True, 0.0)


@pytest.mark.parametrize("first_is_bot", [False, True])
@pytest.mark.parametrize("digest", [None, DIGEST])
def test_a_bot_and_a_person_of_one_name_are_two_players(tmp_path, first_is_bot, digest):
    """Recorded here, or imported from logs of games that this program recorded."""
    game = replace(some_games(1)[0], played=5)
    path = tmp_path / "y.db"
    for k, is_bot in enumerate([first_is_bot, not first_is_bot] * 2):
        winner, loser = replace(game.winner, name="joe", is_bot=is_bot), replace(game.loser, name="Ben", is_bot=False)
        with open_to_write(path, creates=True) as connection:
            each = replace(game, id=2**50 + k, winner=winner, loser=loser)
            GameWriter(connection).write(each.id, each, digest)
    named = {"joe": first_is_bot, "joe (2)": not first_is_bot}
    assert dict(query(path, "SELECT username, is_bot FROM players")) == named | {"Ben": False}
    for name, is_bot in named.items():
        assert [each.winner.is_bot for _, each in stored(path, Selection(player=name))] == [is_bot] * 2
    assert len(stored(path, Selection(humans_only=True))) == 2


def test_nobody_meets_oneself_under_a_number(tmp_path):
    path = tmp_path / "y.db"
    game = some_games(1)[0]
    names = ("joe", False), ("Ben", False), ("joe", True), ("joe (2)", True), ("joe (2)", True), ("joe", True)
    with open_to_write(path, creates=True) as connection:
        for k in (0, 2, 4):
            sides = [replace(game.winner, name=name, is_bot=is_bot) for name, is_bot in names[k : k + 2]]
            GameWriter(connection).write(2**50 + k, replace(game, winner=sides[0], loser=sides[1]), None)
    assert [(each.winner.name, each.loser.name) for _, each in stored(path)] == [
        ("joe", "Ben"),
        ("joe (2)", "joe (2) (2)"),
        ("joe (2)", "joe (3)"),
    ]


def test_the_largest_id_of_a_foreign_row_is_ignored(tmp_path):
    first, second = some_games(2)
    path = kept(tmp_path / "y.db", first)
    run_sql(path, f"INSERT INTO players (player_id, username, is_bot) VALUES ({2**63 - 1}, 'Zoe', 0)")
    kept(path, replace(second, winner=replace(second.winner, name="Eve", is_bot=False)))
    assert query(path, "SELECT player_id FROM players WHERE username = 'Eve'") == [(3,)]


@pytest.mark.parametrize(
    ("lost", "column"), [("players WHERE player_id = 3", "loser_id"), ("bot_parameters", "loser_paramset_id")]
)
def test_new_rows_do_not_take_the_ids_of_lost_ones(tmp_path, lost, column):
    """The game of a lost row stays out instead of changing its player or temperature."""
    first, second, third = some_games(3)
    path = kept(tmp_path / "y.db", replace(first, loser=replace(first.loser, name="Zoe", is_bot=True, temperature=0.5)))
    run_sql(path, "UPDATE players SET player_id = 3 WHERE username = 'Zoe'; UPDATE games SET loser_id = 3")
    run_sql(path, f"DELETE FROM {lost}")
    for game in (second, third):
        kept(path, replace(game, loser=replace(game.loser, name="robot", is_bot=True, temperature=0.25)))
    with pytest.warns(DataWarning, match=f"table games has an invalid row: .*; games left out: 1 .{first.id}"):
        assert [number for number, _ in stored(path)] == [second.id, third.id]
    assert query(path, f"SELECT count(DISTINCT {column}) FROM games") == [(2,)]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_export_holds_all_games_and_can_be_imported(tmp_path, space, db, games, layout):
    mine = [game for game in games if "Ann" in (game.winner.name, game.loser.name)]
    exported = games_of_player(db, "Ann")
    assert write_log(exported) == write_log(mine)
    path = tmp_path / "ann.json"
    path.write_text(written(exported, layout))
    assert import_logs(space, [path], db).known == len(mine)
    assert import_logs(space, [path], tmp_path / "new.db").imported == len(mine)


def test_an_anonymized_player_cannot_be_found_on_disk(db, space, log):
    assert b"Ann" in db.read_bytes()
    alias = anonymize_player(db, "Ann")
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
    assert anonymize_player(db, "Ann") == f"{alias}--"


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
    for change in (games_of_player, anonymize_player, delete_player):
        for name in ("Zoe", "", "ann", "%", "\ud800", "'; DROP TABLE games; --"):
            with pytest.raises(RecordsError, match="there is no player"):
                change(db, name)
    assert dump(db) == before
    run_sql(db, "UPDATE players SET username = 'A' || char(10) || 'n' WHERE username = 'Ann'")
    games = games_of_player(db, "A\nn")
    with pytest.raises(RecordsError, match=r"player 'A\\nn': logs allow only names of .*; anonymize this player first"):
        write_log(games)
    anonymize_player(db, "A\nn")


def files_of(path):
    return b"".join(each.read_bytes() for each in path.parent.glob(f"{path.name}*") if not each.name.endswith("-shm"))


@pytest.mark.parametrize("change", [anonymize_player, delete_player])
def test_a_write_ahead_log_keeps_no_name(db, change):
    run_sql(db, "PRAGMA journal_mode = WAL")
    with closing(sqlite3.connect(db)) as other:
        other.execute("SELECT count(*) FROM games").fetchall()
        change(db, "Ann")
        assert b"Ann" not in files_of(db)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("change", [anonymize_player, delete_player])
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


@pytest.mark.parametrize("change", [anonymize_player, delete_player])
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
        anonymize_player(db, "Ann")

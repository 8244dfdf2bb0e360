import sqlite3
import unicodedata
from contextlib import closing

import pytest

from punish_fast.records.player_data import anonymise_player, delete_player, games_of_player
from punish_fast.records.schema import merge_spellings
from records.conftest import ORIGINAL, query, run_sql

NFD = unicodedata.normalize("NFD", "José")
PLAYERS = "SELECT player_id, username, is_bot FROM players ORDER BY player_id"


def database(players, games=()):
    connection = sqlite3.connect(":memory:")
    connection.executescript(ORIGINAL + "DELETE FROM games; DELETE FROM players; DELETE FROM breaths")
    connection.executemany("INSERT INTO players VALUES (?, ?, ?)", players)
    connection.executemany("INSERT INTO games VALUES (?, ?, ?, NULL, NULL)", games)
    return closing(connection)


@pytest.mark.parametrize(
    ("players", "n_merged", "expected"),
    [
        ([(1, "Ann", 0), (2, "Ben", 0)], 0, [(1, "Ann", 0), (2, "Ben", 0)]),
        ([(1, NFD, 0), (2, "Ben", 0), (3, "José", 0), (4, " José", 0)], 2, [(2, "Ben", 0), (3, "José", 0)]),
        ([(1, "Ann  Lee", 0), (2, "Ann\u00a0Lee", 0)], 1, [(1, "Ann Lee", 0)]),
        ([(5, "Ann\u200b", 0)], 0, [(5, "Ann", 0)]),
        # A person under the name of a bot stays another player.
        ([(1, "naive ", 0), (2, "naive", 1), (3, " naive", 0)], 1, [(1, "naive (2)", 0), (2, "naive", 1)]),
        ([(1, "a (2)", 0), (2, "a ", 0), (3, "a", 1)], 0, [(1, "a (2)", 0), (2, "a (3)", 0), (3, "a", 1)]),
        # Names that no log can hold are left for `records player --anonymise`.
        ([(1, "A\nn", 0), (2, "x" * 900, 0)], 0, [(1, "A\nn", 0), (2, "x" * 900, 0)]),
    ],
)
def test_spellings_are_merged_and_counted(players, n_merged, expected):
    with database(players) as connection:
        assert merge_spellings(connection) == n_merged
        assert connection.execute(PLAYERS).fetchall() == expected
        assert merge_spellings(connection) == 0
        assert connection.execute(PLAYERS).fetchall() == expected


def test_players_of_merged_spellings_keep_their_games():
    players = [(1, NFD, 0), (2, "Ben", 0), (3, "José", 0), (4, "Ben ", 0)]
    with database(players, [(100, 1, 2), (200, 4, 1), (300, 3, 4)]) as connection:
        assert merge_spellings(connection) == 2
        games = connection.execute("SELECT * FROM games ORDER BY game_id").fetchall()
        assert [game[:3] for game in games] == [(100, 3, 2), (200, 2, 3), (300, 3, 2)]
    # Nobody plays against themselves.
    with database([(1, "José", 0), (2, NFD, 0), (3, "José ", 0)], [(100, 2, 1), (200, 3, 1)]) as connection:
        assert merge_spellings(connection) == 1
        assert connection.execute(PLAYERS).fetchall() == [(1, "José", 0), (2, "José (2)", 0)]
        assert connection.execute("SELECT winner_id, loser_id FROM games").fetchall() == [(2, 1), (2, 1)]


def test_an_old_database_is_read_with_one_spelling_and_migrated_with_a_count(original):
    run_sql(
        original,
        f"INSERT INTO players VALUES (4, '{NFD}', 0), (5, 'Jos\u00e9', 0);"
        "UPDATE games SET winner_id = 4 WHERE game_id = 100; UPDATE games SET loser_id = 5 WHERE game_id = 200",
    )
    before = original.read_bytes()
    assert len(games_of_player(original, f" {NFD}")) == 2
    assert original.read_bytes() == before
    with pytest.warns(UserWarning, match=r"original.db: merged players .*: 1$"):
        assert anonymise_player(original, NFD) == "player-5"
    assert b"Jos" not in original.read_bytes()
    assert len(games_of_player(original, "player-5")) == 2
    assert query(original, "SELECT count(*) FROM players") == [(4,)]


def test_names_that_the_original_writes_into_a_current_database_are_merged(db):
    """Two spellings of a new player and one of Ann, who meets a person whose name is not ASCII."""
    n_games = len(games_of_player(db, "Ann"))
    run_sql(
        db,
        f"INSERT INTO players VALUES (91, 'Ann ', 0), (92, '{NFD}', 0), (93, 'Jos\u00e9', 0);"
        "INSERT INTO games(game_id, winner_id, loser_id) VALUES (100, 91, 92), (200, 93, 91);"
        "INSERT INTO breaths(game_id, is_winner, state, action) VALUES (100, 1, 1, 10), (200, 1, 1, 10)",
    )
    before = db.read_bytes()
    for name in ("Ann", "Ann "):
        assert len(games_of_player(db, name)) == n_games + 2
    assert len(games_of_player(db, NFD)) == 2
    assert db.read_bytes() == before
    with pytest.warns(UserWarning, match=r"merged players .*: 2$"):
        assert delete_player(db, NFD)[0] == 2
    assert len(games_of_player(db, "Ann")) == n_games
    assert query(db, "SELECT count(*) FROM players WHERE username GLOB '*[ \u00e9]*'") == [(0,)]

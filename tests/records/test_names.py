# ruff: noqa: RUF001 - characters that look like others are the subject

import sqlite3
import unicodedata
from contextlib import closing
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.arena.players import NAMES as BUILT_IN
from punish_fast.records.games import anonymize_player, delete_player, games_of_player
from punish_fast.records.logs import BOTS
from punish_fast.records.names import (
    MAX_NAME,
    PlayerNameError,
    checked_name,
    clean_name,
    is_name,
    looks_like,
    numbered_names,
)
from punish_fast.records.schema import is_utf8, merge_spellings
from records.conftest import ORIGINAL, query, run_sql

AGENTS = (*BOTS, *BUILT_IN)


@pytest.mark.parametrize(
    "name",
    [
        *("Ann Lee", "José", "می\u200cخواهم", "ক্\u200dষ", "👩\u200d🚀 Ada", "❤️\u200d🔥", "Łukasz O'Neill-Müller"),
        *("🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", "Иван", "陳大文", "x" * MAX_NAME),
    ],
)
def test_ordinary_names_are_stored_as_they_are(name):
    assert checked_name(name, AGENTS) == name


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        (unicodedata.normalize("NFD", "José"), "José"),
        ("  Ann \u3000 Lee\t", "Ann Lee"),
        ("Ann\u00a0Lee", "Ann Lee"),
        ("An\u200dn\u200b", "Ann"),
        ("\ufeff\u202aAnn\u202c\u200e", "Ann"),
        ("می\u200c\u200cخواهم\u200c", "می\u200cخواهم"),
        ("Ann\u3164", "Ann"),
        ("a \u200c b", "a b"),
        ("\u0627\u3164\u200c\u0627", "\u0627 \u0627"),
        ("a\u200d\u0301\u200c\u0301b", "\u00e1\u0301b"),
    ],
)
def test_spellings_that_look_the_same_are_one_name(spelling, name):
    assert checked_name(spelling) == name


PARTS = st.sampled_from(
    "ab e\u200c\u200d\u200b\u00a0\u3164\u2800\u0301\u0308\u0345\u0646\u094d\u0928\u1100\u1161\u0958😀🚀"
)


@given(st.text(max_size=80) | st.text(PARTS, max_size=9))
def test_a_stored_name_has_one_spelling(text):
    name = clean_name(text)
    assert clean_name(name) == name
    assert clean_name(f" {unicodedata.normalize('NFD', name)}\u00a0") == name


@pytest.mark.parametrize(
    "name", [*("", " \u00a0", "\u3164", "\u0301", "a\nb", "\x1b[2J", "\ud800", "\x00", "x" * 61, "e\u0301" * 10**5)]
)
def test_names_without_ink_or_with_control_characters_are_refused(name):
    with pytest.raises(PlayerNameError, match="use names of 1 to 60 printable characters"):
        checked_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("Veteran", "veteran ", "VETERAN", "veteran@0.1", "vet eran", "Vétéran"),
        *("ＶＥＴＥＲＡＮ", "ｖeteran＠0.5", "𝓋𝑒𝓉𝑒𝓇𝒶𝓃", "🅥eteran", "🆅🅴🆃🅴🆁🅰🅽", "🇻🇪🇹🇪🇷🇦🇳", "ᴠᴇᴛᴇʀᴀɴ", "(v)eteran"),
        *("vеtеrаn", "Ѵeteran", "veтeгan", "vεtεrαn", "Ꮩeteran", "ⴸeteran", "νeteran"),
        *("naіve", "nalve", "na|ve", "na1ve", "naıve", "ΝΑΙVΕ", "Ｎａïve", "паivе"),
        *("cɑreful", "\U0001033daive", "na\U00010339v\U00010334", "v\U000118aeteran"),
        *("randorn", "Rand0m", "carefuI", "general parless", "General-Parless", "GENERAL_PARLESS"),
    ],
)
def test_names_that_look_like_an_agent_are_refused(name):
    with pytest.raises(PlayerNameError, match=r"looks like .*, the name of a bot"):
        checked_name(name, AGENTS)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        *(
            ("0la", "Ola"),
            ("B0b", "Bob"),
            ("1van", "lvan"),
            ("Iris", "lris"),
            ("0la", "\u043ela"),
            ("\u0406van", "1van"),
        ),
        *(("Ola@home", "0la"), ("Bob", "bob@0.5"), ("\u0416an", "xan")),
    ],
)
def test_names_that_look_alike_do_so_in_either_order(name, other):
    assert looks_like(name, other)
    assert looks_like(other, name)


def test_other_names_are_free():
    for name in ("Vera", "veterans", "Navin", "Nairn", "陳aive", "ნაივე", "нафве", "Randolph", "Карина", "general"):
        assert is_name(checked_name(name, AGENTS))
    for name in ("@", "1", "𝓐nn"):
        assert is_name(checked_name(name, AGENTS))
    assert list(islice(numbered_names("x" * MAX_NAME), 3)) == ["x" * 60, "x" * 56 + " (2)", "x" * 56 + " (3)"]
    assert looks_like("Joe", "joe@0.5")
    assert not looks_like("Joe 05", "joe@0.5")


NFD = unicodedata.normalize("NFD", "José")
PLAYERS = "SELECT player_id, username, is_bot FROM players ORDER BY player_id"


def database(players, games=()):
    connection = sqlite3.connect(":memory:")
    connection.create_function("is_utf8", 1, is_utf8)
    connection.executescript(ORIGINAL + "DELETE FROM games; DELETE FROM players; DELETE FROM breaths")
    connection.execute("CREATE TABLE puzzles(player_id INT, day INT, state INT, is_right INT, UNIQUE (player_id, day))")
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
        # Names that no log can hold are left for `records player --anonymize`.
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
        connection.executemany("INSERT INTO puzzles VALUES (?, ?, 5, 1)", [(1, 1), (1, 2), (3, 2), (4, 3)])
        assert merge_spellings(connection) == 2
        answers = connection.execute("SELECT player_id, day FROM puzzles ORDER BY day").fetchall()
        assert answers == [(3, 1), (3, 2), (2, 3)]
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
        assert anonymize_player(original, NFD) == "player-5"
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

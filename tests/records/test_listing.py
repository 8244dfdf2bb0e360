"""Lists of recorded games, and the latest game of a person."""

from __future__ import annotations

from punish_fast.records.choices import Selection
from punish_fast.records.database import open_to_read
from punish_fast.records.listing import latest_game, list_games
from records.conftest import run_sql


def latest(path):
    with open_to_read(path) as connection:
        return latest_game(connection)


def test_games_are_listed_from_the_latest_on(original):
    assert list_games(original, Selection(), 5) == [
        {"game": 200, "played": 200, "winner": "naive", "loser": "Ben", "breaths": 1},
        {"game": 100, "played": 100, "winner": "Ann", "loser": "Ben", "breaths": 2},
    ]
    assert [game["game"] for game in list_games(original, Selection(), 1)] == [200]
    assert [game["game"] for game in list_games(original, Selection(player="Ann"), 5)] == [100]


def test_the_latest_game_is_that_of_a_person_if_there_is_one(original):
    assert latest(original) == 200
    run_sql(original, "UPDATE players SET is_bot = 1 WHERE username = 'Ben'")
    assert latest(original) == 100
    run_sql(original, "UPDATE players SET is_bot = 1")
    assert latest(original) == 200
    run_sql(original, "DELETE FROM breaths; DELETE FROM games")
    assert latest(original) is None


def test_games_of_one_second_are_listed_once_page_by_page(original):
    """Ids do not follow the time of play."""
    run_sql(
        original,
        "UPDATE games SET game_id = 9000000000000000 WHERE game_id = 100; UPDATE breaths SET game_id = 9000000000000000"
        " WHERE game_id = 100; ALTER TABLE games ADD played INT; UPDATE games SET played = 300;"
        " INSERT INTO games(game_id, winner_id, loser_id, played) VALUES (7000000000000000, 1, 2, 400)",
    )
    listed, before = [], None
    while page := list_games(original, Selection(before=before), 1):
        listed += page
        before = page[-1]["game"]
    assert [(game["game"], game["played"]) for game in listed] == [
        (7_000_000_000_000_000, 400),
        (9_000_000_000_000_000, 300),
        (200, 300),
    ]
    assert latest(original) == 7_000_000_000_000_000

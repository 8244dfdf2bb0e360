from __future__ import annotations

import pytest

from punish_fast.records.choices import Selection
from punish_fast.records.database import RecordsError, open_to_read
from punish_fast.records.summary import latest_game, list_games, read_results
from records.conftest import run_sql


def test_results_of_an_original_database(original):
    results = read_results(original)
    assert results.game.tolist() == [100, 200]
    assert results.winner.tolist() == ["Ann", "naive"]
    assert results.loser.tolist() == ["Ben", "Ben"]
    assert results.winner_is_bot.tolist() == [False, True]
    assert results.loser_is_bot.tolist() == [False, False]
    assert results.n_breaths.tolist() == [2, 1]
    assert len(results.decimal) == 6


def test_results_agree_with_the_games(db, games):
    results = read_results(db)
    assert results.n_breaths.tolist() == [len(game.winner.number) for game in games]
    assert results.winner.tolist() == [game.winner.name for game in games]
    assert read_results(db, Selection(humans_only=True)).winner_is_bot.sum() == 0
    chosen = read_results(db, Selection(player="Ann"))
    assert len(chosen) == sum("Ann" in (game.winner.name, game.loser.name) for game in games)


def test_no_games_are_no_error(db):
    results = read_results(db, Selection(until=5))
    assert len(results) == 0
    assert all(len(array) == 0 for array in vars(results).values())
    with pytest.raises(RecordsError, match="there is no player 'Zoe'"):
        read_results(db, Selection(player="Zoe"))


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

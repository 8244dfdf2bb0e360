from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from playing import RULES
from scipy.stats import pearsonr, spearmanr

from punish_fast.punish.codes import decimals_of
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.choices import Selection
from punish_fast.records.database import RecordsError, open_to_read
from punish_fast.records.summary import latest_game, list_games, read_results, summarise
from records.conftest import run_sql

SPACE = StateSpace(RULES)


def test_a_summary_of_two_games(original):
    summary = summarise(read_results(original), SPACE)
    assert (summary["games"], summary["breaths"]) == (2, 6)
    # The first breath of both games is the same.
    assert (summary["starting_states"], summary["distinct_states"]) == (2, 4)
    assert summary["durations"] == {"mean": 1.5, "median": 1.5, "longest": 2, "counts": {"1": 1, "2": 1}}
    ann, naive, ben = summary["players"]
    assert ann == {"name": "Ann", "is_bot": False, "wins": 1, "losses": 0, "games": 1, "win_rate": 1.0}
    assert (naive["name"], naive["is_bot"]) == ("naive", True)
    assert (ben["wins"], ben["losses"], ben["games"], ben["win_rate"]) == (0, 2, 2, 0.0)
    assert summary["correlation"] == pytest.approx({"linear": -1.0, "rank": -1.0})


def test_counts_agree_with_the_games(db, games):
    summary = summarise(read_results(db), SPACE)
    states = {state for game in games for side in (game.winner, game.loser) for state in side.states}
    assert summary["distinct_states"] == len(states)
    starting = [state for state in map(str, states) if (state[0], state[6], state[9]) == ("1", "2", "2")]
    assert summary["starting_states"] == len(starting)
    assert sum(player["wins"] for player in summary["players"]) == 30
    assert sum(player["games"] for player in summary["players"]) == 60
    assert sum(summary["durations"]["counts"].values()) == 30
    played = [player["games"] for player in summary["players"]]
    rates = [player["win_rate"] for player in summary["players"]]
    assert summary["correlation"]["linear"] == pytest.approx(pearsonr(played, rates).statistic)
    assert summary["correlation"]["rank"] == pytest.approx(spearmanr(played, rates).statistic)


def test_what_is_not_defined_is_none(db, original):
    nothing = summarise(read_results(db, Selection(until=5)), SPACE)
    assert nothing["correlation"] == {"linear": None, "rank": None}
    assert nothing["durations"]["mean"] is None
    assert nothing["players"] == []
    one = summarise(read_results(original, Selection(until=100)), SPACE)
    assert one["correlation"] == {"linear": None, "rank": None}
    json.dumps([nothing, one], allow_nan=False)


def test_what_the_notebook_says_of_its_games(real_db):
    summary = summarise(
        read_results(real_db, Selection(humans_only=True, until=1668358800)), StateSpace(PRESETS["notebook"])
    )
    assert (summary["games"], summary["breaths"]) == (667, 5070)
    assert (summary["starting_states"], summary["distinct_states"]) == (819, 3991)
    table = {player["name"]: (player["wins"], player["losses"]) for player in summary["players"]}
    assert table == {
        "maestro": (268, 233),
        "Surjim": (194, 203),
        "Wanderer": (75, 89),
        "Handel": (71, 87),
        "Joe": (52, 48),
        "Comet": (7, 7),
    }
    assert summary["players"][0]["games"] == 501
    assert summary["correlation"]["linear"] == pytest.approx(0.35, abs=0.001)
    assert summary["correlation"]["rank"] == pytest.approx(0.143, abs=0.0005)


def test_rules_under_which_no_starting_state_exists_are_refused(original):
    results, hp = read_results(original), SPACE.rules.hp
    starting = [int(f"1{k:05}{hp}00{hp}10000000") for k in range(130)]
    played = replace(
        results, decimal=np.append(decimals_of(SPACE, np.arange(SPACE.n_states - 400, SPACE.n_states)), starting)
    )
    with pytest.raises(RecordsError, match=r"rules: only \d+ of \d+ recorded starting states exist"):
        summarise(played, SPACE)


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

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
from punish_fast.records.database import RecordsError
from punish_fast.records.summary import read_results, summarise

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

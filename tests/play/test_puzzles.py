"""Puzzles of the day."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta

import numpy as np
import pytest

from punish_fast.arena.players import Player
from punish_fast.play.explain.coach import win_solution
from punish_fast.play.game_data import rows_of_state
from punish_fast.play.punish.punish_player import PunishPlayer
from punish_fast.play.punish.puzzles import FEWEST_RATED, RULES, puzzle_of, puzzle_rating, ratings
from punish_fast.play.session import NoAnswerError
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace


def test_each_day_has_its_puzzle():
    days = [date(2026, 12, 1) + timedelta(days=n) for n in range(len(ratings()))]
    assert [puzzle_of(day)[0] for day in days] == list(range(1, len(days) + 1))
    assert len({puzzle_of(day)[1].state for day in days}) == len(days) > 4 * 365
    assert puzzle_of(days[-1] + timedelta(days=1)) == puzzle_of(days[0])
    assert np.mean([puzzle_of(day)[2] for day in days]) == pytest.approx(0.23, abs=0.005)
    breaths = Counter(puzzle_of(day)[1].state.breath for day in days)
    assert sorted(breaths) == [1, 2, 3, 4]
    assert min(breaths.values()) > 300


def test_a_rating_for_puzzles_is_hidden_until_the_tenth_answer():
    states = list(ratings())[: FEWEST_RATED + 1]
    few = puzzle_rating([(state, True) for state in states[: FEWEST_RATED - 1]] + [(7, True)])
    assert few == {"answers": FEWEST_RATED - 1, "rating": None, "rating_margin": None}
    rated = [puzzle_rating([(state, k < n) for k, state in enumerate(states)]) for n in range(len(states) + 1)]
    assert sorted(each["rating"] for each in rated) == [each["rating"] for each in rated]
    assert all(100 < each["rating_margin"] < 600 for each in rated)


def test_puzzles_are_hard_for_typical_players():
    assert 0 < min(ratings().values()) < np.median(list(ratings().values())) < 300


def test_other_rules_have_no_puzzles():
    with pytest.raises(NoAnswerError, match="only under the standard rules"):
        PunishPlayer("naive", PRESETS["tiny"]).puzzle(date(2026, 12, 1))


@pytest.mark.full
def test_the_best_action_of_a_puzzle_wins_five_points_more_than_any_other():
    space = StateSpace(RULES)
    q = win_solution(space, Player("veteran").policy(space)).q
    for code in range(len(ratings())):
        rows = rows_of_state(space, puzzle_of(date(2026, 12, 1) + timedelta(days=code))[1].state)
        second, best = np.sort(q[rows])[-2:]
        assert best - second >= 0.05

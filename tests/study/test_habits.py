"""Habits are plays in excess of a policy; the costliest situation of each play counts."""

import numpy as np
import pytest
from playing import RULES

from punish_fast.punish.states.space import StateSpace
from punish_fast.study.deviations import AssessedChoices
from punish_fast.study.frequencies import PLAYS
from punish_fast.study.habits import habits
from punish_fast.study.observations import observe


def test_a_habit_is_what_is_played_too_often_and_costs_most():
    space = StateSpace(RULES)
    observed = observe(space)
    first, second = (np.flatnonzero(observed.breath == breath)[:1].repeat(10) for breath in (1, 2))
    # In breath 1: strike, which costs 0.2, in 8 of 10 choices. In breath 2: rush, which costs nothing.
    column = np.array([6] * 8 + [2] * 2 + [2] * 10)
    values, policy = np.full((20, 11), np.nan), np.zeros((20, 11))
    values[:, [2, 6]] = 0.5
    values[:10, 6] = 0.3
    policy[:, [2, 6]] = 0.75, 0.25
    games = np.arange(20) // 5
    assessed = AssessedChoices(np.concatenate([first, second]), column, games, values, policy, 20, 4, 0, 0, 20)
    (habit,) = habits(assessed, space)
    assert (habit.play, habit.choices, habit.of, habit.is_uncertain) == ("strike", 8, 10, True)
    assert (habit.share, habit.reference_share) == (0.8, 0.25)
    # Eight choices lose 0.2 each in four games; 0.55 of 0.8 is surplus.
    assert (habit.loss, habit.cost) == pytest.approx((0.2, 8 * 0.2 / 4 * 0.55 / 0.8))
    assert habit.instead == dict.fromkeys(PLAYS, 0) | {"rush": 0.75, "strike": 0.25}
    # Twenty-four such choices are no chance.
    row, *arrays = (np.repeat(each, 3, axis=0) for each in (assessed.state, column, games, values, policy))
    (sure,) = habits(AssessedChoices(row, *arrays, 60, 4, 0, 0, 60), space)
    assert (sure.choices, sure.share, sure.is_uncertain) == (24, 0.8, False)


def test_habits_of_many_choices_are_preferred_and_sorted_by_cost():
    space = StateSpace(RULES)
    breath = observe(space).breath
    first, second = (int(np.flatnonzero(breath == each)[0]) for each in (1, 2))
    # Eight strikes that cost 0.9 each, and ten rushes that cost 0.1 each.
    state, column = np.repeat([first, second], [10, 12]), np.array([6] * 8 + [2] * 2 + [2] * 10 + [6] * 2)
    values, policy = np.full((22, 11), np.nan), np.zeros((22, 11))
    values[:10, [2, 6]], values[10:, [2, 6]] = (0.9, 0.0), (0.4, 0.5)
    policy[:10, 2] = policy[10:, 6] = 1.0
    played = AssessedChoices(state, column, np.arange(22) // 6, values, policy, 22, 4, 0, 0, 22)
    found = habits(played, space)
    assert [(habit.play, habit.choices) for habit in found] == [("strike", 8), ("rush", 10)]
    assert found[0].cost > found[1].cost
    assert habits(played, space, most=1) == [found[1]]


def test_a_habit_of_few_choices_does_not_hide_another_of_the_same_play():
    space = StateSpace(RULES)
    breath = observe(space).breath
    first, second = (int(np.flatnonzero(breath == each)[0]) for each in (1, 2))
    # Eight strikes that cost 0.9 each, and ten strikes that cost 0.1 each.
    state, column = np.repeat([first, second], [10, 12]), np.array([6] * 8 + [2] * 2 + [6] * 10 + [2] * 2)
    values, policy = np.full((22, 11), np.nan), np.zeros((22, 11))
    values[:, 2], values[:10, 6], values[10:, 6], policy[:, 2] = 0.9, 0.0, 0.8, 1.0
    found = habits(AssessedChoices(state, column, np.arange(22) // 6, values, policy, 22, 4, 0, 0, 22), space)
    assert [(habit.play, habit.choices) for habit in found] == [("strike", 10)]

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.arena.ratings import rank, strengths


def probabilities(strength):
    """Win probabilities of agents of given strengths."""
    strength = np.asarray(strength, dtype=np.float64)
    return 1 / (1 + np.exp(strength[np.newaxis] - strength[:, np.newaxis]))


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=7))
def test_strengths_are_found_again(strength):
    expected = np.array(strength) - np.mean(strength)
    assert strengths(probabilities(strength)) == pytest.approx(expected, abs=1e-6)


def test_a_rating_of_400_more_is_ten_wins_to_one_loss():
    win = np.array([[0.5, 10 / 11], [1 / 11, 0.5]])
    first, second = rank(["good", "bad"], win, np.zeros((2, 2)))
    assert (first.agent, second.agent) == ("good", "bad")
    assert first.rating - second.rating == pytest.approx(400, abs=1e-4)
    assert first.win_rate == pytest.approx(10 / 11)
    assert (first.win_rate_margin, first.rating_margin) == (0, 0)


def test_a_cycle_has_no_best_agent():
    win = np.array([[0.5, 0.7, 0.3], [0.3, 0.5, 0.7], [0.7, 0.3, 0.5]])
    standings = rank(list("abc"), win, np.zeros((3, 3)))
    assert [standing.rating for standing in standings] == pytest.approx([0, 0, 0], abs=1e-6)


def test_an_agent_that_never_loses_has_a_finite_rating():
    first, _ = rank(["a", "b"], np.array([[0.5, 1.0], [0.0, 0.5]]), np.zeros((2, 2)))
    assert 1000 < first.rating < 1e5
    assert first.win_rate == 1


def test_margins_are_those_of_repeated_tournaments():
    generator = np.random.default_rng(1)
    strength, games = np.array([0.5, 0.1, -0.6]), 1000
    truth = probabilities(strength)
    upper = np.triu(np.ones((3, 3), dtype=bool), 1)
    ratings, rates, last = [], [], []
    for _ in range(400):
        shares = np.where(upper, generator.binomial(games, truth) / games, 0.0)
        win = shares + np.where(upper.T, 1 - shares.T, 0.0) + 0.5 * np.eye(3)
        last = rank(list("abc"), win, np.sqrt(win * (1 - win) / games))
        by_name = {standing.agent: standing for standing in last}
        ratings.append([by_name[name].rating for name in "abc"])
        rates.append([by_name[name].win_rate for name in "abc"])
    by_name = {standing.agent: standing for standing in last}
    for found, margin in ((ratings, "rating_margin"), (rates, "win_rate_margin")):
        expected = [getattr(by_name[name], margin) for name in "abc"]
        assert 1.96 * np.std(found, axis=0) == pytest.approx(expected, rel=0.15)

"""Multiplicative weights, against the formula."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.punish._hedge import LEAST_LOGIT, follow_regrets, play_logits

numbers = st.floats(-3, 3)
# No state is so seldom that its regrets count otherwise.
ALWAYS = (0.0, 0.0)


def seen(ptr, chance=0.5):
    """How likely all information states are, in both ways."""
    return np.full((len(ptr) - 1, 2), chance)


@st.composite
def states(draw):
    """Where rows begin, and by row: logits, of which the largest of a state is 0, and regrets."""
    n_rows = draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
    ptr = np.concatenate([[0], np.cumsum(n_rows)]).astype(np.int64)
    logit = np.array(draw(st.lists(numbers, min_size=int(ptr[-1]), max_size=int(ptr[-1]))))
    logit -= np.repeat(np.maximum.reduceat(logit, ptr[:-1]), n_rows)
    return ptr, logit, np.array(draw(st.lists(numbers, min_size=len(logit), max_size=len(logit))))


def matched(ptr, logit):
    """What the logits alone say."""
    return played(ptr, logit, np.zeros(len(logit)))


def played(ptr, logit, total):
    strategy = np.empty(len(logit))
    play_logits(0, len(ptr) - 1, ptr, logit, total, strategy)
    return strategy


def mean_of(ptr, total):
    return total / np.repeat(np.add.reduceat(total, ptr[:-1]), np.diff(ptr))


def logit_of(chances):
    return np.log(chances) - np.log(chances.max())


@given(states())
def test_half_of_what_is_played_is_the_mean_of_before(drawn):
    ptr, logit, total = drawn
    total = np.abs(total) + 1e-3
    exact = np.exp(logit) / np.repeat(np.add.reduceat(np.exp(logit), ptr[:-1]), np.diff(ptr))
    assert matched(ptr, logit) == pytest.approx(exact, rel=1e-12)
    assert played(ptr, logit, total) == pytest.approx((exact + mean_of(ptr, total)) / 2, rel=1e-12)


@given(states(), st.floats(0.01, 2), st.floats(1e-3, 2))
def test_chances_are_multiplied_by_what_is_regretted(drawn, rate, begin):
    ptr, logit, regret = drawn
    last, total, variance = matched(ptr, logit), np.ones(len(logit)), np.full(len(ptr) - 1, begin)
    strategy = played(ptr, logit, total)
    after = strategy.copy()
    follow_regrets(0, len(ptr) - 1, ptr, rate, 4.0, *ALWAYS, regret, seen(ptr), after, variance, logit, total)
    for state, (first, end) in enumerate(itertools.pairwise(ptr)):
        varied = begin + strategy[first:end] @ regret[first:end] ** 2
        assert variance[state] == pytest.approx(varied, rel=1e-12)
        # No logit moves by more than 1, and no chance is less than the least of them allows.
        step = min(rate / np.sqrt(varied), 1 / max(np.abs(regret[first:end]).max(), 1e-100))
        expected = logit_of(last[first:end]) + step * regret[first:end]
        expected = np.maximum(expected - expected.max(), LEAST_LOGIT)
        assert logit[first:end] == pytest.approx(expected, abs=1e-9)
        assert logit[first:end].max() == 0
    assert total == pytest.approx(1 + 4 * last)
    assert np.array_equal(after, played(ptr, logit, total))


@given(states(), st.floats(1e-3, 1e3))
def test_how_large_regrets_are_does_not_matter(drawn, scale):
    """All that was regretted so far decides the step, so it is the same for a game that is worth more or less."""
    ptr, logit, regret = drawn
    found = []
    for factor in (1.0, scale):
        moved, variance = logit.copy(), np.full(len(ptr) - 1, 1e-2 * factor**2)
        scaled, total, strategy = factor * regret, np.zeros(len(logit)), matched(ptr, logit)
        follow_regrets(0, len(ptr) - 1, ptr, 1.0, 1.0, *ALWAYS, scaled, seen(ptr), strategy, variance, moved, total)
        found.append(moved)
    assert found[0] == pytest.approx(found[1], abs=1e-9)


def test_what_was_hardly_ever_played_can_come_back():
    ptr, logit, total, variance = np.array([0, 2]), np.zeros(2), np.zeros(2), np.full(1, 1e-4)
    for regret in (-1.0, 1.0):
        for _ in range(300):
            given_up = np.array([regret, 0.0])
            strategy = played(ptr, logit, total)
            follow_regrets(0, 1, ptr, 1.0, 1.0, *ALWAYS, given_up, seen(ptr), strategy, variance, logit, total)
        assert logit.min() == LEAST_LOGIT
        assert logit.argmax() == (0 if regret > 0 else 1)


def test_only_the_given_states_change():
    ptr, logit, total, variance = np.array([0, 2, 4]), np.zeros(4), np.zeros(4), np.full(2, 0.5)
    strategy, regret = matched(ptr, logit), np.array([1.0, 0.0, 1.0, 0.0])
    follow_regrets(1, 2, ptr, 1.0, 1.0, *ALWAYS, regret, seen(ptr), strategy, variance, logit, total)
    assert logit.tolist() == [0, 0, 0, -1]
    assert total.tolist() == [0, 0, 0.5, 0.5]
    assert variance.tolist() == [0.5, 1.0]


@given(states(), st.integers(0, 20))
def test_what_is_seldom_come_to_counts_as_often_as_is_said(drawn, times):
    """Every second state; what it regrets this time, it is taken to have regretted several times."""
    ptr, logit, regret = drawn
    begin, rare = np.linspace(1, 2, len(logit)), np.arange(len(ptr) - 1) % 2 == 1
    strategy = played(ptr, logit, begin)
    chances = seen(ptr)
    chances[rare, 1] = 0.01
    rows = np.repeat(rare, np.diff(ptr))

    def follow(seldom, chances):
        moved, now, variance, total = logit.copy(), strategy.copy(), np.full(len(rare), 0.5), begin.copy()
        follow_regrets(0, len(rare), ptr, 1.0, 4.0, *seldom, regret, chances, now, variance, moved, total)
        # What is passed over is played as before.
        assert np.array_equal(now, played(ptr, moved, total))
        return moved, variance, total

    moved, variance, total = follow((0.02, float(times)), chances)
    usual, varied, _ = follow(ALWAYS, seen(ptr))
    assert np.array_equal(moved[~rows], usual[~rows])
    assert np.array_equal(variance[~rare], varied[~rare])
    assert variance[rare] == pytest.approx(0.5 + times * (varied[rare] - 0.5), rel=1e-12)
    assert total == pytest.approx(begin + 4 * np.where(rows, times, 1) * matched(ptr, logit), rel=1e-12)
    if times == 0:
        assert np.array_equal(moved[rows], logit[rows])
    for state in np.flatnonzero(rare):
        own = slice(ptr[state], ptr[state + 1])
        largest = max(np.abs(regret[own]).max(), 1e-100)
        step = min(1 / np.sqrt(variance[state]), 1 / (times * largest)) if times else 0.0
        expected = logit[own] + times * step * regret[own]
        assert moved[own] == pytest.approx(np.maximum(expected - expected.max(), LEAST_LOGIT), abs=1e-9)

"""Multiplicative weights, against the formula."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.punish._hedge import LEAST_LOGIT, follow_regrets, play_logits

numbers = st.floats(-3, 3)


@st.composite
def states(draw):
    """Where rows begin, and by row: logits, of which the largest of a state is 0, and regrets."""
    n_rows = draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
    ptr = np.concatenate([[0], np.cumsum(n_rows)]).astype(np.int64)
    logit = np.array(draw(st.lists(numbers, min_size=int(ptr[-1]), max_size=int(ptr[-1]))))
    logit -= np.repeat(np.maximum.reduceat(logit, ptr[:-1]), n_rows)
    return ptr, logit, np.array(draw(st.lists(numbers, min_size=len(logit), max_size=len(logit))))


def matched(ptr, logit):
    strategy = np.empty(len(logit))
    play_logits(0, len(ptr) - 1, ptr, logit, strategy)
    return strategy


@given(states(), st.floats(0.01, 2))
def test_chances_are_multiplied_by_what_is_regretted(drawn, rate):
    ptr, logit, regret = drawn
    before, average = matched(ptr, logit), np.ones(len(logit))
    follow_regrets(0, len(ptr) - 1, ptr, rate, 4.0, regret, before, logit, average)
    after = matched(ptr, logit)
    for first, last in itertools.pairwise(ptr):
        expected = before[first:last] * np.exp(rate * regret[first:last])
        assert after[first:last] == pytest.approx(expected / expected.sum(), rel=1e-12)
        assert logit[first:last].max() == 0
    assert average == pytest.approx(1 + 4 * before)


def test_what_was_hardly_ever_played_can_come_back():
    ptr, logit, average = np.array([0, 2]), np.zeros(2), np.zeros(2)
    for regret in (-1.0, 1.0):
        for _ in range(100):
            given_up = np.array([regret, 0.0])
            follow_regrets(0, 1, ptr, 1.0, 1.0, given_up, matched(ptr, logit), logit, average)
        assert logit.min() == LEAST_LOGIT
        assert logit.argmax() == (0 if regret > 0 else 1)


def test_only_the_given_states_change():
    ptr, logit, average = np.array([0, 2, 4]), np.zeros(4), np.zeros(4)
    strategy = matched(ptr, logit)
    follow_regrets(1, 2, ptr, 1.0, 1.0, np.array([1.0, 0.0, 1.0, 0.0]), strategy, logit, average)
    assert logit.tolist() == [0, 0, 0, -1]
    assert average.tolist() == [0, 0, 0.5, 0.5]

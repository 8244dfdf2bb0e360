"""Players of many games at once: how often they take which action."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from punish_fast.games.learn.episodes import ValueMover, drawn_actions, first_best_actions, random_mover, softmax

N = 4000
LEGAL = np.tile([True, False, True, True], (N, 1))
STATES = np.zeros((N, 1), dtype=np.uint64)


def rising(states):
    """The values of four actions; the greatest is illegal, and the last two are equal."""
    return np.tile(np.array([0.0, 9.0, 2.0, 2.0], dtype=np.float32), (len(states), 1))


@pytest.fixture
def generator():
    return np.random.default_rng(5)


def shares(actions):
    return np.bincount(actions, minlength=4) / len(actions)


def test_greedy_play_takes_the_best_but_for_epsilon(generator):
    even = [1 / 3, 0, 1 / 3, 1 / 3]
    for epsilon, keeps_rules, wanted in ((0, True, np.eye(4)[2]), (0, False, np.eye(4)[1]), (1, True, even)):
        found = shares(ValueMover(rising, 0, epsilon, keeps_rules)(STATES, LEGAL, generator))
        assert found == pytest.approx(wanted, abs=0.03)
    assert shares(random_mover(STATES, LEGAL, generator)) == pytest.approx(even, abs=0.03)
    values = np.array([[1.0, 2.0, 2.0], [5.0, 2.0, 2.0]])
    assert first_best_actions(values, np.array([[True] * 3, [False, True, True]])).tolist() == [1, 1]


def test_mixed_play_follows_the_values(generator):
    found = shares(ValueMover(rising, 2.0)(STATES, LEGAL, generator))
    low, high = np.exp([0.0, 1.0]) / np.exp([0.0, 1.0, 1.0]).sum()
    assert found == pytest.approx([low, 0, high, high], abs=0.03)
    found = shares(ValueMover(rising, 2.0, epsilon=0.6)(STATES, LEGAL, generator))
    assert found == pytest.approx(0.4 * np.array([low, 0, high, high]) + np.array([0.2, 0, 0.2, 0.2]), abs=0.03)
    assert shares(ValueMover(rising, 0.1, keeps_rules=False)(STATES, LEGAL, generator))[1] == 1
    for temperature, wanted in ((1e-310, [0, 0, 0, 1]), (1e-9, [0, 0, 0, 1]), (1e9, [1 / 3, 0, 1 / 3, 1 / 3])):
        assert softmax(np.array([[-1.0, 9.0, 0.5, 1.0]]), LEGAL[:1], temperature)[0] == pytest.approx(wanted)


@given(arrays(np.float64, (3, 4), elements=st.floats(-50, 50)), st.floats(0.01, 100))
def test_probabilities_add_up_and_never_break_rules(values, temperature):
    found = softmax(values, LEGAL[:3], temperature)
    assert found.sum(axis=1) == pytest.approx(np.ones(3))
    assert not found[:, 1].any()
    # A higher value is never less likely.
    legal, likely = values[:, [0, 2, 3]], found[:, [0, 2, 3]]
    assert (np.diff(np.take_along_axis(likely, legal.argsort(axis=1), axis=1)) >= -1e-12).all()


@given(arrays(np.float64, (5, 4), elements=st.sampled_from([0.0, 1e-300, 0.1, 3.0])), st.integers(0, 99))
def test_what_has_no_weight_is_never_drawn(weights, seed):
    weights[:, 2] = 0.3
    found = drawn_actions(weights, np.random.default_rng(seed))
    assert (weights[np.arange(5), found] > 0).all()

from __future__ import annotations

import numpy as np
import pytest
from exact import random_table
from houses import few, house_rules
from hypothesis import given
from policies import mixed, uniform

from punish_fast.mdp.policy import PolicyError
from punish_fast.punish.codes import ACTIONS, to_decimal
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import (
    StrategyError,
    checked_policy,
    policy_of_table,
    table_of_policy,
    uniform_policy,
)
from punish_fast.punish.transitions.tensor import build


@pytest.fixture(scope="module")
def space() -> StateSpace:
    return StateSpace(PRESETS["tiny"])


def one_action(space: StateSpace, row: int, which: int = 0) -> np.ndarray:
    """Probabilities of a state that always plays one of its legal actions."""
    p = np.zeros(len(ACTIONS))
    p[ACTIONS.index(space.action[space.state_ptr[row] + which])] = 1.0
    return p


def test_states_without_an_entry_are_played_uniformly(space):
    assert np.array_equal(uniform_policy(space), uniform(space))
    assert np.array_equal(policy_of_table(space, np.zeros(0, dtype=np.int64), np.zeros((0, 11))), uniform(space))
    state, p = random_table(space, seed=5, covered=0.5)
    policy = policy_of_table(space, state, p)
    is_covered = np.repeat(np.isin(np.arange(space.n_states), state), np.diff(space.state_ptr))
    assert np.array_equal(policy[~is_covered], uniform(space)[~is_covered])
    assert not np.array_equal(policy[is_covered], uniform(space)[is_covered])


@few
@given(house_rules(largest_hp=2, most_breaths=2))
def test_the_table_of_a_policy_gives_the_policy(rules):
    space = StateSpace(rules)
    state, p = random_table(space, 1, covered=1.0)
    assert state.tolist() == list(range(space.n_states))
    assert table_of_policy(space, policy_of_table(space, state, p), state) == pytest.approx(p, rel=1e-15)


def test_wrong_shapes_and_numbers_that_are_not_states_are_refused(space):
    for state, shape in (([0], (1, 10)), ([0], (2, 11)), ([[0]], (1, 11)), ([0], (11,))):
        with pytest.raises(StrategyError, match=r"^strategy: shapes are .*, allowed are \(k,\) and \(k, 11\)"):
            policy_of_table(space, np.array(state), np.zeros(shape))
    for state in (-1, 558, 0.0):
        with pytest.raises(StrategyError, match=r"^strategy: states must be rows from 0 to 557"):
            policy_of_table(space, np.array([state]), one_action(space, 0)[None])


def test_a_repeated_state_is_named(space):
    p = np.stack([one_action(space, row) for row in (5, 3, 5)])
    with pytest.raises(StrategyError, match=f"state {to_decimal(space.state(5))} is listed twice"):
        policy_of_table(space, np.array([5, 3, 5]), p)


@pytest.mark.parametrize("value", [-0.5, np.nan, np.inf])
def test_probability_below_zero_or_not_finite_is_refused(space, value):
    p = one_action(space, 4)
    p[np.argmin(p)] = value
    name = to_decimal(space.state(4))
    with pytest.raises(StrategyError, match=f"state {name} has a probability below 0 or not finite"):
        policy_of_table(space, np.array([3, 4]), np.stack([one_action(space, 3), p]))


@pytest.mark.parametrize("scale", [0.999, 1.001])
def test_probabilities_that_do_not_add_up_to_one_are_refused(space, scale):
    name = to_decimal(space.state(4))
    with pytest.raises(StrategyError, match=f"state {name} has probabilities that add up to {scale}"):
        policy_of_table(space, np.array([4]), scale * one_action(space, 4)[None])


def test_illegal_action_is_named(space):
    p = np.zeros((1, 11))
    p[0, -1] = 1.0
    name = to_decimal(space.state(0))
    with pytest.raises(StrategyError, match=f"state {name} plays 90, which is not legal there"):
        policy_of_table(space, np.array([0]), p)


def test_a_policy_of_other_states_is_refused(space):
    for policy in (np.ones(3), uniform(space).astype(np.float32)):
        with pytest.raises(PolicyError, match=r"^policy: .*, allowed is float64 \(\d+,\)"):
            checked_policy(space, policy)
    other = StateSpace(space.rules._replace(hp=1))
    with pytest.raises(PolicyError, match=r"^policy: .*, allowed is float64"):
        build(other, uniform(space))


@pytest.mark.parametrize("factor", [1 - 9e-15, 1.0, 1 + 9e-15])
def test_sums_of_a_checked_policy_are_1_up_to_rounding(space, factor):
    policy = checked_policy(space, factor * mixed(space, 1))
    assert np.abs(np.add.reduceat(policy, space.state_ptr[:-1]) - 1).max() <= 2**-50


def test_a_policy_within_rounding_is_returned_unchanged(space):
    policy = mixed(space, 3)
    assert checked_policy(space, policy) is policy

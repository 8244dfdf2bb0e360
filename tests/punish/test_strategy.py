from __future__ import annotations

import numpy as np
import pytest
from exact import random_table
from houses import few, house_rules
from hypothesis import given
from policies import mixed, uniform

from punish_fast.mdp.policy import PolicyError
from punish_fast.punish.codes import to_decimal
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import (
    StrategyError,
    checked_policy,
    policy_of_table,
    table_of_policy,
    uniform_policy,
)
from punish_fast.punish.transitions.tensor import build


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


def test_tables_of_other_shapes_or_states_are_refused(space):
    for state, shape in (([0], (1, 10)), ([0], (2, 11)), ([[0]], (1, 11)), ([0], (11,))):
        with pytest.raises(StrategyError, match=r"^strategy: shapes are .*, allowed are \(k,\) and \(k, 11\)"):
            policy_of_table(space, np.array(state), np.zeros(shape))
    state, p = random_table(space, 1)
    for wrong in (-1, 558, 0.0):
        with pytest.raises(StrategyError, match=r"^strategy: states must be rows from 0 to 557"):
            policy_of_table(space, np.array([wrong]), p[:1])
    with pytest.raises(StrategyError, match=f"state {to_decimal(space.state(int(state[0])))} is listed twice"):
        policy_of_table(space, state[[0, 1, 0]], p[[0, 1, 0]])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda p: -p, "has a probability below 0 or not finite"),
        (lambda _: np.full(11, np.nan), "has a probability below 0 or not finite"),
        (lambda _: np.full(11, np.inf), "has a probability below 0 or not finite"),
        (lambda p: 0.999 * p, r"has probabilities that add up to 0\.99[89]"),
        (lambda p: 1.001 * p, r"has probabilities that add up to 1\.00[01]"),
        (lambda _: np.eye(11)[10], "plays 90, which is not legal there"),
    ],
)
def test_a_wrong_row_of_a_table_is_named(space, change, told):
    state, p = random_table(space, 1)
    p[1] = change(p[1])
    with pytest.raises(StrategyError, match=f"state {to_decimal(space.state(int(state[1])))} {told}"):
        policy_of_table(space, state, p)


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

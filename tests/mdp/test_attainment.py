"""Policies that are proved to earn what they must, against their exact values."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import compacted, ending_processes, exact_values, total_rewards

from punish_fast.mdp.bounds.attainment import Aim, attaining_choice, attains
from punish_fast.mdp.model import from_rows
from punish_fast.mdp.policy import preferring, tie_of


def earned(sample, choice):
    states, _, terminals = sample
    rows = [row for state in states for row in state]
    return total_rewards([rows[row] for row in choice], len(terminals))


def aim_at(mdp, values, distance):
    lower = np.append([float(x) - distance for x in values], np.zeros(len(mdp.terminal_reward)))
    return Aim(mdp.reward, lower, -np.inf, 1e-13)


@given(ending_processes(), st.data(), st.sampled_from([1e-9, 1e-3, 0.5]))
def test_what_is_proved_is_true(sample, data, distance):
    states, _, terminals = sample
    mdp = data.draw(st.sampled_from([from_rows(*sample), compacted(from_rows(*sample))]))
    aim = aim_at(mdp, exact_values(states, terminals, 1.0), distance)
    choice = mdp.state_ptr[:-1] + data.draw(st.tuples(*(st.integers(0, len(rows) - 1) for rows in states)))
    values = earned(sample, choice)
    is_enough = all(x >= Fraction(low) for x, low in zip(values, aim.lower, strict=False))
    assert is_enough or not attains(mdp, aim, choice, sweeps=1000)
    # Every step may end play, so what is earned with some to spare is proved; in a cycle one sweep decides.
    has_spare = not mdp.is_cycle and all(float(x) - low > 1e-10 for x, low in zip(values, aim.lower, strict=False))
    assert attains(mdp, aim._replace(allowance=1e-10), choice, sweeps=1000) or not has_spare


@given(ending_processes(), st.sampled_from([1e-9, 1e-3, 0.5]))
def test_a_policy_is_found(sample, distance):
    states, _, terminals = sample
    mdp = from_rows(*sample)
    aim = aim_at(mdp, exact_values(states, terminals, 1.0), distance)
    choice = attaining_choice(mdp, aim)
    assert choice is not None
    assert all(x >= Fraction(low) for x, low in zip(earned(sample, choice), aim.lower, strict=False))
    assert attains(mdp, aim._replace(allowance=1e-10), choice, sweeps=1000)


def test_more_than_the_optimum_is_not_found():
    sample = [[(1.0, {0: 0.5, 1: 0.5}), (0.0, {1: 1.0})]], [1], [0.0]
    mdp = from_rows(*sample)
    assert attaining_choice(mdp, aim_at(mdp, [Fraction(2)], 1e-6)).tolist() == [0]
    assert attaining_choice(mdp, aim_at(mdp, [Fraction(2)], -1e-6)) is None
    assert attains(mdp, aim_at(mdp, [Fraction(2)], 1e-6), np.array([0]), 10)
    assert not attains(mdp, aim_at(mdp, [Fraction(2)], 1e-6), np.array([1]), 10)


def test_a_choice_without_ties_is_the_greedy_one():
    q = np.array([1.0, 1.0 - 1e-13, 0.5, 0.0, -2.0])
    v = np.array([1.0, 0.0])
    preferred = preferring(np.array([0, 3, 5]), q, np.array([1, 3]), v)
    assert preferred[[1, 2, 3, 4]].tolist() == [1.0, 0.5, 0.0, -2.0]
    assert preferred[0] == pytest.approx(1 - 2 * tie_of(v), abs=1e-15)

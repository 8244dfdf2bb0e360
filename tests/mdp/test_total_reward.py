"""Total rewards until a goal in textbook examples; ``judge.py`` has random processes."""

from __future__ import annotations

import pytest
from numba import config
from processes import marks, with_zeros

from punish_fast.mdp import SolveError, from_rows, total_reward

pytestmark = pytest.mark.kernels

INFINITE = float("inf")


def test_a_small_toll_is_paid_for_long_before_a_large_one():
    """A round costs 2^-10; the way out costs 1000 at once, or 1 with a chance of 2^-6 in each round."""
    states = [[(1000.0, {1: 1.0}), (2.0**-10, {0: 1 - 2.0**-6, 1: 2.0**-6})]]
    found = total_reward(from_rows(states, terminals=[0.0]), marks({1}, 2), maximize=False)
    assert found.v == pytest.approx([2.0**-4], abs=1e-9)
    assert found.choice.tolist() == [1]


@pytest.mark.parametrize(("back", "expected"), [(-3.0, -INFINITE), (-1.0, 1.0)])
def test_rounds_that_pay_in_the_long_run_are_made_without_end(back, expected):
    """A round costs 2 and pays ``back``; from state 2 play may enter, or end at a cost of 5."""
    states = [[(2.0, {1: 1.0})], [(back, {0: 1.0}), (-1.0, {3: 1.0})], [(0.0, {0: 0.5, 3: 0.5}), (5.0, {3: 1.0})]]
    mdp = from_rows(states, terminals=[0.0])
    found = total_reward(mdp, marks({3}, 4), maximize=False)
    assert found.v.tolist() == total_reward(with_zeros(mdp), marks({3}, 4), maximize=False).v.tolist()
    assert found.v[0] == pytest.approx(expected)
    assert found.v[2] == (-INFINITE if expected < 0 else pytest.approx(0.5))
    assert found.choice[2] == 3
    assert found.lower[0] <= found.v[0] <= found.upper[0]


def test_rounds_that_may_cost_nothing_in_the_long_run_are_refused():
    states = [[(2.0, {1: 1.0})], [(-2.0, {0: 1.0}), (-1.0, {2: 1.0})]]
    with pytest.raises(
        SolveError, match=r"^reward: play can go on for ever in a component of 2 states for .* may be 0;"
    ):
        total_reward(from_rows(states, terminals=[0.0]), marks({2}, 3), maximize=False)


@pytest.mark.parametrize(("out", "back"), [(1.0, -1 + 1e-12), (1e8 + 0.01, -1e8), (-1.0, 1 + 1e-15)])
def test_rounds_that_hardly_cost_anything_have_a_sign(out, back):
    """State 2 is the goal, which state 1 reaches at a cost of 5."""
    states = [[(out, {1: 1.0})], [(back, {0: 1.0}), (5.0, {2: 1.0})], [(0.0, {2: 1.0})]]
    found = total_reward(from_rows(states), marks({2}, 3), maximize=False)
    assert found.v == pytest.approx([out + 5, 5, 0])
    assert found.choice.tolist() == [0, 2, 3]


def test_rounds_that_cost_less_than_rounding_are_refused():
    """States 2 to 19 lead to the round, whose cost is less than their probabilities might be rounded."""
    states = [[(1.0, {1: 1.0}), (5.0, {20: 1.0})], [(-1 + 1e-14, {0: 1.0})]]
    states += [[(1.0, {k - 1: 0.5, 20: 0.5})] for k in range(2, 20)]
    with pytest.raises(SolveError, match=r"^reward: play without end costs so little"):
        total_reward(from_rows(states, terminals=[0.0]), marks({20}, 21), maximize=False)


@pytest.mark.skipif(config.DISABLE_JIT, reason="a thousand sweeps")
def test_a_first_policy_that_takes_too_long_for_floats_is_improved():
    """The cheap rows lead away from the goal, state 0, so play by them takes 9^k steps; the others take 1.25 k."""
    n, rows = 3000, ((1.0, 0.1), (2.0, 0.9))
    walks = [[(cost, {k - 1: p, min(k + 1, n - 1): 1 - p}) for cost, p in rows] for k in range(1, n)]
    found = total_reward(from_rows([[(0.0, {0: 1.0})], *walks]), marks({0}, n), maximize=False, max_sweeps=2000)
    assert found.v[:3] == pytest.approx([0, 2.5, 5])
    assert found.error_bound < 1e-9
    assert found.choice.tolist() == [0, *range(2, 2 * n, 2)]

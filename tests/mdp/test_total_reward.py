"""Total rewards until a goal, against all policies, and textbook examples."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from objectives import (
    best_of,
    class_gain,
    marks,
    policies,
    processes_with_goals,
    reach_probabilities,
    reached_from,
    recurrent,
    rows_of,
    to_one_end,
)
from processes import compacted, end_components, error, total_rewards, with_zeros

from punish_fast.mdp.model import from_rows
from punish_fast.mdp.objectives.total_reward import evaluate_total_reward, total_reward
from punish_fast.mdp.solver import SolveError
from punish_fast.runtime._jit import set_threads, threads

INFINITE = float("inf")


def rewards_until(rows, goal):
    """The total rewards of a policy until the goal, infinite where it may be missed."""
    end = len(rows)
    reached = reach_probabilities(rows, goal, set())
    stopped = [(0.0, {end: 1.0}) if s in goal or reached[s] < 1 else row for s, row in enumerate(rows)]
    onward = [(reward, to_one_end(row, end)) for reward, row in stopped]
    values = total_rewards(onward, 1)
    return [value if p == 1 else INFINITE for value, p in zip(values, reached, strict=True)]


def ended(row, goal, end):
    """A row in which the goal and all terminals are one end."""
    successors = {}
    for t, p in row.items():
        to = end if t in goal else min(t, end)
        successors[to] = successors.get(to, 0) + Fraction(p)
    return successors


def costing(states):
    """The same process without negative rewards."""
    return [[(abs(reward), row) for reward, row in rows] for rows in states]


def assert_close(found, expected):
    finite = [k for k, x in enumerate(expected) if x != INFINITE]
    assert [v == INFINITE for v in found.v] == [x == INFINITE for x in expected]
    assert error(found.v[finite], [expected[k] for k in finite]) <= found.error_bound if finite else True
    for k in finite:
        assert Fraction(found.lower[k]) <= expected[k] <= Fraction(found.upper[k])


def found_unless_too_long(mdp, goal, **options):
    try:
        return total_reward(mdp, goal, **options)
    except SolveError as refusal:
        assert "play is too long" in str(refusal)
        reject()


@given(processes_with_goals(), st.booleans(), st.sampled_from([1e-3, 1e-9]))
def test_rewards_are_those_of_the_best_of_all_policies(example, maximize, tolerance):
    (states, layers, terminals), goal, _ = example
    states = states if maximize else costing(states)
    mdp = from_rows(states, layers, terminals)
    expected = best_of(maximize, [rewards_until(rows, goal) for rows in policies(states)])
    scale = max([1.0, *(abs(float(x)) for x in expected if x != INFINITE)])
    found = found_unless_too_long(mdp, marks(goal, mdp.n_columns), maximize=maximize, tolerance=tolerance * scale)
    assert_close(found, expected)
    earned = rewards_until(rows_of(states, found.choice), goal)
    assert [x == INFINITE for x in earned] == [x == INFINITE for x in expected]
    for x, best in zip(earned, expected, strict=True):
        assert x == best or abs(x - best) <= 2 * (found.error_bound + tolerance * scale)


@given(processes_with_goals())
def test_rewards_below_0_where_play_must_end(example):
    """Without end components, costs of either sign may be minimised."""
    (states, layers, terminals), goal, _ = example
    mdp = from_rows(states, layers, terminals)
    expected = best_of(False, [rewards_until(rows, goal) for rows in policies(states)])
    if end_components(states):
        return
    found = found_unless_too_long(mdp, marks(goal, mdp.n_columns), maximize=False, tolerance=1e-6)
    assert_close(found, expected)


def unbounded_states(states, goal):
    """Where play can be paid for ever before it surely ends, and whether it can go on for nothing though rows pay."""
    n = len(states)
    reached = best_of(True, [reach_probabilities(rows, goal, set()) for rows in policies(states)])
    sure = {s for s in range(n) if reached[s] == 1} | goal
    kept = [
        [(0.0, {n: 1.0})] if s in goal or s not in sure else [row for row in rows if set(row[1]) <= sure]
        for s, rows in enumerate(states)
    ]
    kept = [[(reward, ended(row, goal, n)) for reward, row in rows] for rows in kept]
    paid, is_idle = set(), False
    for rows in policies(kept):
        for s, component in recurrent(rows).items():
            gain = class_gain(rows, component)
            is_idle |= gain == 0 and any(rows[t][0] for t in component)
            paid |= {s} if gain < 0 else set()
    to = {s: {t for _, row in rows for t in row if t < n} for s, rows in enumerate(kept)}
    return {s for s in sure - goal if reached_from(to, s) & paid}, is_idle


@given(processes_with_goals())
def test_costs_below_0_that_play_can_collect_for_ever(example):
    (states, layers, terminals), goal, _ = example
    mdp = from_rows(states, layers, terminals)
    unbounded, is_idle = unbounded_states(states, goal)
    expected = best_of(False, [rewards_until(rows, goal) for rows in policies(states)])
    expected = [-INFINITE if s in unbounded else x for s, x in enumerate(expected)]
    try:
        found = total_reward(mdp, marks(goal, mdp.n_columns), maximize=False, tolerance=1e-6)
    except SolveError as refusal:
        assert is_idle or "play is too long" in str(refusal)
        return
    assert [v if np.isinf(v) else 0 for v in found.v] == [
        float(x) if x in (INFINITE, -INFINITE) else 0 for x in expected
    ]
    finite = [k for k, x in enumerate(expected) if x not in (INFINITE, -INFINITE)]
    if finite:
        assert error(found.v[finite], [expected[k] for k in finite]) <= found.error_bound


@given(processes_with_goals(), st.data())
def test_a_policy_has_its_own_reward(example, data):
    (states, layers, terminals), goal, _ = example
    mdp = from_rows(states, layers, terminals)
    choice = mdp.state_ptr[:-1] + [data.draw(st.integers(0, len(rows) - 1)) for rows in states]
    weight = np.zeros(mdp.n_rows)
    weight[choice] = 1.0
    expected = rewards_until(rows_of(states, choice), goal)
    scale = max([1.0, *(abs(float(x)) for x in expected if x != INFINITE)])
    try:
        found = evaluate_total_reward(mdp, weight, marks(goal, mdp.n_columns), tolerance=1e-9 * scale)
    except SolveError:
        reject()
    assert_close(found, expected)


@given(processes_with_goals())
def test_threads_and_storage_do_not_change_a_bit(example):
    (states, layers, terminals), goal, _ = example
    mdp, before, bits = from_rows(costing(states), layers, terminals), threads(), set()
    try:
        for process, n_threads in ((mdp, 1), (mdp, 2), (compacted(mdp), 2), (with_zeros(mdp), 2)):
            set_threads(n_threads)
            found = found_unless_too_long(process, marks(goal, mdp.n_columns), maximize=False, tolerance=1e-3)
            bits.add((found.v.tobytes(), found.choice.tobytes(), found.error_bound))
    finally:
        set_threads(before)
    assert len(bits) == 1


def test_crossing_a_river():
    """Rowing costs 1, waiting and drifting back cost nothing, and the tide may take a boat back to the bank."""
    states = [
        [(0.0, {0: 1.0}), (1.0, {1: 0.5, 0: 0.5})],
        [(0.0, {1: 1.0}), (0.0, {0: 1.0}), (1.0, {2: 0.25, 0: 0.75})],
    ]
    mdp = from_rows(states, terminals=[0.0])
    found = total_reward(mdp, marks({2}, 3), maximize=False)
    # x = 2 + y from the near bank, and y = 1 + 3/4 x from the middle, but drifting back makes both equal.
    assert found.v == pytest.approx([12.0, 10.0], abs=1e-9)
    assert found.choice.tolist() == [1, 4]
    assert total_reward(mdp, marks({2}, 3)).v.tolist() == [INFINITE, INFINITE]


def test_free_rounds_are_left_by_the_cheapest_way_out():
    n = 5
    states = [[(0.0, {(k + 1) % n: 1.0}), (0.0, {k: 1.0}), (float(1 + (k - 3) ** 2), {n: 1.0})] for k in range(n)]
    found = total_reward(from_rows(states, terminals=[0.0]), marks({n}, n + 1), maximize=False)
    assert found.v == pytest.approx([1.0] * n)
    assert found.choice.tolist() == [0, 3, 6, 11, 12]


def test_nothing_costs_anything_and_play_still_ends():
    states = [[(0.0, {0: 1.0}), (0.0, {1: 1.0})], [(0.0, {0: 1.0}), (0.0, {2: 1.0})]]
    found = total_reward(from_rows(states, terminals=[0.0]), marks({2}, 3), maximize=False)
    assert (found.v.tolist(), found.choice.tolist()) == ([0.0, 0.0], [1, 3])


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

"""Probabilities of reaching a goal, against all policies, and textbook examples."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from objectives import best_of, marks, policies, processes_with_goals, reach_probabilities, rows_of
from processes import compacted, error

from punish_fast.mdp.model import from_rows
from punish_fast.mdp.objectives.reachability import evaluate_reach_probability, reach_probability
from punish_fast.mdp.solver import SolveError
from punish_fast.runtime._jit import set_threads, threads


def found_unless_too_long(mdp, goal, **options):
    try:
        return reach_probability(mdp, goal, **options)
    except SolveError as refusal:
        assert "play is too long" in str(refusal)
        reject()


@given(processes_with_goals(), st.booleans(), st.sampled_from([1e-3, 1e-9]))
def test_probabilities_are_those_of_the_best_of_all_policies(example, maximize, tolerance):
    (states, layers, terminals), goal, avoid = example
    mdp = from_rows(states, layers, terminals)
    goal_marks, avoid_marks = marks(goal, mdp.n_columns), marks(avoid, mdp.n_columns)
    expected = best_of(maximize, [reach_probabilities(rows, goal, avoid) for rows in policies(states)])
    found = found_unless_too_long(mdp, goal_marks, maximize=maximize, avoid=avoid_marks, tolerance=tolerance)
    assert error(found.v, expected) <= found.error_bound
    for low, v, x, high in zip(found.lower, found.v, expected, found.upper, strict=True):
        assert Fraction(low) <= x <= Fraction(high)
        assert low <= v <= high
        assert high - low <= 2 * found.error_bound + 1e-15
    earned = reach_probabilities(rows_of(states, found.choice), goal, avoid)
    assert error(found.v, earned) <= found.error_bound + max(found.error_bound, tolerance)
    for v, x in zip(found.v, expected, strict=True):
        assert v == x or x not in (0, 1)


@given(processes_with_goals(), st.data())
def test_a_policy_has_its_own_probability(example, data):
    (states, layers, terminals), goal, avoid = example
    mdp = from_rows(states, layers, terminals)
    weight, rows = [], []
    for state in states:
        shares = data.draw(st.lists(st.integers(0, 4), min_size=len(state), max_size=len(state)).filter(any))
        weight += [share / sum(shares) for share in shares]
        mixture = {}
        for share, (_, row) in zip(shares, state, strict=True):
            for column, p in row.items():
                if share:
                    mixture[column] = mixture.get(column, 0) + Fraction(share, sum(shares)) * Fraction(p)
        rows.append((0.0, mixture))
    expected = reach_probabilities(rows, goal, avoid)
    try:
        found = evaluate_reach_probability(
            mdp, np.array(weight), marks(goal, mdp.n_columns), marks(avoid, mdp.n_columns), tolerance=1e-6
        )
    except SolveError:
        reject()
    # Weights such as 1/3 are rounded, so long play may differ.
    smallest = min(p for _, row in rows for p in row.values())
    assert error(found.v, expected) <= found.error_bound + 1e-14 / float(smallest) ** 2


@given(processes_with_goals())
def test_threads_and_storage_do_not_change_a_bit(example):
    (states, layers, terminals), goal, _ = example
    mdp, before, bits = from_rows(states, layers, terminals), threads(), set()
    try:
        for process, n_threads in ((mdp, 1), (mdp, 2), (compacted(mdp), 2)):
            set_threads(n_threads)
            found = found_unless_too_long(process, marks(goal, mdp.n_columns), maximize=False, tolerance=1e-6)
            bits.add((found.v.tobytes(), found.choice.tobytes(), found.error_bound))
    finally:
        set_threads(before)
    assert len(bits) == 1


@pytest.mark.parametrize("p", [0.25, 0.5])
def test_gamblers_who_may_stay_at_home(p):
    """A gambler who stays at home with all coins but one never gets the last one."""
    n = 10
    column = {0: n - 1, n: n} | {i: i - 1 for i in range(1, n)}
    states = [[(0.0, {column[i - 1]: 1 - p, column[i + 1]: p}), (0.0, {column[i]: 1.0})] for i in range(1, n)]
    mdp, goal = from_rows(states, terminals=[0.0, 0.0]), marks({n}, n + 1)
    ratio = (1 - p) / p
    expected = [i / n if ratio == 1 else (1 - ratio**i) / (1 - ratio**n) for i in range(1, n)]
    assert reach_probability(mdp, goal).v == pytest.approx(expected, abs=1e-10)
    least = reach_probability(mdp, goal, maximize=False)
    assert least.v.tolist() == [0.0] * (n - 1)
    assert least.choice.tolist() == [*range(0, 2 * n - 4, 2), 2 * n - 3]
    assert least.error_bound == 0


def test_sure_ways_are_found_without_arithmetic():
    """A coin is tossed until it shows heads, or put away for good; a goal that is a state stops play."""
    states = [[(0.0, {1: 1.0}), (0.0, {0: 0.5, 2: 0.5})], [(0.0, {1: 1.0})], [(0.0, {1: 1.0})]]
    mdp = from_rows(states)
    found = reach_probability(mdp, marks({2}, 3))
    assert (found.v.tolist(), found.error_bound, found.choice[0]) == ([1.0, 0.0, 1.0], 0.0, 1)
    assert reach_probability(mdp, marks({2}, 3), maximize=False).v.tolist() == [0.0, 0.0, 1.0]
    assert reach_probability(mdp, marks({1}, 3), maximize=False).v.tolist() == [1.0, 1.0, 1.0]
    assert reach_probability(mdp, marks({1}, 3), avoid=marks({2}, 3)).v.tolist() == [1.0, 1.0, 0.0]


def test_goals_of_another_shape_are_refused():
    mdp = from_rows([[(0.0, {1: 1.0})]], terminals=[0.0])
    with pytest.raises(SolveError, match=r"^goal: int64 \(1,\), allowed is bool \(1,\), or \(2,\) with terminals$"):
        reach_probability(mdp, np.array([1]))
    with pytest.raises(SolveError, match=r"^avoid: bool \(3,\)"):
        reach_probability(mdp, np.array([True]), avoid=np.zeros(3, dtype=bool))


@pytest.mark.parametrize("moves", [1.0, 1e-6])
def test_a_queue_that_could_hover_for_ever_keeps_its_bound(moves):
    """A slow server lets the queue drift to the full state, so policies can hover for exponentially many steps."""
    n, arrives, fast, slow = 600, 0.3, 0.4, 0.29
    states = [
        [
            (0.0, {s + 1: moves * arrives, s - 1: moves * served, s: 1 - moves * (arrives + served)})
            for served in (fast, slow)
        ]
        for s in range(1, n)
    ]
    mdp = from_rows([[(0.0, {0: 1.0})], *states, [(0.0, {n: 1.0})]])
    empty, full = np.arange(n + 1) == 0, np.arange(n + 1) == n
    found = reach_probability(mdp, empty, avoid=full)
    ratio = fast / arrives
    # Gambler's ruin; the first row serves fast.
    right = 1 - (ratio ** np.arange(n + 1) - 1) / (ratio**n - 1)
    assert found.error_bound <= 1e-10
    assert np.abs(found.v - right).max() <= found.error_bound + 1e-12
    assert found.choice[n // 2 :].tolist() == mdp.state_ptr[n // 2 : -1].tolist()

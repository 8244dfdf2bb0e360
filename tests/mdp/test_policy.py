"""Policies, greedy choices, improvements, and policies that are proved to earn what they must."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import compacted, ending_processes, exact_values, random_processes, total_rewards

from punish_fast.mdp.arrays.policy import TIE, PolicyError, first_best, greedy, softmax
from punish_fast.mdp.bounds import improvement
from punish_fast.mdp.bounds.improvement import Improvement
from punish_fast.mdp.methods.value_iteration import Aim, attains
from punish_fast.mdp.model.comparison import compare_solutions
from punish_fast.mdp.model.mdp import from_rows
from punish_fast.mdp.model.process import FURTHER_TERMS, UNIT_ROUNDOFF
from punish_fast.mdp.model.stored_process import rounding_of_backup
from punish_fast.mdp.objectives.solver import solve
from punish_fast.runtime.errors import ArgumentError

PTR = np.array([0, 3, 5])


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_first_of_rows_within_a_tie_of_the_best_is_chosen(scale):
    half, twice = TIE / 2, 2 * TIE
    assert first_best(PTR, scale * np.array([1 - half, 1.0, 0.5, 0.25, 0.5])).tolist() == [0, 4]
    assert first_best(PTR, scale * np.array([1 - twice, 1.0, 1.0, 0.5, 0.5 - half])).tolist() == [1, 3]
    # Ties are measured by the largest value of all, whatever its sign.
    assert first_best(PTR, scale * np.array([-1.0, -1 + half, -1.0, -1e-13, 0.0])).tolist() == [0, 3]


# Ties are measured by the largest value of a state, so it is not 0.
@given(
    st.lists(st.integers(-5, 5), min_size=5, max_size=5).filter(lambda q: max(q[:3]) or max(q[3:])),
    st.lists(st.floats(-1, 1), min_size=5, max_size=5),
)
def test_rounding_decides_no_choice(values, noise):
    exact = np.array(values, dtype=np.float64)
    rounded = exact + 1e-14 * np.array(noise)
    assert first_best(PTR, rounded).tolist() == first_best(PTR, exact).tolist()
    assert first_best(PTR, exact).tolist() == [np.argmax(exact[:3]), 3 + np.argmax(exact[3:])]
    assert np.flatnonzero(greedy(PTR, rounded)).tolist() == first_best(PTR, exact).tolist()


@pytest.mark.parametrize("make", [greedy, lambda state_ptr, q: softmax(state_ptr, q, 1.0)], ids=["greedy", "softmax"])
def test_a_solution_is_no_array(tiny_mdp, make):
    solution = solve(tiny_mdp)
    with pytest.raises(PolicyError, match=r"^state_ptr: is a Solution; it must be an array"):
        make(solution, solution.q)
    with pytest.raises(PolicyError, match=r"^q: is a Solution; it must be an array"):
        make(tiny_mdp.state_ptr, solution)
    with pytest.raises(PolicyError, match=r"^q: has the shape \(\d+,\); it must be \(\d+,\), a value for each row"):
        make(tiny_mdp.state_ptr, solution.q[1:])
    assert np.allclose(make(tiny_mdp.state_ptr, solution.q).sum(), tiny_mdp.n_states)


# Three states of two, one and three rows, in layers of two and one.
STATE_PTR = np.array([0, 2, 3, 6])
LAYER_PTR = np.array([0, 2, 3])


def test_differences_of_a_small_example():
    first = np.array([1.0, 2.0, 3.0, 4.0, 1.0, 0.0])
    second = np.array([1.0, 0.5, 3.0, 0.0, 1.0, 3.0])
    comparison = compare_solutions(STATE_PTR, LAYER_PTR, first, second)
    assert comparison.choices.tolist() == [[1, 2, 3], [0, 2, 5]]
    # In state 0: 2 - 1 and 1 - 0.5; in state 2: 4 - 0 and 3 - 0.
    assert comparison.disagreement.tolist() == [1.5, 0.0, 7.0]
    assert comparison.n_states.tolist() == [2, 1]
    assert comparison.n_changed.tolist() == comparison.n_clear.tolist() == [1, 1]
    assert comparison.largest(1).tolist() == [2]
    assert comparison.largest(9).tolist() == [2, 0]
    q, v = comparison.q, comparison.v
    assert (q.largest, q.mean, q.bias) == (4.0, 8.5 / 6, -2.5 / 6)
    assert q.rms == pytest.approx(np.sqrt((1.5**2 + 4**2 + 3**2) / 6))
    assert (v.largest, v.mean, v.bias) == (1.0, 2 / 3, -2 / 3)


def test_a_tie_broken_by_rounding_is_a_change_but_not_clear():
    def compared(gap):
        first, second = (np.array([5.0, 5.0 + sign * gap, 1.0, 0.0, 0.0, 0.0]) for sign in (-1, 1))
        return compare_solutions(STATE_PTR, LAYER_PTR, first, second)

    comparison = compared(1e-9)
    assert comparison.n_changed.tolist() == [1, 0]
    assert comparison.n_clear.tolist() == [0, 0]
    assert compared(1e-15).n_changed.tolist() == [0, 0], "a tie for the greedy choice too"
    assert comparison.largest(3).tolist() == []


values = st.lists(st.integers(-20_000, 20_000), min_size=6, max_size=6).map(lambda numbers: np.array(numbers) / 1000)


@given(values, values)
def test_swapping_the_solutions_changes_only_the_sign_of_the_bias(first, second):
    there = compare_solutions(STATE_PTR, LAYER_PTR, first, second)
    back = compare_solutions(STATE_PTR, LAYER_PTR, second, first)
    for a, b in ((there.q, back.q), (there.v, back.v)):
        assert (a.largest, a.mean, a.rms, a.bias) == (b.largest, b.mean, b.rms, -b.bias)
    assert there.disagreement.tolist() == back.disagreement.tolist()
    assert there.choices.tolist() == back.choices[::-1].tolist()
    assert there.n_clear.tolist() == back.n_clear.tolist()


@pytest.mark.parametrize("wrong", [np.zeros(5), np.zeros((6, 1)), np.full(6, np.nan), np.full(6, np.inf)])
def test_values_of_the_wrong_shape_or_not_finite_are_refused(wrong):
    for pair in ((wrong, np.zeros(6)), (np.zeros(6), wrong)):
        with pytest.raises(ArgumentError, match=r"^first, second: values of shape .*; pass 6 finite numbers"):
            compare_solutions(STATE_PTR, LAYER_PTR, *pair)


def earned(sample, choice):
    states, _, terminals = sample
    rows = [row for state in states for row in state]
    return total_rewards([rows[row] for row in choice], terminals)


def aim_at(mdp, values, distance):
    lower = np.append([float(x) - distance for x in values], mdp.terminal_reward)
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


def test_a_policy_that_ends_at_once_attains_less():
    sample = [[(1.0, {0: 0.5, 1: 0.5}), (0.0, {1: 1.0})]], [1], [0.0]
    mdp = from_rows(*sample)
    assert attains(mdp, aim_at(mdp, [Fraction(2)], 1e-6), np.array([0]), 10)
    assert not attains(mdp, aim_at(mdp, [Fraction(2)], 1e-6), np.array([1]), 10)


# Staying in a row of reward 0 is tied with leaving, but never earns the reward 1 of leaving.
MUST_LEAVE = [[(0.0, {0: 1.0}), (1.0, {1: 1.0})]], None, [0.0]


def test_values_stay_as_computed_and_the_policy_is_the_one_that_was_proved():
    found = solve(from_rows(*MUST_LEAVE), 1.0)
    assert (found.q.tolist(), found.choice.tolist(), found.policy.tolist()) == ([1.0, 1.0], [1], [0.0, 1.0])
    assert found.softmax(1.0).tolist() == [0.5, 0.5]
    found = solve(from_rows([[(1e12, {0: 1.0})], [(1.0, {1: 1.0}), (1.5, {1: 1.0})]]), 0.0)
    assert found.q.tolist() == [1e12, 1.0, 1.5]
    assert found.choice.tolist() == [0, 2]


@given(random_processes(), st.sampled_from([0.5, 0.9]), st.integers(1, 6), st.floats(-20, 20))
def test_optimal_values_lie_between_the_bounds_of_every_backup(sample, discount, n_backups, value):
    states, _, terminals = sample
    mdp = from_rows(states, terminals=terminals)
    point = Improvement(mdp, discount, 0.0, np.full(mdp.n_states, value))
    for _ in range(n_backups):
        point.improve()
    exact = np.array([float(v) for v in exact_values(states, terminals, discount)])[: mdp.n_states]
    bound, v = point.bound, point.v[: mdp.n_states]
    factor, slack = discount / (1 - discount), 1e-9
    assert (v + factor * bound.low <= exact + slack).all()
    assert (exact <= v + factor * bound.high + slack).all()


@given(random_processes(), st.sampled_from([0.5, 0.9]))
def test_rows_that_drop_out_are_not_optimal(sample, discount):
    states, _, terminals = sample
    mdp = from_rows(states, terminals=terminals)
    point = Improvement(mdp, discount, 1e-12)
    for _ in range(60):
        point.improve()
    ends = [reward / (1 - discount) for reward in terminals]
    v = np.array([float(x) for x in exact_values(states, terminals, discount)] + ends)
    q = mdp.reward + discount * (mdp.to_scipy() @ v)
    for state in range(mdp.n_states):
        first, last = mdp.state_ptr[state : state + 2]
        kept = point.candidates.rows[first : first + point.candidates.number[state]]
        assert set(np.flatnonzero(q[first:last] >= v[state] - 1e-13) + first) <= set(kept.tolist())
        assert point.choice[state] in kept


def test_a_worse_row_drops_out_and_is_read_no_more():
    mdp = from_rows([[(1.0, {0: 1.0}), (0.0, {0: 1.0})]])
    point = Improvement(mdp, 0.5, 1e-12)
    for _ in range(3):
        point.improve()
    assert point.candidates.number.tolist() == [1]
    assert point.work == 2 + 1 + 1


def test_changes_of_terminals_count_as_none():
    mdp = from_rows([[(1.0, {1: 1.0})]], terminals=[0.0])
    point = Improvement(mdp, 0.5, 1e-9)
    point.improve()
    assert (point.bound.low, point.bound.high) == (0.0, 1.0)


@given(random_processes(), st.floats(-1e6, 1e6))
def test_rounding_errors_count_in_rows_that_can_be_best(sample, value):
    states, _, terminals = sample
    mdp = from_rows(states, terminals=terminals)
    v, matrix = np.linspace(value, 1.0, mdp.n_columns), mdp.to_scipy()
    q, terms = mdp.reward + 0.9 * (matrix @ v), np.abs(mdp.reward) + 0.9 * (matrix @ np.abs(v))
    error = (np.diff(mdp.indptr) + FURTHER_TERMS) * UNIT_ROUNDOFF * terms
    best, high, low = (np.maximum.reduceat(x, mdp.state_ptr[:-1]) for x in (q, q + error, q - error))
    expected = 2 * float(np.maximum(high - best, best - low).max())
    assert rounding_of_backup(mdp, v, 0.9) == pytest.approx(expected, rel=0.1, abs=1e-300)


DISCOUNT = 0.9


def backed_up(rows, v):
    """The slow twin: values of one step under the policy, each with its change."""
    values = [reward + DISCOUNT * sum(p * v[t] for t, p in successors.items()) for reward, successors in rows]
    return values, [value - old for value, old in zip(values, v, strict=False)]


def relaxed(rows, residual, boundary):
    """The slow twin: two sweeps from zero, of states that see new values of their own block."""
    x = [0.0] * len(rows)
    for is_descending in (True, False):
        old = list(x)
        for first, last in pairwise(boundary):
            block = range(first, last)
            for state in reversed(block) if is_descending else block:
                _, successors = rows[state]
                inner = {t: p for t, p in successors.items() if t < len(rows) and t != state}
                total = sum(p * (x if t in block else old)[t] for t, p in inner.items())
                x[state] = (residual[state] + DISCOUNT * total) / (1 - DISCOUNT * successors.get(state, 0.0))
    return x


@settings(max_examples=10)
@given(random_processes(), st.data())
def test_sweeps_are_those_of_the_rows_of_the_last_policy(sample, data):
    states, _, terminals = sample
    n = len(states)
    mdp = from_rows(states, terminals=terminals)
    v = np.linspace(-1, 1, mdp.n_columns)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(improvement, "_BLOCK_STATES", data.draw(st.integers(1, 8)))
        point = Improvement(mdp, DISCOUNT, 1e-9)
        boundary = point.greedy_chain()._blocks.tolist()
        for _ in range(3):
            chosen = [data.draw(st.integers(0, len(rows) - 1)) for rows in states]
            point.choice[:] = mdp.state_ptr[:-1] + np.array(chosen, dtype=np.int64)
            chain, rows = point.greedy_chain(), [states[s][k] for s, k in enumerate(chosen)]
            values, changes = backed_up(rows, v)
            out = v.copy()
            assert chain.back_up(v, out) == pytest.approx((min(changes), max(changes)))
            assert out[:n] == pytest.approx(values)
            rewards = np.array([reward for reward, _ in rows])
            assert chain.discounted_successors(v) == pytest.approx(out[:n] - rewards)
            found = chain.relaxed(v[:n])
            assert found[:n] == pytest.approx(relaxed(rows, v[:n], boundary))
            assert not found[n:].any()

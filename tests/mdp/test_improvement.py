from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import exact_values, random_processes

from punish_fast.mdp.bounds import improvement
from punish_fast.mdp.bounds.improvement import Improvement
from punish_fast.mdp.model import from_rows
from punish_fast.mdp.process import FURTHER_TERMS, UNIT_ROUNDOFF, rounding_of_backup


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
    q, terms = mdp.reward + matrix @ v, np.abs(mdp.reward) + matrix @ np.abs(v)
    error = (np.diff(mdp.indptr) + FURTHER_TERMS) * UNIT_ROUNDOFF * terms
    best, high, low = (np.maximum.reduceat(x, mdp.state_ptr[:-1]) for x in (q, q + error, q - error))
    expected = 2 * float(np.maximum(high - best, best - low).max())
    assert rounding_of_backup(mdp, v, 1.0) == pytest.approx(expected, rel=0.1, abs=1e-300)


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

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import random_processes

from punish_fast.mdp.bounds.improvement import Improvement
from punish_fast.mdp.methods._gauss_seidel import Blocks
from punish_fast.mdp.methods.gauss_seidel import GaussSeidel, relax
from punish_fast.mdp.methods.prioritized_sweeping import PrioritizedSweeping
from punish_fast.mdp.model import from_rows


def relaxed(states, v, discount, block, is_descending):
    """The slow twin: one sweep over the states of a block, which see its new values and the old ones elsewhere."""
    seen, old = list(v), list(v)
    for state in reversed(block) if is_descending else block:
        values = []
        for reward, successors in states[state]:
            others = sum(p * (seen if t in block else old)[t] for t, p in successors.items() if t != state)
            values.append((reward + discount * others) / (1 - discount * successors.get(state, 0.0)))
        seen[state] = max(values)
    return seen


@given(random_processes(), st.booleans(), st.integers(0, 10))
def test_blocks_see_their_own_new_values(sample, is_descending, cut):
    states, _, terminals = sample
    n, cut = len(states), min(cut, len(states))
    point = Improvement(from_rows(states, terminals=terminals), 0.9, 1e-9, np.linspace(-1, 1, n))
    boundary = np.unique([0, cut, n]).astype(np.uint64)
    out = point.v.copy()
    relax(point, Blocks(np.arange(len(boundary) - 1, dtype=np.uint64), boundary, is_descending), out)
    for first, last in zip(boundary[:-1].tolist(), boundary[1:].tolist(), strict=True):
        expected = relaxed(states, point.v.tolist(), 0.9, range(first, last), is_descending)
        assert out[first:last] == pytest.approx(expected[first:last])


@pytest.mark.parametrize("method", [GaussSeidel, PrioritizedSweeping])
def test_values_travel_along_a_corridor_in_one_step(method):
    n = 40
    mdp = from_rows([[(0.0, {k + 1: 1.0})] for k in range(n - 1)] + [[(1.0, {n: 1.0})]], terminals=[0.0])
    point = Improvement(mdp, 0.9, 1e-9)
    point.improve()
    advance = method()
    for _ in range(1 if method is GaussSeidel else n):
        advance.advance(point)
    assert point.v[:n] == pytest.approx(0.9 ** np.arange(n - 1, -1, -1))


def test_a_row_that_leads_back_is_solved_at_once():
    point = Improvement(from_rows([[(1.0, {0: 0.5, 1: 0.5})]], terminals=[0.0]), 0.5, 1e-9)
    GaussSeidel().advance(point)
    assert point.v[0] == pytest.approx(1 / (1 - 0.25))

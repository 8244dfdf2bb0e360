from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import random_processes

from punish_fast.mdp.bounds.improvement import Improvement
from punish_fast.mdp.chain import policy_chain
from punish_fast.mdp.model import from_rows

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
        patch.setattr(policy_chain, "_BLOCK_STATES", data.draw(st.integers(1, 8)))
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

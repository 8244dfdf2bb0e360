"""Values of a number of steps, against backward induction in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import error, random_processes

from punish_fast.mdp import SolveError, finite_horizon, from_rows


def induction(states, terminals, n_steps, discount, last):
    """The values before each step, from the first to the last, as lists of fractions."""
    g, n = Fraction(discount), len(states)
    values = [[Fraction(x) for x in last]]
    for _ in range(n_steps):
        v = values[0]
        worth = [
            [Fraction(r) + g * sum(Fraction(p) * v[t] for t, p in row.items()) for r, row in rows] for rows in states
        ]
        values.insert(0, [max(q) for q in worth] + [Fraction(r) + g * x for r, x in zip(terminals, v[n:], strict=True)])
    return values


@given(random_processes(), st.integers(1, 12), st.sampled_from([0.0, 0.5, 0.95, 1.0]), st.integers(-3, 3))
def test_values_are_exact_up_to_the_bound(sample, n_steps, discount, last):
    states, layers, terminals = sample
    n = len(states)
    mdp = from_rows(states, layers, terminals)
    final = np.full(mdp.n_columns, float(last))
    expected = induction(states, terminals, n_steps, discount, final)
    found = finite_horizon(mdp, n_steps, discount, final)
    assert found.v.shape == (n_steps + 1, n)
    for v, exact in zip(found.v, expected, strict=True):
        assert error(v, exact[:n]) <= found.error_bound
    assert found.error_bound < 1e-12
    rows = [row for state in states for row in state]
    for step, choice in enumerate(found.choice):
        for s, row in enumerate(choice):
            reward, successors = rows[row]
            after = sum(Fraction(p) * expected[step + 1][t] for t, p in successors.items())
            assert abs(Fraction(reward) + Fraction(discount) * after - expected[step][s]) < 1e-9
    first = finite_horizon(mdp, n_steps, discount, final, keep_all=False)
    assert np.array_equal(first.v, found.v[:1])
    assert np.array_equal(first.choice, found.choice[:1])


def test_a_secretary_takes_the_best_so_far_after_a_third():
    """Of 3 candidates the second is taken if it beats the first, which wins with probability 1/2."""
    # States: a candidate that is the best so far, or not; the number seen is the step.
    win = {1: 1 / 3, 2: 2 / 3, 3: 1.0}
    value = {3: 1 / 3}
    for k in (2, 1):
        value[k] = max(win[k], value[k + 1]) / k + value[k + 1] * (1 - 1 / k)
    states = [
        [(0.0, {2: 0.5, 1: 0.5}), (win[1], {5: 1.0})],
        [(0.0, {3: 1 / 3, 4: 2 / 3})],
        [(0.0, {3: 1 / 3, 4: 2 / 3}), (win[2], {5: 1.0})],
        [(win[3], {5: 1.0})],
        [(0.0, {5: 1.0})],
    ]
    found = finite_horizon(from_rows(states, terminals=[0.0]), 3)
    assert found.v[0, 0] == pytest.approx(value[1])
    assert found.choice[:, [0, 2]].tolist()[0:2] == [[0, 4], [0, 4]]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"n_steps": 0}, "n_steps: 0 is not allowed, it must be a whole number from 1"),
        ({"n_steps": 1, "discount": 1.5}, "discount: 1.5 is not allowed, it must be from 0 to 1"),
        ({"n_steps": 1, "terminal_value": np.zeros(3)}, "terminal_value: must be 1 finite numbers, or 2"),
    ],
)
def test_options_out_of_range_are_refused(options, text):
    with pytest.raises(SolveError) as refusal:
        finite_horizon(from_rows([[(0.0, {1: 1.0})]], terminals=[1.0]), **options)
    assert str(refusal.value) == text


def test_a_slightly_worse_row_does_not_enlarge_the_bound():
    worse, best = (1 - 5e-11, {0: 1.0}), (1.0, {0: 1.0})
    first, last = (finite_horizon(from_rows([rows]), 300) for rows in ([worse, best], [best, worse]))
    assert first.error_bound == last.error_bound
    assert (first.choice[:, 0] == 1).all()

"""Values of a number of steps in textbook examples; ``judge.py`` has random processes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import random_processes

from punish_fast.mdp import SolveError, finite_horizon, from_rows

pytestmark = pytest.mark.kernels


@given(random_processes(), st.integers(1, 12), st.integers(-3, 3))
def test_the_first_step_alone_is_that_of_all_steps(sample, n_steps, last):
    mdp = from_rows(*sample)
    final = np.full(mdp.n_columns, float(last))
    found = finite_horizon(mdp, n_steps, 0.95, final)
    assert found.v.shape == (n_steps + 1, mdp.n_states)
    assert (found.v[-1] == last).all()
    first = finite_horizon(mdp, n_steps, 0.95, final, keep_all=False)
    assert np.array_equal(first.v, found.v[:1])
    assert np.array_equal(first.choice, found.choice[:1])


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

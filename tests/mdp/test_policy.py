"""Policies and greedy choices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.mdp.policy import TIE, PolicyError, first_best, greedy, softmax
from punish_fast.mdp.solver import solve

PTR = np.array([0, 3, 5])


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_first_of_rows_within_a_tie_of_the_best_is_chosen(scale):
    half, twice = TIE / 2, 2 * TIE
    assert first_best(PTR, scale * np.array([1 - half, 1.0, 0.5, 0.25, 0.5])).tolist() == [0, 4]
    assert first_best(PTR, scale * np.array([1 - twice, 1.0, 1.0, 0.5, 0.5 - half])).tolist() == [1, 3]
    # Ties are measured by the largest value of all, whatever its sign.
    assert first_best(PTR, scale * np.array([-1.0, -1 + half, -1.0, -1e-13, 0.0])).tolist() == [0, 3]


@given(st.lists(st.integers(-5, 5), min_size=5, max_size=5), st.lists(st.floats(-1, 1), min_size=5, max_size=5))
def test_rounding_decides_no_choice(values, noise):
    exact = np.array(values, dtype=np.float64)
    rounded = exact + 1e-14 * np.array(noise)
    assert first_best(PTR, rounded).tolist() == first_best(PTR, exact).tolist()
    assert first_best(PTR, exact).tolist() == [np.argmax(exact[:3]), 3 + np.argmax(exact[3:])]
    assert np.flatnonzero(greedy(PTR, rounded)).tolist() == first_best(PTR, exact).tolist()


@pytest.mark.parametrize("make", [greedy, lambda state_ptr, q: softmax(state_ptr, q, 1.0)], ids=["greedy", "softmax"])
def test_a_solution_is_no_array(tiny_mdp, make):
    solution = solve(tiny_mdp)
    with pytest.raises(PolicyError, match=r"^state_ptr: is a Solution, allowed is an array"):
        make(solution, solution.q)
    with pytest.raises(PolicyError, match=r"^q: is a Solution, allowed is an array"):
        make(tiny_mdp.state_ptr, solution)
    assert np.allclose(make(tiny_mdp.state_ptr, solution.q).sum(), tiny_mdp.n_states)

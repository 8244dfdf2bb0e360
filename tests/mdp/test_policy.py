"""Policies and greedy choices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.mdp.comparison import ComparisonError, compare
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
    with pytest.raises(PolicyError, match=r"^state_ptr: is a Solution; it must be an array"):
        make(solution, solution.q)
    with pytest.raises(PolicyError, match=r"^q: is a Solution; it must be an array"):
        make(tiny_mdp.state_ptr, solution)
    assert np.allclose(make(tiny_mdp.state_ptr, solution.q).sum(), tiny_mdp.n_states)


# Three states of two, one and three rows, in layers of two and one.
STATE_PTR = np.array([0, 2, 3, 6])
LAYER_PTR = np.array([0, 2, 3])


def test_differences_of_a_small_example():
    first = np.array([1.0, 2.0, 3.0, 4.0, 1.0, 0.0])
    second = np.array([1.0, 0.5, 3.0, 0.0, 1.0, 3.0])
    comparison = compare(STATE_PTR, LAYER_PTR, first, second)
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
        return compare(STATE_PTR, LAYER_PTR, first, second)

    comparison = compared(1e-9)
    assert comparison.n_changed.tolist() == [1, 0]
    assert comparison.n_clear.tolist() == [0, 0]
    assert compared(1e-15).n_changed.tolist() == [0, 0], "a tie for the greedy choice too"
    assert comparison.largest(3).tolist() == []


values = st.lists(st.integers(-20_000, 20_000), min_size=6, max_size=6).map(lambda numbers: np.array(numbers) / 1000)


@given(values, values)
def test_swapping_the_solutions_changes_only_the_sign_of_the_bias(first, second):
    there, back = compare(STATE_PTR, LAYER_PTR, first, second), compare(STATE_PTR, LAYER_PTR, second, first)
    for a, b in ((there.q, back.q), (there.v, back.v)):
        assert (a.largest, a.mean, a.rms, a.bias) == (b.largest, b.mean, b.rms, -b.bias)
    assert there.disagreement.tolist() == back.disagreement.tolist()
    assert there.choices.tolist() == back.choices[::-1].tolist()
    assert there.n_clear.tolist() == back.n_clear.tolist()


@pytest.mark.parametrize("wrong", [np.zeros(5), np.zeros((6, 1)), np.full(6, np.nan), np.full(6, np.inf)])
def test_values_of_the_wrong_shape_or_not_finite_are_refused(wrong):
    for pair in ((wrong, np.zeros(6)), (np.zeros(6), wrong)):
        with pytest.raises(ComparisonError, match=r"^compare: values of shape .*; pass 6 finite numbers"):
            compare(STATE_PTR, LAYER_PTR, *pair)

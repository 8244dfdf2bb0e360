from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import empty_process, ending_processes, error, exact_win_probabilities

from punish_fast.mdp.methods.interval_iteration import Reachability
from punish_fast.mdp.model import from_rows
from punish_fast.mdp.solver import SolveError, solve


def solve_reachability(mdp, **options):
    return solve(mdp, objective="win-probability", **({"method": "layered"} | options))


def assert_bracketed(solution, exact):
    """Check that every exact probability, a fraction, lies between bounds as close as the error bound says."""
    assert error(solution.v, exact) <= solution.error_bound
    for low, x, high in zip(solution.lower.tolist(), exact, solution.upper.tolist(), strict=True):
        assert 0 <= low <= high <= 1
        # Adding the bound to a value rounds once more.
        assert Fraction(low) - Fraction(1, 2**53) <= x <= Fraction(high) + Fraction(1, 2**53)
        assert high - low <= 2 * solution.error_bound * (1 + 1e-6) + 1e-15


def gambler(n, p):
    """A random walk from i of n coins, up with probability p, until there are n (a win) or none."""
    ruin, riches = n - 1, n
    return [[(0.0, {ruin if i == 1 else i - 2: 1 - p, riches if i == n - 1 else i: p})] for i in range(1, n)]


def win_probabilities(n, p):
    """See [Feller 1968, XIV.2]."""
    ratio = (1 - Fraction(p)) / Fraction(p)
    return [Fraction(i, n) if ratio == 1 else (1 - ratio**i) / (1 - ratio**n) for i in range(1, n)]


# Closed forms


@pytest.mark.parametrize(
    ("layers", "p", "tolerance"), [([9], 0.25, 1e-2), ([0, 4, 5], 0.5, 1e-6), ([1] * 9, 0.75, 1e-10)]
)
def test_gamblers_ruin(layers, p, tolerance):
    solution = solve_reachability(from_rows(gambler(10, p), layers, [0.0, 1.0]), tolerance=tolerance)
    assert_bracketed(solution, win_probabilities(10, p))
    assert solution.converged
    assert (solution.objective, solution.discount) == ("win-probability", 1.0)


def test_a_long_walk_whose_first_brackets_fail():
    """Errors are a hundred times the last changes here, so no close bracket around the first values can be proved."""
    n = 20
    mdp = from_rows(gambler(n, 0.5), terminals=[0.0, 1.0])
    solution = solve_reachability(mdp, tolerance=1e-6)
    assert_bracketed(solution, win_probabilities(n, 0.5))
    assert solution.converged
    iteration = Reachability(mdp, 1e-6)
    while iteration._bracket is None or iteration._bracket.patience == 8:
        iteration.sweep()
    assert iteration._bracket.distance > 1e-6


def test_only_arrivals_at_winning_terminals_count():
    """Earlier rewards, and terminals without a positive reward, do not count; all winning terminals are equal."""
    states = [[(9.0, {1: 1.0}), (-9.0, {3: 0.25, 4: 0.5, 2: 0.25})], [(100.0, {2: 1.0})]]
    solution = solve_reachability(from_rows(states, terminals=[0.0, 0.5, 7.0]))
    assert_bracketed(solution, [Fraction(3, 4), Fraction(0)])
    assert solution.q == pytest.approx([0.0, 0.75, 0.0], abs=1e-10)
    assert solution.choice.tolist() == [1, 2]


@pytest.mark.parametrize("rewards", [[-1.0], [0.0, -2.0], []])
def test_without_a_winning_terminal_the_probability_is_0(rewards):
    mdp = from_rows([[(1.0, {1: 1.0})]], terminals=rewards) if rewards else empty_process()
    solution = solve_reachability(mdp)
    assert solution.v.tolist() == [0.0] * mdp.n_states
    assert solution.converged


def test_a_certain_win_has_probability_1():
    """Probabilities that add up to a little more than 1 give no win probability above 1."""
    third = 1 / 3
    states = [[(0.0, {1: third, 2: third, 3: 1 - 2 * third})], [(0.0, {2: 0.1, 3: 0.9})]]
    solution = solve_reachability(from_rows(states, terminals=[1.0, 1.0]))
    assert solution.v.max() <= 1
    assert solution.q.max() <= 1
    assert solution.v == pytest.approx([1.0, 1.0])


# Play that need not end


@pytest.mark.parametrize(
    ("states", "values", "choice"),
    [
        # Stay, or win: staying looks as good as winning.
        ([[(0.0, {0: 1.0}), (0.0, {1: 1.0})]], [1], [1]),
        # Stay, or toss a coin: values from 1/2 to 1 all satisfy the equations.
        ([[(0.0, {1: 0.5, 2: 0.5}), (0.0, {0: 1.0})]], [Fraction(1, 2)], [0]),
        # Two states that alternate, and a third that leads to them.
        (
            [[(0.0, {1: 0.5, 3: 0.5})], [(0.0, {2: 1.0}), (0.0, {3: 1.0})], [(0.0, {1: 0.25, 2: 0.75})]],
            [1, 1, 1],
            [0, 2, 3],
        ),
        # A trap.
        ([[(0.0, {1: 0.5, 2: 0.5})], [(0.0, {1: 1.0})]], [Fraction(1, 2), 0], [0, 1]),
    ],
)
def test_an_end_component_has_the_probability_of_leaving_it_with_a_win(states, values, choice):
    solution = solve_reachability(from_rows(states, terminals=[1.0, -1.0]))
    assert_bracketed(solution, [Fraction(value) for value in values])
    assert solution.converged
    assert solution.choice.tolist() == choice


def test_play_that_ends_is_recognised_however_slowly_it_ends():
    """A cycle of states that ends only from the last one, with a small probability."""
    n, leak = 6, 2.0**-45
    states = [[(0.0, {k + 1: 1.0})] for k in range(n - 1)] + [[(0.0, {0: 1 - leak, n: leak / 2, n + 1: leak / 2})]]
    iteration = Reachability(from_rows(states, terminals=[1.0, -1.0]), 1e-10)
    assert iteration.endless is None
    states[-1].append((0.0, {0: 1.0}))
    assert Reachability(from_rows(states, terminals=[1.0, -1.0]), 1e-10).endless.all()


# Bounds


@given(ending_processes(), st.integers(1, 12))
def test_bounds_hold_after_any_number_of_sweeps(sample, sweeps):
    states, layers, terminals = sample
    solution = solve_reachability(from_rows(states, layers, terminals), sweeps=sweeps)
    assert solution.sweeps == len(solution.log.residual) == sweeps
    assert_bracketed(solution, exact_win_probabilities(states, terminals))


@given(ending_processes(), st.floats(-100, 100), st.sampled_from([1e-3, 1e-10]))
def test_bounds_hold_from_any_start(sample, value, tolerance):
    states, layers, terminals = sample
    mdp = from_rows(states, layers, terminals)
    solution = solve_reachability(mdp, start=np.full(mdp.n_states, value), tolerance=tolerance)
    assert_bracketed(solution, exact_win_probabilities(states, terminals))
    assert solution.converged


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"discount": 0.95}, r"discount: 0\.95 is not allowed with the objective win-probability, which has none"),
        ({"method": "jacobi"}, "method: jacobi is not allowed with the objective win-probability"),
        ({"tolerance": 0.0}, r"tolerance: 0\.0 is not allowed"),
        ({"sweeps": 0}, "sweeps: 0 is not allowed"),
    ],
)
def test_options_without_a_meaning_here_are_refused(options, text):
    with pytest.raises(SolveError, match=text):
        solve_reachability(from_rows(gambler(3, 0.5), terminals=[0.0, 1.0]), **options)

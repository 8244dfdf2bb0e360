from fractions import Fraction

import pytest
from processes import empty_process, error, gambler, gambler_wins

from punish_fast.mdp.methods.interval_iteration import Reachability
from punish_fast.mdp.model import from_rows
from punish_fast.mdp.solver import solve


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


@pytest.mark.parametrize(
    ("layers", "p", "tolerance"), [([9], 0.25, 1e-2), ([0, 4, 5], 0.5, 1e-6), ([1] * 9, 0.75, 1e-10)]
)
def test_gamblers_ruin(layers, p, tolerance):
    solution = solve_reachability(from_rows(gambler(10, p), layers, [0.0, 1.0]), tolerance=tolerance)
    assert_bracketed(solution, gambler_wins(10, p))
    assert solution.converged
    assert (solution.objective, solution.discount) == ("win-probability", 1.0)


def test_a_long_walk_whose_first_brackets_fail():
    """Errors are a hundred times the last changes here, so no close bracket around the first values can be proved."""
    n = 20
    mdp = from_rows(gambler(n, 0.5), terminals=[0.0, 1.0])
    solution = solve_reachability(mdp, tolerance=1e-6)
    assert_bracketed(solution, gambler_wins(n, 0.5))
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


def test_play_that_ends_is_recognised_however_slowly_it_ends():
    """A cycle of states that ends only from the last one, with a small probability."""
    n, leak = 6, 2.0**-45
    states = [[(0.0, {k + 1: 1.0})] for k in range(n - 1)] + [[(0.0, {0: 1 - leak, n: leak / 2, n + 1: leak / 2})]]
    iteration = Reachability(from_rows(states, terminals=[1.0, -1.0]), 1e-10)
    assert iteration.endless is None
    states[-1].append((0.0, {0: 1.0}))
    assert Reachability(from_rows(states, terminals=[1.0, -1.0]), 1e-10).endless.all()

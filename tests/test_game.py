"""Rules in, values out: the whole way against the exact model and the published figures."""

from fractions import Fraction

import exact_values
import numpy as np
import pytest
from exact import random_policy, strategy_of, twin_of

from punish_fast.mdp.solve_options import SCHEDULES
from punish_fast.mdp.solver import solve
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import build

pytestmark = pytest.mark.kernels

# What 0.95 in float64 differs from 19/20 by changes a value of at most 20 by far less than this.
DISCOUNT_ERROR = 1e-12

PUBLISHED_RMSE = {
    101: 5.35349066338031,
    102: 5.085831529477704,
    103: 4.831545750031296,
    110: 3.3741245156234045,
    120: 2.0202316300885625,
    125: 1.5632183619595168,
}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_values_of_tiny_are_exact_within_the_error_bound(tiny, tiny_mdp, tiny_values, schedule):
    solution = solve(tiny_mdp, method=schedule)
    exact = [tiny_values[twin_of(tiny.state(row))] for row in range(tiny.n_states)]
    worst = max(abs(Fraction(v) - x) for v, x in zip(solution.v.tolist(), exact, strict=True))
    assert worst <= solution.error_bound + DISCOUNT_ERROR
    assert solution.error_bound <= 1e-10
    assert tiny_mdp.is_cycle


def test_action_values_of_tiny_are_exact(tiny, tiny_mdp, tiny_values):
    solution = solve(tiny_mdp)
    assert -20 <= solution.v.min() <= solution.v.max() <= 20
    for row in range(0, tiny.n_states, 5):
        exact = exact_values.q_values(tiny.rules, tiny_values, twin_of(tiny.state(row)), Fraction(19, 20))
        q = solution.q[tiny.state_ptr[row] : tiny.state_ptr[row + 1]]
        assert q == pytest.approx([float(exact[action]) for action in sorted(exact)], abs=1e-9)


def test_values_against_a_sparse_table_are_exact_within_the_error_bound():
    space = StateSpace(PRESETS["tiny"])
    policy = random_policy(space, 8)
    mdp, twins = build(space, policy), [twin_of(space.state(row)) for row in range(space.n_states)]
    solution, strategy = solve(mdp), strategy_of(space, policy)
    exact = exact_values.solve(space.rules, Fraction(19, 20), strategy)
    worst = max(abs(v - float(exact[twin])) for v, twin in zip(solution.v.tolist(), twins, strict=True))
    assert worst <= solution.error_bound + DISCOUNT_ERROR
    chances = solve(mdp, objective="win-probability")
    exact = exact_values.solve(space.rules, Fraction(1), strategy)
    worst = max(abs(v - float(1 + exact[twin]) / 2) for v, twin in zip(chances.v.tolist(), twins, strict=True))
    # The table's probabilities are exact, so all that is left is how they were rounded on the way.
    assert worst <= chances.error_bound + 1e-13


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_undiscounted_values_are_chances_to_win_less_chances_to_lose(tiny_mdp, schedule):
    solution = solve(tiny_mdp, 1.0, schedule)
    transitions = tiny_mdp.to_scipy()
    v = np.zeros(tiny_mdp.n_columns)
    v[-2:] = 1.0, -1.0
    # No play lasts so long that a further backup would change anything.
    for _ in range(1000):
        v[: tiny_mdp.n_states] = np.maximum.reduceat(transitions @ v, tiny_mdp.state_ptr[:-1])
    assert np.abs(solution.v - v[: tiny_mdp.n_states]).max() <= solution.error_bound + 1e-13
    assert solution.converged


def test_chances_to_win_tiny_are_exact_within_the_error_bound(tiny, tiny_mdp):
    solution = solve(tiny_mdp, objective="win-probability")
    exact = exact_values.solve(tiny.rules, Fraction(1))
    for row in range(tiny.n_states):
        chance = (1 + exact[twin_of(tiny.state(row))]) / 2
        assert abs(Fraction(solution.v[row]) - chance) <= solution.error_bound
        assert solution.lower[row] <= float(chance) <= solution.upper[row]
    assert solution.converged


@pytest.mark.full
@pytest.mark.parametrize("name", ["notebook", "tabletop"])
def test_chances_to_win_agree_with_undiscounted_values_of_the_whole_game(request, name):
    mdp = request.getfixturevalue(f"{name}_mdp")
    chances = solve(mdp, objective="win-probability")
    signed = solve(mdp, 1.0)
    assert np.abs(chances.v - (1 + signed.v) / 2).max() <= chances.error_bound + signed.error_bound / 2
    assert np.abs(chances.q - (1 + signed.q) / 2).max() <= chances.error_bound + signed.error_bound / 2
    assert chances.converged
    # An accelerated sweep for each, and then few from both sides.
    assert chances.sweeps < 20


@pytest.mark.full
@pytest.mark.parametrize("name", ["notebook", "tabletop"])
def test_schedules_agree_within_their_bounds_on_the_whole_game(request, name):
    mdp = request.getfixturevalue(f"{name}_mdp")
    layered = solve(mdp, tolerance=1e-10)
    jacobi = solve(mdp, tolerance=1e-4, method="jacobi")
    assert layered.converged
    assert jacobi.converged
    assert np.abs(layered.v - jacobi.v).max() <= layered.error_bound + jacobi.error_bound
    assert layered.sweeps < 25
    if name == "notebook":
        published = {episode: jacobi.log.rmse[episode - 1] for episode in PUBLISHED_RMSE}
        assert published == pytest.approx(PUBLISHED_RMSE, rel=1e-10)

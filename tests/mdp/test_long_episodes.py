"""Episodes of more than 1e25 steps in components too large for rational arithmetic, compared with fractions."""

from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from processes import error, exact_values

from punish_fast.mdp.chain.decimals import Decimals, decimals, many_digits
from punish_fast.mdp.chain.elimination import Elimination
from punish_fast.mdp.methods import exact_iteration
from punish_fast.mdp.methods.exact_iteration import Rows
from punish_fast.mdp.model.limits import SolveError
from punish_fast.mdp.model.mdp import from_rows
from punish_fast.mdp.objectives.reachability import reach_probability, total_reward
from punish_fast.mdp.objectives.solver import evaluate, solve

pytestmark = pytest.mark.kernels


def heads_in_a_row(n, p):
    """Toss a coin until it shows heads ``n`` times in a row."""
    return from_rows([[(1.0, {s + 1: p, 0: 1 - p})] for s in range(n)], terminals=[0.0])


@pytest.mark.parametrize(("n", "p"), [(60, 0.5), (100, 0.5), (40, 0.125)])
def test_heads_in_a_row_take_as_many_tosses_as_in_textbooks(n, p):
    """The sum of ``p^-k`` for ``k`` from 1 to ``n``; for ``p = 1/2`` this is ``2^(n + 1) - 2``."""
    found = total_reward(heads_in_a_row(n, p), np.arange(n + 1) == n, maximize=False)
    tosses = sum(Fraction(p) ** -k for k in range(1, n + 1))
    assert abs(Fraction(found.v[0]) - tosses) <= Fraction(found.error_bound) < tosses / 10**11
    assert evaluate(heads_in_a_row(n, p), np.ones(n), 1.0)[0] == found.v[0]


def walk(n, ways, last=0.0):
    """Walk from cell 0 to cell ``n``; each way has a reward per step and the probability of moving forward."""
    rows = [[(cost, {max(s - 1, 0): 1 - p, s + 1: p}) for cost, p in ways] for s in range(n)]
    rows[-1] = [(cost + last * row[n], row) for cost, row in rows[-1]]
    return from_rows(rows, terminals=[0.0])


@pytest.mark.parametrize("n", [50, 200, 1000])
def test_a_reward_for_the_last_step_is_certain_however_long_a_walk_against_the_drift_lasts(n):
    found = solve(walk(n, [(0.0, 0.4)], last=1.0), discount=1.0)
    assert np.abs(found.v - 1).max() <= found.error_bound < 1e-10


def random_process(rng):
    """A process of 33 to 36 states with rewards of both signs, whose every policy takes very long to end."""
    n, rows = rng.randint(33, 36), []
    for s in range(n):
        actions = []
        for _ in range(rng.randint(1, 3)):
            p = 2.0 ** -rng.randint(1, 8)
            successors = {s + 1: p}
            back = max(s - rng.choice([1, 2, 3, n]), 0)
            successors[back] = successors.get(back, 0) + 1 - p
            actions.append((rng.choice([-1.0, -0.5, 0.0, 1.0, 2.0]), successors))
        rows.append(actions)
    return rows, [float(rng.randint(-2, 2))]


@pytest.mark.parametrize("seed", range(6))
def test_optimal_values_and_the_policy_are_within_the_error_bound(seed):
    states, terminals = random_process(Random(seed))
    mdp = from_rows(states, terminals=terminals, normalize=True)
    found = solve(mdp, discount=1.0)
    optimum = exact_values(states, terminals, 1.0)
    chosen = [[rows[k]] for rows, k in zip(states, (found.choice - mdp.state_ptr[:-1]).tolist(), strict=True)]
    assert error(found.v, optimum) <= Fraction(found.error_bound)
    assert found.error_bound <= max(1e-10, 1e-9 * np.abs(found.v).max())
    assert error(found.v, exact_values(chosen, terminals, 1.0)) <= 2 * Fraction(found.error_bound)


def test_the_faster_way_against_the_drift_is_found_and_ruin_is_nearly_certain():
    n, mdp = 300, walk(300, [(1.0, 0.35), (1.0, 0.4)])
    found = total_reward(mdp, np.arange(n + 1) == n, maximize=False)
    assert (found.choice % 2 == 1).all()
    # In fractions, first-step equations for the number of steps from a cell to the next.
    steps, total = Fraction(0), Fraction(0)
    for _ in range(n):
        steps = (1 + Fraction(0.6) * steps) / Fraction(0.4)
        total += steps
    assert abs(Fraction(found.v[0]) - total) <= Fraction(found.error_bound)
    rows = [[(0.0, {s - 1 if s else n: 0.6, s + 1 if s < n - 1 else n + 1: 0.4})] for s in range(n)]
    ruin = reach_probability(from_rows(rows, terminals=[0.0, 0.0]), np.arange(n + 2) == n)
    assert ruin.v[0] == pytest.approx(1) and ruin.error_bound < 1e-10


def test_values_too_large_for_floats_and_processes_too_large_for_decimals_are_refused(monkeypatch):
    with pytest.raises(SolveError, match=r"reward: a value is too large for floating point"):
        total_reward(walk(2000, [(1.0, 0.4)]), np.arange(2001) == 2000, maximize=False)
    monkeypatch.setattr(exact_iteration, "_MOST_DIGITS", 1000)
    with pytest.raises(SolveError, match=r"tolerance: not reached"):
        total_reward(heads_in_a_row(100, 0.5), np.arange(101) == 100, maximize=False, max_sweeps=1000)


@pytest.mark.parametrize("is_dense", [False, True])
def test_each_refinement_gains_nearly_all_digits_of_floats(is_dense):
    """The walk lasts for 1.5^200 steps; the chain with all states connected, for 1e40."""
    mdp = walk(200, [(1.0, 0.4)])
    if is_dense:
        rng = np.random.default_rng(0)
        weights = rng.random((100, 100)) ** 20
        rows = [[(1.0, dict(enumerate(row / row.sum())))] for row in weights]
        rows[0][0][1][100] = 1e-40
        mdp = from_rows(rows, terminals=[0.0], normalize=True)
    rows, n, sizes = Rows.of(mdp, mdp.reward), mdp.n_states, []
    elimination = Elimination(rows.matrix)
    with many_digits(150):
        v = Decimals(decimals(np.zeros(n + 1)), 150)
        for _ in range(4):
            change = elimination.solve(rows.gains(v)[0])
            v = v.plus(change)
            sizes.append(float(max(np.abs(change)) / max(v.values)))
    assert all(after < 1e-10 * before for before, after in pairwise(sizes))

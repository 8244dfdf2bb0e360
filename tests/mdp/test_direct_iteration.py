"""Policy iteration for small discounted MDPs: long corridors, discounts near 1, and MDPs it leaves to others."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import error, exact_values, random_processes, sparse_process

from punish_fast.mdp import MDP, from_rows, solve
from punish_fast.mdp.bounds.stopping_rule import terminal_values
from punish_fast.mdp.methods.direct_iteration import solve_directly
from punish_fast.mdp.methods.totals import Total
from punish_fast.mdp.model.limits import SolverOptions
from punish_fast.mdp.model.solution import Exact, Payoff


def corridor(n: int, goal: int):
    """Walk left or right on ``n`` cells; each step succeeds with probability 0.9; reaching the goal pays 1."""

    def row(state: int, to: int):
        to = min(max(to, 0), n - 1)
        return float(to == goal) * (0.9 if to != state else 1.0), {to: 1.0} if to == state else {to: 0.9, state: 0.1}

    cells = [[row(s, s - 1), row(s, s + 1)] for s in range(n)]
    cells[goal] = [(0.0, {goal: 1.0})]
    return from_rows(cells)


def directly(mdp, discount, tolerance):
    payoff = Payoff(mdp.reward, terminal_values(mdp, discount))
    return solve_directly(Total(mdp, payoff, SolverOptions(tolerance), discount))


@pytest.mark.parametrize("goal", [0, 10_000, 19_999])
@pytest.mark.compiled
def test_a_corridor_takes_few_policies_in_both_directions(goal):
    found = directly(corridor(20_000, goal), 0.9999, 1e-10)
    step = 0.9 / (1 - 0.1 * 0.9999)
    distance = np.abs(np.arange(20_000) - goal)
    expected = np.where(distance == 0, 0.0, step * (step * 0.9999) ** (distance - 1.0))
    assert found.policies <= 3
    assert np.abs(found.v - expected).max() <= 2e-10


@pytest.mark.compiled
def test_sweeps_replace_eliminations_of_dense_chains():
    generator, n = np.random.default_rng(0), 200
    transitions = generator.dirichlet(np.full(n, 0.1), (10, n))
    mdp = MDP.from_dense(transitions, generator.normal(size=(n, 10)), normalize=True)
    found = directly(mdp, 0.9, 1e-9)
    assert found.policies <= 2
    assert found.error_bound <= 1e-9


@given(random_processes(), st.sampled_from([0.0, 0.3, 0.9, 1 - 2.0**-10]))
def test_values_are_within_the_bound_of_exact_ones(process, discount):
    states, _, terminals = process
    found = directly(from_rows(states, terminals=terminals), discount, 1e-7)
    assert isinstance(found, Exact)
    assert error(found.v, exact_values(states, terminals, discount)) <= Fraction(found.error_bound) <= Fraction(1e-7)


def test_the_bound_depends_on_rewards_and_not_on_values():
    discount = 1 - 2.0**-30
    mdp = from_rows([[(1.0, {0: 0.5, 1: 0.5})], [(1.0, {0: 0.25, 1: 0.75})]])
    found = directly(mdp, discount, 1e-5)
    assert found.v == pytest.approx(2.0**30, rel=1e-15)
    assert found.error_bound <= 1e-5 < 2.0**30 * 2.0**-53 / (1 - discount)


@pytest.mark.compiled
def test_others_are_left_to_other_methods():
    assert "matrix" in directly(sparse_process(2000), 0.9, 1e-9).reason
    mdp = from_rows([[(1e300, {0: 0.5, 1: 0.5})], [(-1e300, {0: 0.5, 1: 0.5})]])
    assert "error bound" in directly(mdp, 0.9, 1e-9).reason
    assert solve(mdp, 0.9).error_bound < 1e300

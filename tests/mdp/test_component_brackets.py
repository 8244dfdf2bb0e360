"""Total rewards and probabilities by component or by policy iteration, against exact fractions."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import (
    empty_process,
    endless_states,
    error,
    exact_values,
    gambler,
    random_processes,
    slow_processes,
    total_rewards,
    valued,
)

from punish_fast.mdp.chain import elimination
from punish_fast.mdp.ladder import climb
from punish_fast.mdp.methods import component_brackets, rational
from punish_fast.mdp.methods.component_brackets import sweep_components
from punish_fast.mdp.methods.exact_iteration import eliminate
from punish_fast.mdp.methods.totals import Total
from punish_fast.mdp.model.limits import OBJECTIVES, SolveError, SolverOptions
from punish_fast.mdp.model.mdp import MDP, from_rows
from punish_fast.mdp.model.results import PROBABILITY
from punish_fast.mdp.model.solution import Payoff, Unsolved
from punish_fast.mdp.objectives.solver import solve

pytestmark = pytest.mark.kernels

objectives = st.sampled_from(OBJECTIVES)


def reward_of(mdp: MDP, objective: str) -> Payoff:
    if objective == "discounted":
        return Payoff(mdp.reward, mdp.terminal_reward)
    return Payoff(np.zeros(mdp.n_rows), (mdp.terminal_reward > 0).astype(float), PROBABILITY)


def optimum(sample, objective):
    """Exact values as fractions."""
    return exact_values(*valued(sample, objective), 1.0)


@given(random_processes() | slow_processes(), objectives, st.sampled_from([1e-3, 1e-9]), st.booleans())
def test_bounds_hold_and_the_policy_earns_them(sample, objective, tolerance, extrapolates):
    if endless_states(sample[0]):
        return
    states, ends = valued(sample, objective)
    expected = optimum(sample, objective)
    mdp = from_rows(sample[0], terminals=sample[2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(component_brackets, "_LARGE", 1 if extrapolates else 1024)
        sweep_components(problem := Total(mdp, reward_of(mdp, objective), SolverOptions(tolerance)), is_further=True)
    found = problem.found
    if found.error_bound == np.inf:
        assert tolerance < 1e-8 * max(1.0, *(abs(float(x)) for x in expected)) or is_slow(states)
        return
    assert error(found.v, expected) <= Fraction(found.error_bound)
    assert found.error_bound <= tolerance
    rows = [row for state in states for row in state]
    earned = total_rewards([rows[row] for row in found.choice], ends)
    for best, mine in zip(expected, earned, strict=True):
        assert 0 <= best - mine <= 2 * Fraction(found.error_bound)


def is_slow(states):
    return min(p for rows in states for _, row in rows for p in row.values()) < 1e-2


@pytest.mark.compiled
def test_a_gambler_is_as_likely_to_win_as_is_known(n=1500, p=0.45):
    mdp, told = from_rows(gambler(n, p), terminals=[0.0, 1.0]), []
    solution = solve(mdp, objective="reach-probability", tolerance=1e-6, progress=lambda *args: told.append(args))
    k, odds = np.arange(1, n), (1 - p) / p
    known = odds ** (k - n) * (1 - odds**-k) / (1 - odds**-n)
    assert np.abs(solution.v - known).max() <= solution.error_bound <= 1e-6
    assert solution.reason.startswith("sweeps over components: ")
    assert [sweeps for _, sweeps, _ in told] == sorted(sweeps for _, sweeps, _ in told)
    assert told[-1] == ("solve", solution.sweeps, solution.error_bound)


def test_going_on_for_ever_may_cost():
    # Staying costs 1 a step, leaving 5.
    mdp = from_rows([[(-1.0, {0: 1.0}), (-5.0, {1: 1.0})]], terminals=[0.0])
    found = sweep_components(Total(mdp, Payoff(mdp.reward, np.zeros(1)), SolverOptions(1e-9)), is_further=True)
    assert (found.v.tolist(), found.choice.tolist()) == ([-5.0], [1])


def test_what_rounding_hides_is_not_proved():
    mdp = from_rows(gambler(10, 0.5), terminals=[0.0, 1.0])
    problem = Total(mdp, reward_of(mdp, "reach-probability"), SolverOptions(1e-300))
    assert sweep_components(problem, is_further=True).found.error_bound == np.inf


def test_a_tie_that_costs_too_much_in_the_long_run_is_not_taken():
    # The first row costs 5e-11 more each time, which is less than a tie, but does so for some 2^30 steps.
    leaves = 2.0**-30
    goes_on = (-100 * leaves - 5e-11, {0: 1 - leaves, 1: leaves})
    solution = solve(from_rows([[goes_on, (-100.0, {1: 1.0})]], terminals=[0.0]), 1.0, tolerance=1e-6)
    assert solution.choice.tolist() == [1]
    assert solution.q[0] < solution.q[1]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_no_states_have_no_values(objective):
    discount = 1.0 if objective == "discounted" else None
    assert len(solve(empty_process([1.0]), discount, objective=objective).v) == 0


def test_a_row_that_loses_less_than_a_tie_is_not_taken_for_ever():
    # Of values around 1000, to go on for some 2^25 steps at a cost of 3e-10, or to end at once.
    stays = 1 - 2.0**-25
    mdp = from_rows([[(-3e-10, {0: stays, 2: 1 - stays}), (0.0, {2: 1.0})], [(1000.0, {2: 1.0})]], terminals=[0.0])
    assert solve(mdp, 1.0, tolerance=1e-9).choice.tolist() == [1, 2]


# Two states that hardly ever go on: 1e12 steps from the first to the end.
SLOW = [
    [(0.0, {0: 1 - 2.0**-20, 1: 2.0**-20})],
    [(0.0, {0: 1 - 2.0**-20, 2: 2.0**-21, 3: 2.0**-21}), (0.0, {0: 1 - 2.0**-20, 2: 2.0**-20 - 2.0**-22, 3: 2.0**-22})],
]
# Five states, none of which is left quickly.
FIVE = [
    [(0.0, {(k + 1) % 5: 1 - 2.0**-20, 5: 2.0**-21, 6: 2.0**-21}), (0.0, {k: 1 - 2.0**-20, 5: 2.0**-20})]
    for k in range(4)
] + [[(2.0**-20, {0: 1.0}), (-(2.0**-20), {4: 1 - 2.0**-20, 6: 2.0**-20})]]


def solved(sample, objective, **options):
    discount = 1.0 if objective == "discounted" else None
    return solve(from_rows(*sample), discount, objective=objective, **({"method": "layered"} | options))


@given(slow_processes(), objectives)
def test_the_bound_is_true_from_any_first_policy(sample, objective):
    if endless_states(sample[0]):
        return
    mdp = from_rows(*sample)
    exact = optimum(sample, objective)
    for choice in (mdp.state_ptr[:-1], mdp.state_ptr[1:] - 1):
        problem = Total(mdp, reward_of(mdp, objective), SolverOptions(1e-9))
        problem.found = replace(problem.found, choice=choice)
        outcome = eliminate(problem)
        found = outcome.found if isinstance(outcome, Unsolved) else outcome
        assert error(found.v, exact) <= found.error_bound


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("states", [SLOW, FIVE], ids=["slow", "five"])
def test_slow_processes_are_solved_to_the_tolerance(states, objective):
    sample = states, [len(states)], [1.0, -1.0]
    told = []
    solution = solved(sample, objective, progress=lambda *args: told.append(args))
    assert solution.converged
    assert error(solution.v, optimum(sample, objective)) <= solution.error_bound
    assert len(solution.log.residual) == len(solution.log.seconds) == solution.sweeps
    assert all(bound >= 0 for _, _, bound in told)


@pytest.mark.compiled
def test_a_detour_is_found_if_play_along_the_shortest_way_lasts_too_long():
    """The first policy, a walk away from the terminal, takes 9^600 steps; the detour takes 700, each at a cost."""
    near, end = 600, 1300
    walks = [[(-0.1, {k - 1 if k else end: 0.1, min(k + 1, near - 1): 0.9}), (-0.1, {near: 1.0})] for k in range(near)]
    mdp = from_rows([*walks, *([(-0.01, {k + 1: 1.0})] for k in range(near, end))], terminals=[0.0]).expanded()
    found = eliminate(Total(mdp, Payoff(mdp.reward, mdp.terminal_reward), SolverOptions(1e-6)))
    assert found.v[[300, near]] == pytest.approx([-7.1, -7])
    assert found.error_bound < 1e-6
    assert found.choice[300] == 2 * 300 + 1


def test_the_choice_is_that_of_the_best_policy_where_rounding_sees_a_tie():
    """Of two rows of the second state, the one wins half of the time and the other three quarters."""
    solution = solved((SLOW, [2], [1.0, -1.0]), "reach-probability")
    assert solution.v == pytest.approx([0.75, 0.75], abs=1e-12)
    assert solution.choice.tolist() == [0, 2]
    assert abs(solution.q[1] - solution.q[2]) < 1e-5


def test_processes_too_large_for_it_are_swept_until_that_is_given_up(monkeypatch):
    monkeypatch.setattr(elimination, "_MOST_OPERATIONS", -1.0)
    monkeypatch.setattr(rational, "_LARGEST_COMPONENT", 1)
    with pytest.raises(SolveError, match=r"^tolerance: not reached after 2,000 sweeps, and policy iteration proves"):
        solved((SLOW, [2], [1.0, -1.0]), "reach-probability", max_sweeps=2000)


@pytest.mark.parametrize(("options", "name"), [({"sweeps": 5}, "sweeps"), ({"method": "jacobi"}, "method")])
def test_sweeps_alone_are_refused_where_no_bound_is_known(options, name):
    with pytest.raises(SolveError, match=rf"^{name}: play may be too long for sweeps alone"):
        solved((SLOW, [2], [1.0, -1.0]), "discounted", **options)


@pytest.mark.parametrize("seed", [None, 0])
def test_costs_of_a_long_corridor_need_only_a_few_sweeps(seed):
    """Step to a neighbor at a cost of 1 until the end of the corridor, whose cells may be numbered at random."""
    n = 5000
    order = np.arange(n) if seed is None else np.random.default_rng(seed).permutation(n)
    number = np.append(order, n)
    rows: list = [None] * n
    for k in range(n):
        rows[order[k]] = [(1.0, {int(number[to]): 1.0}) for to in (max(k - 1, 0), k + 1)]
    mdp, payoff = from_rows(rows, terminals=[0.0]), Payoff(-np.ones(2 * n), np.zeros(1))
    found = climb(Total(mdp, payoff, SolverOptions(1e-6, max_sweeps=20), may_not_end=True))
    assert found.v[order] == pytest.approx(-np.arange(n, 0, -1))
    assert found.rounds < 20

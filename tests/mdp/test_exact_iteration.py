"""Exact values of processes whose play lasts very long, and what happens where it never ends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import endless_states, error, exact_values, exact_win_probabilities, slow_processes

from punish_fast.mdp.chain import elimination, rational
from punish_fast.mdp.methods.exact_iteration import PROBABILITY, Payoff, solve_exactly
from punish_fast.mdp.model import from_rows
from punish_fast.mdp.solve_options import Effort
from punish_fast.mdp.solver import SolveError, solve

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


def optimum(sample, objective):
    """Exact values as fractions."""
    states, _, terminals = sample
    return (
        exact_win_probabilities(states, terminals)
        if objective == "win-probability"
        else exact_values(states, terminals, 1.0)
    )


def solved(sample, objective, **options):
    discount = 1.0 if objective == "discounted" else None
    return solve(from_rows(*sample), discount, objective=objective, **({"method": "layered"} | options))


objectives = st.sampled_from(["discounted", "win-probability"])


@given(slow_processes(), objectives)
def test_the_bound_is_true_from_any_first_policy(sample, objective):
    if endless_states(sample[0]):
        return
    mdp = from_rows(*sample)
    counts_wins = objective == "win-probability"
    payoff = (
        Payoff(np.zeros(mdp.n_rows), (mdp.terminal_reward > 0).astype(float), PROBABILITY)
        if counts_wins
        else Payoff(mdp.reward, 0 * mdp.terminal_reward)
    )
    exact = optimum(sample, objective)
    for choice in (mdp.state_ptr[:-1], mdp.state_ptr[1:] - 1):
        found = solve_exactly(mdp, payoff, choice, 1e-9)
        assert error(found.v, exact) <= found.error_bound


@pytest.mark.parametrize("objective", ["discounted", "win-probability"])
@pytest.mark.parametrize("states", [SLOW, FIVE], ids=["slow", "five"])
def test_slow_processes_are_solved_to_the_tolerance(states, objective):
    sample = states, [len(states)], [1.0, -1.0]
    told = []
    solution = solved(sample, objective, progress=lambda *args: told.append(args))
    assert solution.converged
    assert error(solution.v, optimum(sample, objective)) <= solution.error_bound
    assert len(solution.log.residual) == len(solution.log.seconds) == solution.sweeps
    assert all(bound >= 0 for _, _, bound in told)


def test_a_detour_is_found_if_play_along_the_shortest_way_lasts_too_long():
    """The first policy, a walk away from the terminal, takes 9^600 steps; the detour takes 700, each at a cost."""
    near, end = 600, 1300
    walks = [[(-0.1, {k - 1 if k else end: 0.1, min(k + 1, near - 1): 0.9}), (-0.1, {near: 1.0})] for k in range(near)]
    mdp = from_rows([*walks, *([(-0.01, {k + 1: 1.0})] for k in range(near, end))], terminals=[0.0]).expanded()
    found = solve_exactly(mdp, Payoff(mdp.reward, mdp.terminal_reward), mdp.state_ptr[:-1].copy(), 1e-6)
    assert found.v[[300, near]] == pytest.approx([-7.1, -7])
    assert found.error_bound < 1e-6
    assert found.choice[300] == 2 * 300 + 1


def test_the_choice_is_that_of_the_best_policy_where_rounding_sees_a_tie():
    """Of two rows of the second state, the one wins half of the time and the other three quarters."""
    solution = solved((SLOW, [2], [1.0, -1.0]), "win-probability")
    assert solution.v == pytest.approx([0.75, 0.75], abs=1e-12)
    assert solution.choice.tolist() == [0, 2]
    assert abs(solution.q[1] - solution.q[2]) < 1e-5


def test_processes_too_large_for_it_are_swept_until_that_is_given_up(monkeypatch):
    monkeypatch.setattr(elimination, "_MOST_OPERATIONS", -1.0)
    monkeypatch.setattr(rational, "_LARGEST_COMPONENT", 1)
    with pytest.raises(
        SolveError, match=r"^tolerance: 2,000 sweeps do not reach it, and policy iteration proves nothing"
    ):
        solved((SLOW, [2], [1.0, -1.0]), "win-probability", tolerance=Effort(1e-10, 2000))


@pytest.mark.parametrize(("options", "name"), [({"sweeps": 5}, "sweeps"), ({"method": "jacobi"}, "method")])
def test_sweeps_alone_are_refused_where_no_bound_is_known(options, name):
    with pytest.raises(SolveError, match=rf"^{name}: play may be too long for sweeps alone"):
        solved((SLOW, [2], [1.0, -1.0]), "discounted", **options)

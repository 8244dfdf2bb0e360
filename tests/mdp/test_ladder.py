"""The ladder: its documentation, the reasons that it gives, and its time limit."""

import re

import numpy as np
import pytest
from processes import sparse_process

from bench.make import ladder_page
from punish_fast.mdp import SolverLimits, average_reward, evaluate, from_rows, reach_probability, solve, total_reward
from punish_fast.mdp.chain.stationary import stationary_weights
from punish_fast.mdp.ladder import rungs
from punish_fast.mdp.methods import component_brackets
from punish_fast.mdp.methods.exact_iteration import eliminate
from punish_fast.mdp.methods.totals import Total
from punish_fast.mdp.model.limits import METHODS, SolveError, limits_of
from punish_fast.mdp.model.solution import Payoff

NO_TIME = 1e-9
# A walk on a line, which ends at either side and pays for each step.
LINE = [[(1.0, {(k - 1) % 402: 0.5, k + 1: 0.5})] for k in range(400)]
WALK = from_rows(LINE, terminals=[0.0, 1.0])
END = np.arange(402) == 401
# A round with rewards of both signs, from which play may end.
ROUND = from_rows([[(0.3, {1: 1.0}), (-5.0, {2: 1.0})], [(-0.1, {0: 0.5, 1: 0.5})]], terminals=[0.0])


def test_the_docstring_describes_each_rung_and_the_page_is_current():
    assert [row[:2] for row in ladder_page.described()] == [
        (rung.name, rung.problem.__name__) for rung in rungs() if rung.name
    ]
    assert ladder_page.PAGE.read_text(encoding="utf-8") == ladder_page.page(), "run python -m bench.make.ladder_page"


def test_the_reason_names_all_rungs_that_were_tried():
    leaks = [[(1.0, {k: 1 - 2.0**-20, 1 - k: 2.0**-21, 2: 2.0**-21})] for k in range(2)]
    mdp = from_rows(leaks, terminals=[1.0])
    steps = r"sweeps over components: no error bound after sweep \d+; elimination"
    assert re.fullmatch(steps, solve(mdp, 1).reason)
    layers = r"sweeps over layers: error bound inf after sweep [\d,]+; "
    assert re.fullmatch(layers + steps, solve(mdp, 1, "layered").reason)
    assert solve(mdp, 0.9).reason == "direct policy iteration"
    assert solve(mdp, 0.9, "policy-iteration").reason.startswith("policy evaluation: policy-iteration (")
    assert solve(mdp, 0.9, "layered").reason == "sweeps over layers"


@pytest.mark.compiled
@pytest.mark.parametrize("method", METHODS)
def test_values_at_the_end_of_the_time_have_a_true_bound(method):
    mdp = sparse_process(2000)
    best, early = solve(mdp, 0.999), solve(mdp, 0.999, method, max_seconds=NO_TIME)
    assert not early.converged
    assert re.search(r"^Solution\(2,000 states, .*, error bound \S+ above the tolerance 1e-10\)$", repr(early))
    assert early.sweeps == 1
    assert np.abs(early.v - best.v).max() <= early.error_bound + best.error_bound


@pytest.mark.compiled
def test_limits_may_have_a_time_and_are_used_again():
    mdp, limits = sparse_process(2000), SolverLimits(max_seconds=60)
    for _ in range(2):
        assert solve(mdp, 0.999, tolerance=1e-6, **limits).converged
    limits["max_seconds"] = NO_TIME
    assert not solve(mdp, 0.999, tolerance=1e-6, **limits).converged


@pytest.mark.parametrize(
    "call",
    [
        lambda: solve(WALK, 1, max_seconds=NO_TIME),
        lambda: reach_probability(WALK, END, max_seconds=NO_TIME),
        lambda: total_reward(WALK, END | (np.arange(402) == 400), max_seconds=NO_TIME),
        lambda: evaluate(WALK, np.ones(400), 0.999999, max_seconds=NO_TIME),
        lambda: total_reward(ROUND, np.array([False, False, True]), max_seconds=NO_TIME),
    ],
)
def test_what_has_no_bound_at_the_end_of_the_time_is_refused(call):
    with pytest.raises(SolveError, match=r"^max_seconds: .*; use more|^max_seconds: 1e-09 seconds leave an error "):
        call()


def test_bounds_of_a_large_component_are_swept_no_longer_than_the_time(monkeypatch):
    """Values of the walk need far more sweeps than there is time for, so no sweep of bounds can prove them."""
    sweeps, narrow = [], component_brackets._component_brackets.narrow
    monkeypatch.setattr(
        component_brackets._component_brackets, "narrow", lambda *args: sweeps.append(args[-1]) or narrow(*args)
    )
    goal = END | (np.arange(402) == 400)
    with pytest.raises(
        SolveError, match=r"^max_seconds: no error bound was proved in \S+ seconds; use more than 1e-09"
    ):
        total_reward(WALK, goal, maximize=False, max_seconds=NO_TIME)
    assert sum(sweeps) == 4


def test_average_rewards_at_the_end_of_the_time_have_a_true_bound():
    mdp = from_rows([[(float(k), {(k + 1) % 50: 0.5, max(k - 1, 0): 0.5})] for k in range(50)])
    best, early = average_reward(mdp), average_reward(mdp, max_seconds=NO_TIME)
    assert early.error_bound > 1e-3 > best.error_bound
    assert best.converged
    assert not early.converged
    assert re.search(r"^AverageReward\(50 states, error bound \S+ above the tolerance 1e-10\)$", repr(early))
    assert np.abs(early.gain - best.gain).max() <= early.error_bound + best.error_bound


def test_eliminations_stop_before_the_end_of_the_time_and_say_why(monkeypatch):
    payoff, limits = Payoff(WALK.reward, WALK.terminal_reward), limits_of(1e-9, {"max_seconds": 60.0})
    monkeypatch.setattr("punish_fast.mdp.chain.elimination._SPEED", 1e-9)
    assert eliminate(Total(WALK, payoff, limits)).reason == "too little time in policy 1"
    assert stationary_weights(WALK.to_scipy()[:, :400], limits)[1] == np.inf
    monkeypatch.setattr("punish_fast.mdp.chain.elimination._MOST_OPERATIONS", 0.0)
    assert eliminate(Total(WALK, payoff, limits_of(1e-9, {}))).reason == "the chain is too large in policy 1"


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan"), "1 minute"])
def test_times_that_are_not_positive_are_refused(seconds):
    for call in (solve, average_reward):
        with pytest.raises(SolveError, match=r"^max_seconds: .* is not allowed; it must be a number above 0"):
            call(WALK, max_seconds=seconds)

"""Probabilities to reach a goal, against the best of all policies in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import error, random_processes, total_rewards

from punish_fast.mdp.model import from_rows
from punish_fast.mdp.reachability import reach_probability
from punish_fast.mdp.stopping_rule import SolveError


def policy_values(rows, goal, avoid, n_terminals):
    """The probabilities of one policy: a step into the goal from outside pays its probability, and then play ends."""
    n = len(rows)
    nowhere = n + n_terminals
    ended = []
    for s, (_, successors) in enumerate(rows):
        if goal[s] or avoid[s]:
            ended.append((0.0, {nowhere: 1.0}))
            continue
        ended.append((sum(p for t, p in successors.items() if t < n and goal[t]), successors))
    values = total_rewards(ended, n_terminals + 1)
    return [Fraction(1) if goal[s] else values[s] for s in range(n)]


def exact(states, goal, avoid, n_terminals, best):
    policies = [policy_values(list(rows), goal, avoid, n_terminals) for rows in product(*states)]
    return [best(column) for column in zip(*policies, strict=True)]


@st.composite
def goals(draw):
    states, _, terminals = draw(random_processes())
    marks = st.lists(st.booleans(), min_size=len(states), max_size=len(states))
    return states, terminals, draw(marks), draw(marks)


@given(goals(), st.booleans())
def test_probabilities_are_the_best_of_all_policies_within_the_bound(sample, maximize):
    states, terminals, goal, avoid = sample
    avoid = [bool(bad and not good) for good, bad in zip(goal, avoid, strict=True)]
    mdp = from_rows(states, terminals=terminals)
    found = reach_probability(mdp, np.array(goal), maximize, np.array(avoid), 1e-9)
    expected = exact(states, goal, avoid, len(terminals), max if maximize else min)
    assert found.error_bound <= 1e-9
    assert error(found.v, expected) <= found.error_bound
    chosen = [
        states[s][row - begin] for s, (row, begin) in enumerate(zip(found.choice, mdp.state_ptr[:-1], strict=True))
    ]
    assert error(found.v, policy_values(chosen, goal, avoid, len(terminals))) <= 1e-8


def test_a_long_chain_is_left_in_the_end():
    n = 300
    states = [[(0.0, {s + 1: 1.0}), (0.0, {s: 1.0})] for s in range(n)] + [[(0.0, {n: 1.0})]]
    mdp = from_rows(states)
    goal = np.arange(n + 1) == n
    assert reach_probability(mdp, goal).v == pytest.approx(1, abs=1e-10)
    assert reach_probability(mdp, goal, maximize=False).v.tolist() == [0.0] * n + [1.0]
    forced = from_rows([rows[:1] for rows in states])
    assert reach_probability(forced, goal, maximize=False).v == pytest.approx(1, abs=1e-10)


@pytest.mark.parametrize("maximize", [True, False])
def test_no_goal_is_never_reached(maximize):
    mdp = from_rows([[(0.0, {0: 1.0})]])
    assert reach_probability(mdp, np.array([False]), maximize).v.tolist() == [0.0]


def test_marks_of_the_wrong_kind_are_refused():
    mdp = from_rows([[(0.0, {0: 1.0})]])
    with pytest.raises(SolveError, match=r"^goal: int64 \(1,\), allowed is bool \(1,\)$"):
        reach_probability(mdp, np.array([0]))
    with pytest.raises(SolveError, match=r"^avoid: bool \(2,\), allowed is bool \(1,\)$"):
        reach_probability(mdp, np.array([True]), avoid=np.array([True, False]))

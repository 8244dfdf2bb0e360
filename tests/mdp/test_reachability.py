"""Probabilities of reaching a goal in textbook examples; ``judge.py`` has random processes."""

from __future__ import annotations

import numpy as np
import pytest
from processes import marks

from punish_fast.mdp import SolveError, from_rows, reach_probability


def test_sure_ways_are_found_without_arithmetic():
    """A coin is tossed until it shows heads, or put away for good; a goal that is a state stops play."""
    states = [[(0.0, {1: 1.0}), (0.0, {0: 0.5, 2: 0.5})], [(0.0, {1: 1.0})], [(0.0, {1: 1.0})]]
    mdp = from_rows(states)
    found = reach_probability(mdp, marks({2}, 3))
    assert (found.v.tolist(), found.error_bound, found.choice[0]) == ([1.0, 0.0, 1.0], 0.0, 1)
    assert reach_probability(mdp, marks({2}, 3), maximize=False).v.tolist() == [0.0, 0.0, 1.0]
    assert reach_probability(mdp, marks({1}, 3), maximize=False).v.tolist() == [1.0, 1.0, 1.0]
    assert reach_probability(mdp, marks({1}, 3), avoid=marks({2}, 3)).v.tolist() == [1.0, 1.0, 0.0]


def test_goals_of_another_shape_are_refused():
    mdp = from_rows([[(0.0, {1: 1.0})]], terminals=[0.0])
    with pytest.raises(SolveError, match=r"^goal: int64 \(1,\), allowed is bool \(1,\), or \(2,\) with terminals$"):
        reach_probability(mdp, np.array([1]))
    with pytest.raises(SolveError, match=r"^avoid: bool \(3,\)"):
        reach_probability(mdp, np.array([True]), avoid=np.zeros(3, dtype=bool))


@pytest.mark.parametrize("moves", [1.0, 1e-6])
def test_a_queue_that_could_hover_for_ever_keeps_its_bound(moves):
    """A slow server lets the queue drift to the full state, so policies can hover for exponentially many steps."""
    n, arrives, fast, slow = 600, 0.3, 0.4, 0.29
    states = [
        [
            (0.0, {s + 1: moves * arrives, s - 1: moves * served, s: 1 - moves * (arrives + served)})
            for served in (fast, slow)
        ]
        for s in range(1, n)
    ]
    mdp = from_rows([[(0.0, {0: 1.0})], *states, [(0.0, {n: 1.0})]])
    empty, full = np.arange(n + 1) == 0, np.arange(n + 1) == n
    found = reach_probability(mdp, empty, avoid=full)
    ratio = fast / arrives
    # Gambler's ruin; the first row serves fast.
    right = 1 - (ratio ** np.arange(n + 1) - 1) / (ratio**n - 1)
    assert found.error_bound <= 1e-10
    assert np.abs(found.v - right).max() <= found.error_bound + 1e-12
    assert found.choice[n // 2 :].tolist() == mdp.state_ptr[n // 2 : -1].tolist()

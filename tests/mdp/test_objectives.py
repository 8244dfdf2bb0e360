"""Laws of all objectives; ``judge.py`` compares their values with fractions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from processes import compacted, marks, random_processes, with_zeros

from punish_fast.mdp import average_reward, finite_horizon, from_rows, reach_probability, total_reward
from punish_fast.runtime._jit import set_threads, threads

LAST_STATE = {
    "least probability": lambda mdp, goal: reach_probability(mdp, goal, maximize=False, tolerance=1e-6),
    "least cost": lambda mdp, goal: total_reward(mdp, goal, maximize=False, tolerance=1e-3),
    "average": lambda mdp, _: average_reward(mdp, tolerance=1e-3),
    "horizon": lambda mdp, _: finite_horizon(mdp, 5, 0.9),
}


@pytest.mark.parametrize("objective", LAST_STATE)
@settings(max_examples=5)
@given(sample=random_processes())
def test_threads_and_storage_change_no_bit(objective, sample):
    states, layers, terminals = sample
    costs = [[(abs(reward), row) for reward, row in rows] for rows in states]
    mdp, before, bits = from_rows(costs, layers, terminals), threads(), set()
    goal = marks({mdp.n_states - 1}, mdp.n_columns)
    try:
        # Zeros make rows longer, and so the bounds on rounding.
        other = mdp if objective in ("least probability", "horizon") else with_zeros(mdp)
        for process, n_threads in ((mdp, 1), (mdp, 2), (compacted(mdp), 2), (other, 2)):
            set_threads(n_threads)
            found = LAST_STATE[objective](process, goal)
            values = found.gain if objective == "average" else found.v
            bits.add((values.tobytes(), found.choice.tobytes(), found.error_bound))
    finally:
        set_threads(before)
    assert len(bits) == 1

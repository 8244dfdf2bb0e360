"""Laws of all objectives, and their values in Storm, if it is installed; ``judge.py`` compares them with fractions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
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


def test_a_policy_has_its_own_values():
    """State 0 goes on for 1, or ends for 3 after a detour; the policy tosses a coin."""
    mdp = from_rows([[(1.0, {0: 0.5, 1: 0.5}), (3.0, {1: 1.0})], [(0.0, {2: 1.0})]], terminals=[2.0])
    weight, goal = np.array([0.5, 0.5, 1.0]), marks({2}, 3)
    assert reach_probability(mdp, goal, weight=weight).v.tolist() == [1.0, 1.0]
    assert total_reward(mdp, goal, weight=weight).v == pytest.approx([2 / 0.75, 0.0])
    assert average_reward(mdp, weight=weight).gain == pytest.approx([2.0, 2.0])
    assert finite_horizon(mdp, 2, weight=weight).v.tolist() == [[2.5, 2.0], [2.0, 0.0], [0.0, 0.0]]


def random_states(rng):
    """Two to six states with rewards of 0 and more, in which play may go on for ever."""
    n = int(rng.integers(2, 7))

    def row():
        columns = rng.choice(n, size=min(n, int(rng.integers(1, 4))), replace=False)
        parts = rng.multinomial(16 - len(columns), np.full(len(columns), 1 / len(columns))) + 1
        return float(rng.choice([0, 0, 1, 2.5])), {int(t): float(k) / 16 for t, k in zip(columns, parts, strict=True)}

    states = [[row() for _ in range(int(rng.integers(1, 4)))] for _ in range(n)]
    # Storm refuses rewards that are all 0.
    states[0][0] = (1.0, states[0][0][1])
    return states


def written(states, goal):
    """The process in Storm's explicit format."""
    n_choices = sum(len(rows) for rows in states)
    lines = ["@type: MDP", "@parameters", "", "@reward_models", "c", "@nr_states", str(len(states))]
    lines += ["@nr_choices", str(n_choices), "@model"]
    for s, rows in enumerate(states):
        lines.append(f"state {s} [0]{' init' if s == 0 else ''}{' goal' if s == goal else ''}")
        for k, (reward, row) in enumerate(rows):
            lines.append(f"\taction {k} [{reward}]")
            lines += [f"\t\t{t} : {row[t]}" for t in sorted(row)]
    return "\n".join(lines) + "\n"


def test_values_are_those_of_storm(tmp_path):
    stormpy = pytest.importorskip("stormpy")
    rng = np.random.default_rng(5)

    def in_storm(model, formula):
        found = stormpy.model_checking(
            model, stormpy.parse_properties(formula)[0], environment=stormpy.environments.default(model)
        )
        return pytest.approx([float(found.get_value(s)) for s in range(model.nr_states)], abs=1e-4, rel=1e-4)

    for _ in range(40):
        states = random_states(rng)
        n, goal = len(states), int(rng.integers(0, len(states)))
        (tmp_path / "model.drn").write_text(written(states, goal), encoding="utf-8")
        model, mdp = stormpy.build_model_from_drn(str(tmp_path / "model.drn")), from_rows(states)
        for way, maximize in (("max", True), ("min", False)):
            chances = reach_probability(mdp, marks({goal}, n), maximize)
            assert chances.v == in_storm(model, f'P{way}=? [F "goal"]')
            rewards = total_reward(mdp, marks({goal}, n), maximize)
            assert rewards.v == in_storm(model, f'R{{"c"}}{way}=? [F "goal"]')
        assert average_reward(mdp).gain == in_storm(model, 'R{"c"}max=? [LRA]')

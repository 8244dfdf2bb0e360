"""Values of objectives are those of Storm, where it is installed."""

from __future__ import annotations

import numpy as np
import pytest
from objectives import marks

from punish_fast.mdp.model import from_rows
from punish_fast.mdp.objectives.average_reward import average_reward
from punish_fast.mdp.objectives.reachability import reach_probability
from punish_fast.mdp.objectives.total_reward import total_reward


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

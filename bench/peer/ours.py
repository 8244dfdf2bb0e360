"""Our solver. Its error bound includes rounding errors.

By default it computes discounted values. The setting ``task`` selects another computation: ``reachability`` computes
the probability of reaching a terminal with a positive reward by `reach_probability`, ``win probability`` computes the
same probability by `solve`, and ``whole`` solves a game of Punish given only its rules.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.peer import Result, Settings, Solve
from bench.tensor import RULES, load
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.objectives.reachability import reach_probability
from punish_fast.mdp.objectives.solver import solve
from punish_fast.runtime._jit import set_threads


def prepare(folder: Path, settings: Settings) -> Solve:
    """Load the tensor or, for the task ``whole``, the rules. All other work is part of solving."""
    set_threads(settings["threads"])
    task, discount, tolerance = settings.get("task", ""), settings["discount"], settings["tolerance"]
    if task == "whole":
        return _whole_game(folder, discount, tolerance)
    tensor = load(folder)

    def solved() -> Result:
        # Create a new object for each solve, because an MDP caches its chunks.
        mdp = MDP(**tensor._asdict())
        if task == "reachability":
            wins = np.concatenate([np.zeros(mdp.n_states, dtype=bool), mdp.terminal_reward > 0])
            reached = reach_probability(mdp, wins, tolerance=tolerance)
            return Result(lambda: reached.v, reached.error_bound)
        if task == "win probability":
            found = solve(mdp, tolerance=tolerance, objective="reach-probability")
        else:
            found = solve(mdp, discount, tolerance=tolerance)
        return Result(lambda: found.v, found.error_bound)

    return solved


def _whole_game(folder: Path, discount: float, tolerance: float) -> Solve:
    import json

    from punish_fast.punish.rules import from_mapping
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.punish.transitions.tensor import build

    rules = from_mapping(json.loads((folder / RULES).read_text(encoding="utf-8")))

    def solved() -> Result:
        found = solve(build(StateSpace(rules)), discount, tolerance=tolerance)
        return Result(lambda: found.v, found.error_bound)

    return solved

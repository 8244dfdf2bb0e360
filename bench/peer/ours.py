"""Ours, by the ``method`` and for the ``objective`` given; the error bound includes rounding."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.peer import Result, Settings, Solve
from bench.tensor import load
from punish_fast.mdp.methods import GENERAL_METHODS
from punish_fast.mdp.model import MDP
from punish_fast.mdp.reachability import reach_probability
from punish_fast.mdp.solver import solve
from punish_fast.runtime._jit import set_threads


def prepare(folder: Path, settings: Settings) -> Solve:
    """Load the tensor; everything else is part of solving."""
    set_threads(settings["threads"])
    tensor = load(folder)
    discount, tolerance = settings["discount"], settings["tolerance"]
    method = settings.get("method", "auto")

    def solved() -> Result:
        # A new object, since an old one caches its chunks.
        mdp = MDP(**tensor._asdict())
        if "objective" in settings:
            wins = np.concatenate([np.zeros(mdp.n_states, dtype=bool), mdp.terminal_reward > 0])
            reached = reach_probability(mdp, wins, tolerance=tolerance)
            return Result(lambda: reached.v, reached.error_bound, 0)
        solution = solve(mdp, discount, method, tolerance)
        return Result(lambda: solution.v, solution.error_bound, solution.sweeps)

    return solved


def named_methods() -> tuple[str, ...]:
    """The methods that the solver can be told, besides its own choice."""
    return GENERAL_METHODS

"""Ours on the win probability."""

from __future__ import annotations

from pathlib import Path

from bench.peer import Result, Settings, Solve
from bench.tensor import load
from punish_fast.mdp.model import MDP
from punish_fast.mdp.solver import solve
from punish_fast.runtime._jit import set_threads


def prepare(folder: Path, settings: Settings) -> Solve:
    """Load the tensor; everything else is part of solving."""
    set_threads(settings["threads"])
    tensor = load(folder)

    def solved() -> Result:
        solution = solve(MDP(**tensor._asdict()), tolerance=settings["tolerance"], objective="win-probability")
        return Result(lambda: solution.v, solution.error_bound, solution.sweeps)

    return solved

"""Ours on the undiscounted probability to win, which is half of one more than an undiscounted value."""

from __future__ import annotations

from pathlib import Path

from bench.peer import Answer, Settings, Solve
from bench.tensor import load
from punish_fast._jit import set_threads
from punish_fast.mdp.model import MDP
from punish_fast.mdp.solver import solve


def prepare(folder: Path, settings: Settings) -> Solve:
    """Load the tensor; everything else is part of solving."""
    set_threads(settings["threads"])
    tensor = load(folder)

    def solved() -> Answer:
        solution = solve(MDP(**tensor._asdict()), 1.0, tolerance=2 * settings["tolerance"])
        return Answer(lambda: (1 + solution.v) / 2, solution.error_bound / 2, solution.sweeps)

    return solved

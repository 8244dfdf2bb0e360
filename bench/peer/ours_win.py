"""Our kernels on the undiscounted probability to win (see ``win_probability.py``)."""

from __future__ import annotations

from pathlib import Path

from bench.peer import Answer, Settings, Solve
from bench.tensor import load
from bench.win_probability import win_probability
from punish_fast._jit import set_threads
from punish_fast.mdp.model import MDP


def prepare(folder: Path, settings: Settings) -> Solve:
    """Load the tensor; everything else is part of solving."""
    set_threads(settings["threads"])
    tensor = load(folder)

    def solved() -> Answer:
        found = win_probability(MDP(**tensor._asdict()), settings["tolerance"])
        return Answer(lambda: found.values, found.error_bound, found.sweeps)

    return solved

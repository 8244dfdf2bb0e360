"""Ours from the rules to the values: states, tensor and solve together."""

from __future__ import annotations

from pathlib import Path

from bench.peer import Result, Settings, Solve
from bench.tensor import RULES
from punish_fast.mdp.solver import solve
from punish_fast.punish.rules import from_json
from punish_fast.punish.space import StateSpace
from punish_fast.punish.tensor import build
from punish_fast.runtime._jit import set_threads


def prepare(folder: Path, settings: Settings) -> Solve:
    """Load nothing but the rules."""
    set_threads(settings["threads"])
    rules = from_json((folder / RULES).read_text(encoding="utf-8"))

    def solved() -> Result:
        solution = solve(build(StateSpace(rules)), settings["discount"], tolerance=settings["tolerance"])
        return Result(lambda: solution.v, solution.error_bound, solution.sweeps)

    return solved

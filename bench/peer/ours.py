"""Ours, by the ``method`` and for the ``objective`` given; the error bound includes rounding."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.peer import Result, Settings, Solve
from bench.tensor import load
from punish_fast.mdp.model import MDP
from punish_fast.mdp.solver import solve
from punish_fast.runtime._jit import set_threads


def prepare(folder: Path, settings: Settings) -> Solve:
    """Load the tensor; everything else is part of solving."""
    set_threads(settings["threads"])
    tensor = load(folder)
    options: dict[str, Any] = {"tolerance": settings["tolerance"]}
    if "objective" in settings:
        options["objective"] = settings["objective"]
    else:
        options["discount"] = settings["discount"]
    if "method" in settings:
        options["method"] = settings["method"]

    def solved() -> Result:
        # A new object, since an old one caches its chunks.
        solution = solve(MDP(**tensor._asdict()), **options)
        return Result(lambda: solution.v, solution.error_bound, solution.sweeps)

    return solved


def named_methods() -> tuple[str, ...]:
    """The methods that the solver can be told, besides its own choice; none if it cannot be told any."""
    if "method" not in inspect.signature(solve).parameters:
        return ()
    return tuple(import_module("punish_fast.mdp.methods").METHODS)

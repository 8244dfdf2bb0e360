"""Storm's model checker, through stormpy, on the undiscounted win probability: ``Pmax=? [F "win"]``.

It reads this package's file in the Unified Markov Binary format. Its *sound* methods bracket every value and stop at
the absolute ``precision``, which is the tolerance; ``method`` names one of them. Storm has one thread only. Its
analysis of the graph (which states surely win or lose) is part of the time.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from bench.peer import Result, Settings, Solve
from bench.tensor import MODEL


def _environment(stormpy: Any, settings: Settings) -> Any:
    environments = importlib.import_module("stormpy.environments")
    environment = environments.sound()
    solver = environment.solver().min_max()
    solver.precision = stormpy.Rational(repr(settings["tolerance"]))
    solver.relative_termination_criterion = False
    solver.method = getattr(environments.MinMaxMethod, settings["method"])
    return environment


def prepare(folder: Path, settings: Settings) -> Solve:
    """Load the model."""
    stormpy: Any = importlib.import_module("stormpy")
    model = stormpy.build_model_from_umb(str(folder / MODEL))
    wanted = stormpy.parse_properties('Pmax=? [F "win"]')[0]
    environment = _environment(stormpy, settings)

    def solved() -> Result:
        result = stormpy.model_checking(model, wanted, environment=environment)
        return Result(lambda: np.array(result.get_value_vector())[:-2], settings["tolerance"], 0)

    return solved

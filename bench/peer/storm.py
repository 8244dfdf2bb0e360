"""Storm's model checker, through stormpy, on the undiscounted probability to win: ``Pmax=? [F "win"]``.

It reads the tensor from the file in the Unified Markov Binary format that this package writes. Its *sound* methods keep
a lower and an upper bound of every value and stop when every value between them is known
to within ``precision``, which is the tolerance, in absolute terms. ``method`` names one of them. Storm
has one thread only, and its first look at the graph (which states surely win or lose) is part of the time.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from bench.peer import Answer, Settings, Solve
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

    def solved() -> Answer:
        result = stormpy.model_checking(model, wanted, environment=environment)
        return Answer(lambda: np.array(result.get_value_vector())[:-2], settings["tolerance"], 0)

    return solved

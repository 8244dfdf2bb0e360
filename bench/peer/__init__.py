"""Solvers that solve the same tensor, one file each.

Each file has ``prepare(folder, settings) -> solve``. ``prepare`` loads the tensor from a folder into the form of the
solver and is not timed; ``solve()`` is timed and returns a `Result`. ``settings`` has ``discount``, ``tolerance``,
``threads`` and the solver's own options. The stopping rule of every solver guarantees, in exact arithmetic, that no
value is further than ``tolerance`` from the optimal one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

Settings = Mapping[str, Any]


class Result(NamedTuple):
    """The result of a solver."""

    # Reads the values, float64 ``[n_states]`` without terminals; untimed, since it would measure a Python interface.
    values: Callable[[], np.ndarray]
    error_bound: float  # the solver's own bound on the distance from the optimal values


Solve = Callable[[], Result]

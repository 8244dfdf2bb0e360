"""Solvers that run side by side on the same tensor, one small file each.

Each file has ``prepare(folder, settings) -> solve``. ``prepare`` loads the tensor of a folder and brings it into the
solver's own form, which is not counted; ``solve()`` returns an `Answer` and is. ``settings`` is a mapping with
``discount``, ``tolerance``, ``threads`` and what else the solver wants to know. Every solver is to guarantee that none
of its values is further than ``tolerance`` from the optimal one, by its own stopping rule, exact arithmetic assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

Settings = Mapping[str, Any]


class Answer(NamedTuple):
    """What a solver found.

    Attributes:
        values: Reads them out, float64 ``[n_states]``, terminals left out; this is not counted, because it tells more
            of a solver's Python interface than of the solver.
        error_bound: How far the solver says a value may be from the optimal one.
        iterations: Sweeps, or whatever the solver counts; 0 if it does not tell.
    """

    values: Callable[[], np.ndarray]
    error_bound: float
    iterations: int


Solve = Callable[[], Answer]

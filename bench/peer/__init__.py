"""Solvers that solve the same tensor, one file each.

Each file defines ``prepare(folder, settings) -> solve``. ``prepare`` loads the tensor from a folder and converts it for
the solver. Only the returned function ``solve()`` is timed. It returns a `Result`. ``settings`` contains ``discount``,
``tolerance``, ``threads`` and the solver's own options. In exact arithmetic, the stopping rule of every solver
guarantees that each value is within ``tolerance`` of the optimal value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

Settings = Mapping[str, Any]


class Result(NamedTuple):
    """The result of a solver."""

    # Returns the values, float64 ``[n_states]`` without terminals. The call is not timed, because conversion can be
    # slow.
    values: Callable[[], np.ndarray]
    error_bound: float  # the solver's own bound on the error of all values


Solve = Callable[[], Result]

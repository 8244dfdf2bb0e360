"""MDPSolver, a C++ library, with the given ``algorithm`` and ``update``.

MDPSolver uses all threads of OpenMP unless ``threads`` is 1. Waiting threads sleep, because busy waiting is many times
slower if another program is running.

With its standard updates, modified policy iteration (``mpi``, the default) stops when the span of the changes is below
``tolerance (1 - discount) / discount``. It then adds ``discount / (1 - discount)`` times the smallest change to all
values. This is a lower bound of the optimal values, and the same sum with the largest change is an upper bound. The
bounds differ by at most ``tolerance``. The process is passed as Python lists of lists. MDPSolver does not support
terminals. The initial values are zeros and the exact values of win and loss, because these save most iterations.
"""

from __future__ import annotations

import importlib
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bench.peer import Result, Settings, Solve
from bench.tensor import WithTerminals, load, with_terminals


def _nested(array: np.ndarray, inner: np.ndarray, outer: np.ndarray) -> list[Any]:
    """Return the entries of ``array`` as lists by state and row."""
    items, ends, rows = array.tolist(), inner.tolist(), outer.tolist()
    return [[items[ends[row] : ends[row + 1]] for row in range(begin, end)] for begin, end in pairwise(rows)]


def _model(whole: WithTerminals, discount: float) -> Any:
    # OpenMP reads this variable when the library is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    model = importlib.import_module("mdpsolver").model()
    rewards, rows = whole.reward.tolist(), whole.state_ptr.tolist()
    model.mdp(
        discount=discount,
        rewards=[rewards[begin:end] for begin, end in pairwise(rows)],
        tranMatProbs=_nested(whole.data, whole.indptr, whole.state_ptr),
        tranMatColumns=_nested(whole.indices, whole.indptr, whole.state_ptr),
    )
    return model


def prepare(folder: Path, settings: Settings) -> Solve:
    """Load the tensor and pass it to MDPSolver as nested lists."""
    tensor = load(folder)
    n_states = tensor.n_states
    model = _model(with_terminals(tensor), settings["discount"])
    terminals = tensor.terminal_reward / (1 - settings["discount"])
    start = [0.0] * n_states + terminals.tolist()

    def solved() -> Result:
        model.solve(
            algorithm=settings.get("algorithm", "mpi"),
            tolerance=settings["tolerance"],
            update=settings.get("update", "standard"),
            parIterLim=settings.get("k", 100),
            initValueVector=start,
            parallel=settings["threads"] > 1,
        )
        return Result(lambda: np.array(model.getValueVector()[:n_states]), settings["tolerance"])

    return solved

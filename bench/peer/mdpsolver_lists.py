"""MDPSolver, in C++, by the given ``algorithm`` and ``update``.

It uses all the threads that OpenMP finds unless ``threads`` is 1. They wait for each other asleep: where another
program runs at the same time, waiting in loops makes it many times slower.

With its standard updates modified policy iteration (``mpi``, the default) stops when the span of the changes is below
``tolerance (1 - discount) / discount`` and adds to all values ``discount / (1 - discount)`` times the smallest change.
The optimal values lie between that and as much for the largest change, so the values are within ``tolerance`` of the
optimal ones. It takes Python lists of lists. As it has no terminals, it starts from zeros and the exact values of win
and loss, which saves most of its iterations.
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
    """The entries of each row of each state, as lists of lists of lists."""
    items, ends, rows = array.tolist(), inner.tolist(), outer.tolist()
    return [[items[ends[row] : ends[row + 1]] for row in range(begin, end)] for begin, end in pairwise(rows)]


def _model(whole: WithTerminals, discount: float) -> Any:
    # OpenMP reads it when it is loaded.
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
    """Load the tensor as nested lists, which MDPSolver copies."""
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

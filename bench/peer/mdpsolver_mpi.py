"""MDPSolver's modified policy iteration, in C++, with all the threads that OpenMP finds.

With its standard updates it stops when the span of the changes is below ``tolerance (1 - discount) / discount`` and
adds to all values ``discount / (1 - discount)`` times the smallest change. The optimal values lie between that and as
much for the largest change, so the values are within ``tolerance`` of the optimal ones. It takes Python lists of
lists. As it has no terminals, it starts from zeros and the exact values of win and loss, which saves most of its
iterations.
"""

from __future__ import annotations

import importlib
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
        model.solve(algorithm="mpi", tolerance=settings["tolerance"], update="standard", initValueVector=start)
        return Result(lambda: np.array(model.getValueVector()[:n_states]), settings["tolerance"], 0)

    return solved

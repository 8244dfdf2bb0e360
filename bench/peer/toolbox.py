"""``ValueIteration`` or ``PolicyIterationModified`` of pymdptoolbox, with a sparse matrix for every action.

The toolbox stops when the span of the changes is below ``epsilon (1 - discount) / discount``. Its values are then
within the tolerance only up to a constant. One more application of its Bellman operator, which is timed, results in
bounds of this constant. If the middle of the bounds is added, the values are within ``epsilon / 2`` of the optimal
values. The toolbox needs the same number of actions in each state, so missing actions are copies of the first row. Its
policy iteration uses dense matrices and is omitted.
"""

from __future__ import annotations

import importlib
import warnings
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from bench.peer import Result, Settings, Solve
from bench.tensor import load, with_terminals


def prepare(folder: Path, settings: Settings) -> Solve:
    """Load the tensor as one SciPy matrix per action."""
    mdptoolbox = importlib.import_module("mdptoolbox.mdp")
    tensor = load(folder)
    whole = with_terminals(tensor)
    n_columns = len(whole.state_ptr) - 1
    matrix = csr_matrix((whole.data, whole.indices, whole.indptr), shape=(len(whole.reward), n_columns))
    counts = np.diff(whole.state_ptr)
    rows = [whole.state_ptr[:-1] + np.where(action < counts, action, 0) for action in range(counts.max())]
    transitions = [matrix[row] for row in rows]
    reward = np.stack([whole.reward[row] for row in rows], axis=1)
    method = getattr(mdptoolbox, settings["method"])
    discount, epsilon = settings["discount"], 2 * settings["tolerance"]

    def solved() -> Result:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            process = method(transitions, reward, discount, epsilon=epsilon, max_iter=1_000_000)
        process.run()
        v = np.array(process.V)
        process.V = v
        change = process._bellmanOperator()[1] - v
        low, high = discount / (1 - discount) * change.min(), discount / (1 - discount) * change.max()
        values = v + change + (low + high) / 2
        return Result(lambda: values[: tensor.n_states], float(high - low) / 2)

    return solved

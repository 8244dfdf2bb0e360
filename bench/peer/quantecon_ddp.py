"""QuantEcon's ``DiscreteDP``, on state-action pairs with a sparse matrix, by the method that ``method`` names.

Value iteration stops when the largest change is below ``epsilon (1 - discount) / (2 discount)``; modified policy
iteration when the span of the changes is below ``epsilon (1 - discount) / discount``, and then moves the values to the
middle of where the optimal ones can be. Either way, they are within ``epsilon / 2`` of the optimal ones, so
``epsilon`` is twice the tolerance. QuantEcon has one thread only.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from bench.peer import Answer, Settings, Solve
from bench.tensor import load, with_terminals


def prepare(folder: Path, settings: Settings) -> Solve:
    """Load the tensor into a ``DiscreteDP``."""
    markov = importlib.import_module("quantecon.markov")
    tensor = load(folder)
    n_states = tensor.n_states
    actions = np.append(tensor.action, np.zeros(tensor.n_terminals)).astype(np.int64)
    whole = with_terminals(tensor)
    size = n_states + tensor.n_terminals
    matrix = csr_matrix((whole.data, whole.indices, whole.indptr), shape=(len(whole.reward), size))
    states = np.arange(size).repeat(np.diff(whole.state_ptr))
    process = markov.DiscreteDP(whole.reward, matrix, settings["discount"], s_indices=states, a_indices=actions)
    options = {"k": settings["k"]} if "k" in settings else {}

    def solved() -> Answer:
        epsilon = 2 * settings["tolerance"]
        found = process.solve(method=settings["method"], epsilon=epsilon, max_iter=100_000, **options)
        return Answer(lambda: found.v[:n_states], settings["tolerance"], int(found.num_iter))

    return solved

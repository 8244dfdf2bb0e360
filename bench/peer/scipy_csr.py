"""Plain value iteration with SciPy: one product of a CSR matrix with a vector per sweep.

Iteration stops when ``discount / (1 - discount)`` times the largest change of a value is at most the tolerance. This
product is a bound on the error.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from bench.peer import Result, Settings, Solve
from bench.tensor import load


def prepare(folder: Path, settings: Settings) -> Solve:
    """Load the tensor as a SciPy matrix with 32-bit pointers and columns."""
    tensor = load(folder)
    n_states = tensor.n_states
    columns = n_states + tensor.n_terminals
    pointers = tensor.indptr.astype(np.int32)
    matrix = csr_array((tensor.data, tensor.indices, pointers), shape=(len(tensor.reward), columns))
    first_row = tensor.state_ptr[:-1]
    discount = settings["discount"]

    def solved() -> Result:
        v = np.zeros(columns)
        v[n_states:] = tensor.terminal_reward / (1 - discount)
        while True:
            best = np.maximum.reduceat(tensor.reward + discount * (matrix @ v), first_row)
            error = discount / (1 - discount) * float(np.abs(best - v[:n_states]).max())
            v[:n_states] = best
            if error <= settings["tolerance"]:
                return Result(lambda: v[:n_states], error)

    return solved

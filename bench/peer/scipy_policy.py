"""Howard's policy iteration with SciPy. ``spsolve`` (SuperLU) computes the values of each policy.

Iteration stops when no row is better than the policy's row in the same state by more than ``tolerance (1 - discount)``.
The error is then at most the tolerance.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.linalg import spsolve

from bench.peer import Result, Settings, Solve
from bench.tensor import load


def prepare(folder: Path, settings: Settings) -> Solve:
    """Load the tensor as a SciPy matrix with 32-bit pointers and columns."""
    tensor = load(folder)
    n_states, discount = tensor.n_states, settings["discount"]
    columns = n_states + tensor.n_terminals
    matrix = csr_array(
        (tensor.data, tensor.indices, tensor.indptr.astype(np.int32)), shape=(len(tensor.reward), columns)
    )
    first_row = tensor.state_ptr[:-1]
    n_actions = np.diff(tensor.state_ptr)
    terminals = tensor.terminal_reward / (1 - discount)

    def solved() -> Result:
        policy = _greedy(tensor.reward, first_row, n_actions)
        while True:
            chosen = matrix[policy]
            right = tensor.reward[policy] + discount * (chosen[:, n_states:] @ terminals)
            system = eye_array(n_states, format="csr") - discount * chosen[:, :n_states]
            v = spsolve(csc_array(system), right)
            q = tensor.reward + discount * (matrix @ np.append(v, terminals))
            gain = float((np.maximum.reduceat(q, first_row) - v).max())
            if gain <= settings["tolerance"] * (1 - discount):
                return Result(v.copy, max(gain, 0.0) / (1 - discount))
            better = _greedy(q, first_row, n_actions)
            # Keep rows that are equally good up to rounding, so that policies cannot cycle.
            policy = np.where(q[better] > q[policy] + 1e-12 * np.abs(v).max(), better, policy)

    return solved


def _greedy(q: np.ndarray, first_row: np.ndarray, n_actions: np.ndarray) -> np.ndarray:
    """Return the first best row of each state."""
    is_best = q == np.repeat(np.maximum.reduceat(q, first_row), n_actions)
    rows = np.flatnonzero(is_best)
    return rows[np.searchsorted(rows, first_row)]

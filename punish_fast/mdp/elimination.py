"""Linear equations of a chain that ends, solved without loss of digits however long it lasts.

For probabilities ``p`` of a chain from whose every state play ends, and any ``r``, these are the equations

    sum_t p(s, t) (x(s) - x(t))  =  r(s),        x = 0 at the end.

A chain that lasts ``N`` steps loses ``log10 N`` digits to an elimination that subtracts. Two facts help. *Components*:
ordered so that successors come first, the matrix is block triangular, with a block for each strongly connected
component, and single states need no elimination. *State reduction* [Grassmann, Taksar and Heyman 1985]: to eliminate a
state, send play past it, and take its probability of leaving as a sum, never as one minus the probability of staying.
Then nothing is subtracted, and every digit is right up to rounding [O'Cinneide 1993]. State reduction needs a dense
matrix or, in the order of Cuthill and McKee, a band matrix. For components that are too large for both, SciPy computes
sparse factors, which subtract.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from punish_fast.mdp import _elimination

if TYPE_CHECKING:
    from punish_fast.mdp.model import MDP

_MOST_DENSE = 2000
# States of components whose structure does not matter for an estimate.
_SMALL = 100
# Operations of state reduction in a band matrix.
_MOST_IN_BAND = 5e7
# Entries of the factors of a component, and operations to find them.
_MOST_ENTRIES, _MOST_OPERATIONS = 5e7, 5e10
# Sweeps before policy iteration is tried, policies that it may evaluate, and most entries for an estimate.
_LEAST_SWEEPS, _MOST_SWEEPS, _POLICIES, _MOST_ESTIMATED = 50, 1000, 10, 1_000_000

Solve = Callable[[np.ndarray], np.ndarray]


class Elimination:
    """The factors of a chain, for any number of right-hand sides."""

    def __init__(self, chain: Any) -> None:
        """Factorise.

        Args:
            chain: A SciPy CSR matrix ``[n_states, n_columns]`` of probabilities; columns from ``n_states`` on are ends.
        """
        from scipy.sparse import csr_array, diags_array

        n = chain.shape[0]
        within = chain[:, :n]
        within = csr_array(within - diags_array(within.diagonal()))
        within.eliminate_zeros()
        label = components(within)
        self._order = np.argsort(label, kind="stable")
        ordered = within[self._order][:, self._order]
        ends = chain[:, n:].sum(axis=1)[self._order]
        self._blocks = [_Block(ordered[i:j], ends[i:j], i) for i, j in _runs(np.bincount(label))]

    def solve(self, r: np.ndarray) -> np.ndarray:
        """The solution, float64 ``[n_states]``; not finite if the chain does not end, or overflows."""
        r, x = r[self._order], np.empty(len(r))
        for block in self._blocks:
            block.solve(r, x)
        solution = np.empty(len(r))
        solution[self._order] = x
        return solution


def components(within: Any) -> np.ndarray:
    """The strongly connected component of each state, numbered so that no number leads to a higher one."""
    from scipy.sparse.csgraph import connected_components

    if not within.has_canonical_format:
        # SciPy's search might not terminate if an entry is stored twice.
        within = within.copy()
        within.sum_duplicates()
    # SciPy numbers a component after its successors, which a test checks.
    label: np.ndarray = connected_components(within, connection="strong")[1]
    return label


def closed_classes(chain: Any) -> list[np.ndarray]:
    """Return the states of each recurrent class of a chain, any matrix ``[n_states, n_states]``."""
    from scipy.sparse import csr_array

    matrix = csr_array(chain, copy=True)
    matrix.eliminate_zeros()
    label = components(matrix)
    origin = np.repeat(label, np.diff(matrix.indptr))
    is_closed = np.ones(label.max(initial=-1) + 1, dtype=bool)
    is_closed[origin[origin != label[matrix.indices]]] = False
    order = np.argsort(label, kind="stable")
    runs = np.split(order, np.cumsum(np.bincount(label))[:-1])
    return [states for states, closed in zip(runs, is_closed, strict=True) if closed]


def operations(mdp: MDP) -> float:
    """Estimate the operations of an elimination of a chain of a process, not compact; infinity if it is too large.

    A large component is taken for a band matrix in the order of Cuthill and McKee. Up to 5e10 operations and 5e7
    entries take seconds and a gigabyte.
    """
    from scipy.sparse import csr_array

    n, pointers = mdp.n_states, mdp.indptr[mdp.state_ptr]
    graph = csr_array((np.ones(mdp.n_entries, dtype=bool), mdp.indices, pointers), shape=(n, mdp.n_columns))[:, :n]
    label = components(graph)
    sizes = np.bincount(label)
    total = float(mdp.n_entries) + float((sizes[sizes <= _SMALL] ** 3).sum())
    for component in np.flatnonzero(sizes > _SMALL):
        states = np.flatnonzero(label == component)
        width = band_order(csr_array(graph[states][:, states]))[1]
        n_operations = len(states) * width**2
        if len(states) > _MOST_DENSE and (len(states) * width > _MOST_ENTRIES or n_operations > _MOST_OPERATIONS):
            return np.inf
        total += n_operations
    return total


def patience(mdp: MDP) -> int:
    """Return the number of sweeps, from 50 to 1,000, that may take as long as policy iteration; 1,000 if unknown."""
    if mdp.n_entries > _MOST_ESTIMATED:
        return _MOST_SWEEPS
    return int(np.clip(_POLICIES * operations(mdp) / max(mdp.n_entries, 1), _LEAST_SWEEPS, _MOST_SWEEPS))


def is_affordable(mdp: MDP) -> bool:
    """Return True if chains of a process, not compact, are not too large for an elimination."""
    return operations(mdp) < np.inf


def _runs(sizes: np.ndarray) -> list[tuple[int, int]]:
    """Return begin and end of each block: a component, or consecutive components of one state each."""
    is_single = sizes == 1
    starts = np.ones(len(sizes), dtype=bool)
    starts[1:] = ~(is_single[1:] & is_single[:-1])
    ends = np.concatenate([[0], np.cumsum(sizes)])
    begins = ends[:-1][starts].tolist()
    return list(zip(begins, [*begins[1:], int(ends[-1])], strict=True))


class _Block:
    """Consecutive states of a chain, whose successors are among them, before them, or ends."""

    def __init__(self, rows: Any, ends: np.ndarray, begin: int) -> None:
        self._states = slice(begin, begin + len(ends))
        self._before = rows[:, :begin]
        inside, leak = rows[:, self._states], self._before.sum(axis=1) + ends
        is_component = inside.nnz > 0 and len(components(inside)) > components(inside).max() + 1
        self._solve: Solve
        order, width = band_order(inside) if is_component else (np.empty(0), np.inf)
        if len(leak) * width**2 <= _MOST_IN_BAND:
            self._solve = _reduced_band(inside, leak, order, int(width))
        elif is_component and len(leak) <= _MOST_DENSE:
            self._solve = _reduced(inside.toarray(), leak)
        else:
            self._solve = _factorised(inside, leak, is_component)

    def solve(self, r: np.ndarray, x: np.ndarray) -> None:
        """Fill in ``x`` of these states, given those before them."""
        x[self._states] = self._solve(r[self._states] + self._before @ x[: self._states.start])


def band_order(graph: Any) -> tuple[np.ndarray, float]:
    """Return an order of the states of a CSR graph in which they lead not far away, and the largest distance then."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    order = reverse_cuthill_mckee(graph)
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    distance = np.abs(position[graph.indices] - np.repeat(position, np.diff(graph.indptr)))
    return order, float(distance.max(initial=0))


def _reduced_band(inside: Any, leak: np.ndarray, order: np.ndarray, width: int) -> Solve:
    """State reduction in a band matrix."""
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    state, successor = np.repeat(position, np.diff(inside.indptr)), position[inside.indices]
    band, pivot = np.zeros((len(order), 2 * width + 1)), np.empty(len(order))
    band[state, width + successor - state] = inside.data
    with np.errstate(all="ignore"):
        _elimination.reduce_band(width, band, leak[order], pivot)

    def solve(r: np.ndarray) -> np.ndarray:
        x: np.ndarray = r[order]
        with np.errstate(all="ignore"):
            _elimination.solve_band(width, band, pivot, x)
        found: np.ndarray = x[position]
        return found

    return solve


def _reduced(inside: np.ndarray, leak: np.ndarray) -> Solve:
    """State reduction, from the last state to the first; changes its arguments. The diagonal is never read."""
    n = len(leak)
    pivot = leak.copy()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        for k in reversed(range(1, n)):
            into, onto = np.flatnonzero(inside[:k, k]), np.flatnonzero(inside[k, :k])
            pivot[k] = inside[k, onto].sum() + leak[k]
            inside[into, k] /= pivot[k]
            leak[into] += inside[into, k] * leak[k]
            inside[np.ix_(into, onto)] += np.outer(inside[into, k], inside[k, onto])
    pivot[0] = leak[0]

    def solve(r: np.ndarray) -> np.ndarray:
        x = r.copy()
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            for k in reversed(range(1, n)):
                x[:k] += inside[:k, k] * x[k]
            x[0] /= pivot[0]
            for k in range(1, n):
                x[k] = (x[k] + inside[k, :k] @ x[:k]) / pivot[k]
        return x

    return solve


def _factorised(inside: Any, leak: np.ndarray, is_component: bool) -> Solve:
    """Sparse factors, which subtract nothing unless states lead to each other: each comes after its successors."""
    from scipy.sparse import csc_array, diags_array
    from scipy.sparse.linalg import splu

    matrix = csc_array(diags_array(leak + inside.sum(axis=1)) - inside)
    try:
        factors = splu(matrix, permc_spec="COLAMD" if is_component else "NATURAL", diag_pivot_thresh=0.0)
    except RuntimeError:
        return lambda r: np.full(len(r), np.nan)
    return lambda r: np.asarray(factors.solve(r))

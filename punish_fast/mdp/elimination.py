"""Linear equations of a chain that ends, solved without loss of digits however long it lasts.

For probabilities ``p`` of a chain from whose every state play ends, and any ``r``, these are the equations

    sum_t p(s, t) (x(s) - x(t))  =  r(s),        x = 0 at the end.

A chain that lasts ``N`` steps loses ``log10 N`` digits to an elimination that subtracts. Two facts help. *Components*:
ordered so that successors come first, the matrix is block triangular, with a block for each strongly connected
component, and single states need no elimination. *State reduction* [Grassmann, Taksar and Heyman 1985]: to eliminate a
state, send play past it, and take its probability of leaving as a sum, never as one minus the probability of staying.
Then nothing is subtracted at all, and every digit is right up to rounding [O'Cinneide 1993]. It needs a dense matrix;
components that are too large for one get the sparse factors of SciPy, which subtract.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

LARGEST_COMPONENT = 10_000
_MOST_DENSE = 2000

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
        """The solution, float64 ``[n_states]``; not finite where the chain does not end, or floats cannot tell."""
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
        # With an entry stored twice, SciPy may search for ever.
        within = within.copy()
        within.sum_duplicates()
    # SciPy finds components after all that they lead to; a test holds it to that.
    label: np.ndarray = connected_components(within, connection="strong")[1]
    return label


def _runs(sizes: np.ndarray) -> list[tuple[int, int]]:
    """Where blocks begin and end: each component alone, but components of one state that follow each other together."""
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
        if is_component and len(leak) <= _MOST_DENSE:
            self._solve = _reduced(inside.toarray(), leak)
        else:
            self._solve = _factorised(inside, leak, is_component)

    def solve(self, r: np.ndarray, x: np.ndarray) -> None:
        """Fill in ``x`` of these states, given those before them."""
        x[self._states] = self._solve(r[self._states] + self._before @ x[: self._states.start])


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

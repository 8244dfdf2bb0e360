"""Processes whose transitions are stored, and their backups.

**Rounding.** The value of a row of ``n`` entries has an error of at most ``(n + 8) u`` times the sum of its absolute
terms, ``|r| + g sum P |v|``, with unit roundoff ``u`` [Higham 2002, ch. 3]. This bound includes up to four roundings of
stored probabilities. The best value of a state lies between the largest lower bound and the largest upper bound on the
values of its rows, so a row that is far worse than the best one does not matter. The largest reward and value of an MDP
bound the terms of all rows without reading the rows, but one large reward loosens this bound for all values. If the
resulting bound is too large, `rounding_of_backup` reads all rows for a tighter bound.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from punish_fast.mdp.model import _bellman
from punish_fast.mdp.model.process import FURTHER_TERMS, SMALLEST, UNIT_ROUNDOFF, Payment, Process, RowChoices
from punish_fast.runtime.parallel import balanced_chunks, for_each

# Sweeps with less work than this take less time than starting threads (0.1 ms). Work is the number of entries plus ten
# for each state.
_LEAST_WORK, _STATE_WORK = 100_000, 10


class StoredProcess(Process):
    """Process whose transitions are stored in the arrays described in `MDP`."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    data_ptr: np.ndarray | None

    @property
    def nnz(self) -> int:
        """Number of entries in all rows, including entries of probability 0."""
        return len(self.indices)

    @property
    def backups(self) -> StoredBackups:
        """Backups of the layers, not cached because a reference cycle would keep the arrays in memory."""
        return StoredBackups(self)

    @cached_property
    def longest_rows(self) -> np.ndarray:
        """Number of entries in the longest row of each layer, int64 ``[n_layers]``."""
        lengths = np.diff(self.indptr)
        rows = pairwise(self.state_ptr[self.layer_ptr].tolist())
        return np.array([lengths[begin:end].max(initial=0) for begin, end in rows], dtype=np.int64)

    @cached_property
    def is_cycle(self) -> bool:
        """True if there are several layers and each leads only to the next (the last to the first) or to terminals."""
        lowest, highest = self._successors.T
        to_next = (lowest[:-1] >= self.layer_ptr[1:-1]).all() and (highest[:-1] < self.layer_ptr[2:]).all()
        return bool(self.n_layers > 1 and to_next and highest[-1] < self.layer_ptr[1])

    @cached_property
    def _chunks(self) -> list[np.ndarray]:
        """State boundaries that split each layer into chunks with similar numbers of entries."""
        ends = zip(self.layer_ptr[:-1], self.layer_ptr[1:], strict=True)
        chunks = [begin + balanced_chunks(self.indptr[self.state_ptr[begin : end + 1]]) for begin, end in ends]
        return [boundaries.view(np.uint64) for boundaries in chunks]

    @cached_property
    def _successors(self) -> np.ndarray:
        """Lowest and highest successor state of each layer, int64 ``[n_layers, 2]``.

        The row of a layer that leads only to terminals is ``[n_states, -1]``.
        """
        ends = np.empty((self.n_layers, 2), dtype=np.int64)
        for layer, chunks in enumerate(self._chunks):
            low, high = self.n_states, -1
            for begin, end in pairwise(self.indptr[self.state_ptr[chunks]].tolist()):
                columns = self.indices[begin:end]
                low = columns.min(initial=low)
                high = columns[columns < self.n_states].max(initial=high)
            ends[layer] = low, high
        return ends


class StoredBackups:
    """Backups of an MDP with stored transitions."""

    def __init__(self, mdp: StoredProcess) -> None:
        self._mdp = mdp
        self._data_ptr = None if mdp.data_ptr is None else mdp.data_ptr.view(np.uint64)

    def sweep(self, layer: int, payment: Payment, v: np.ndarray, out: np.ndarray, policy: Any = None) -> float:
        """See `Backups.sweep`."""
        chunks = self._mdp._chunks[layer]
        residual = np.zeros(len(chunks) - 1)
        kernel, given = (_bellman.sweep, ()) if policy is None else (_bellman.evaluate_policy, (policy,))
        args = chunks, *self._settings(payment), *given, v, out, residual
        for_each(kernel, len(residual), *args, alone=self._is_small(layer))
        return float(residual.max(initial=0))

    def close(self, layer: int, payment: Payment, choices: RowChoices, v: np.ndarray, out: np.ndarray) -> np.ndarray:
        """See `Backups.close`."""
        chunks = self._mdp._chunks[layer]
        statistics = np.zeros((len(chunks) - 1, 3))
        arrays = (*self._settings(payment), v, choices.q, out, choices.row.view(np.uint64), statistics)
        for_each(_bellman.back_up_rows, len(chunks) - 1, chunks, *arrays, alone=self._is_small(layer))
        return np.append(statistics[:, 0].max(initial=0), statistics[:, 1:].sum(axis=0))

    def is_independent(self, layer: int) -> bool:
        """See `Backups.is_independent`: True if a layer's successors all precede it or all follow it."""
        mdp = self._mdp
        low, high = mdp._successors[layer]
        return bool(high < mdp.layer_ptr[layer] or low >= mdp.layer_ptr[layer + 1])

    def _is_small(self, layer: int) -> bool:
        """Return True if one thread sweeps the layer faster than other threads could start."""
        mdp, (first, last) = self._mdp, self._mdp.layer_ptr[layer : layer + 2]
        nnz = mdp.indptr[mdp.state_ptr[last]] - mdp.indptr[mdp.state_ptr[first]]
        return bool(nnz + _STATE_WORK * (last - first) < _LEAST_WORK)

    def _settings(self, payment: Payment) -> tuple[Any, ...]:
        return tensor_of(self._mdp, payment.reward), self._data_ptr, payment.discount


def tensor_of(mdp: StoredProcess, reward: np.ndarray | None = None) -> _bellman.Tensor:
    """Return the arrays of an MDP for kernels. If given, ``reward``, float64 ``[n_rows]``, replaces its rewards."""
    pointers = mdp.state_ptr.view(np.uint64), mdp.indptr.view(np.uint64)
    return _bellman.Tensor(*pointers, mdp.indices.view(np.uint32), mdp.data, mdp.reward if reward is None else reward)


def rounding_of_backup(mdp: Any, v: np.ndarray, discount: float) -> float:
    """Return a bound on the rounding error of backing up all states from ``v``, float64 ``[n_columns]``.

    The bound is infinite if values overflow.
    """
    rows, begins = mdp.to_scipy(), mdp.state_ptr[:-1]
    with np.errstate(all="ignore"):
        q, terms = (r + discount * (rows @ x) for r, x in ((mdp.reward, v), (np.abs(mdp.reward), np.abs(v))))
        error = (np.diff(mdp.indptr) + FURTHER_TERMS) * (UNIT_ROUNDOFF * terms + SMALLEST)
        best, low, high = (np.maximum.reduceat(values, begins) for values in (q, q - error, q + error))
        largest = float(np.maximum(high - best, best - low).max(initial=0))
    return 2 * largest if largest < np.inf else np.inf

"""Interface of the processes that solvers sweep over: their sizes, and backups of each layer.

**Rounding.** The value of a row of ``n`` entries has an error of at most ``(n + 8) u`` times the sum of its absolute
terms, ``|r| + g sum P |v|``, with unit roundoff ``u`` [Higham 2002, ch. 3]. This bound includes up to four roundings of
stored probabilities. The best value of a state lies between the largest lower bound and the largest upper bound on the
values of its rows, so a row that is far worse than the best one does not matter. The largest reward and value of an MDP
bound the terms of all rows without reading them, but then one large reward loosens the bound for all values. If the
resulting bound is too large, `rounding_of_backup` reads all rows for a tighter bound.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from punish_fast.mdp.bounds import _improvement
from punish_fast.mdp.model import _bellman
from punish_fast.runtime.parallel import balanced_chunks, for_each

if TYPE_CHECKING:
    from punish_fast.mdp.model.mdp import MDP


UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2
# Largest error of a product that underflows.
SMALLEST = float(np.finfo(np.float64).smallest_subnormal)
# Roundings of a backup in addition to one per entry, including roundings of stored probabilities.
FURTHER_TERMS = 8


def rounding_of_backup(mdp: MDP, v: np.ndarray, discount: float) -> float:
    """Return a bound on the rounding error of backing up all states from ``v``, float64 ``[n_columns]``.

    The bound is infinite if values overflow.
    """
    chunks = balanced_chunks(mdp.indptr[mdp.state_ptr]).view(np.uint64)
    errors = np.zeros(len(chunks) - 1)
    constants = np.uint64(FURTHER_TERMS), UNIT_ROUNDOFF, SMALLEST
    for_each(_improvement.measure_rounding, len(errors), chunks, tensor_of(mdp), discount, v, *constants, errors)
    return 2 * float(errors.max(initial=0))


# Sweeps with less work than this take less time than starting threads (0.1 ms). Work is the number of entries plus ten
# for each state.
_LEAST_WORK, _STATE_WORK = 100_000, 10


class Payment(NamedTuple):
    """Immediate rewards and discount of a backup."""

    reward: np.ndarray  # float64 [n_rows]
    discount: float


class RowChoices(NamedTuple):
    """Row values and choices that `Backups.close` updates."""

    q: np.ndarray  # float64 [n_rows], row values
    row: np.ndarray  # int64 [n_states], first best row of each state


class Backups(Protocol):
    """Backups of the states of a layer from values ``v``, float64 ``[n_columns]``, into ``out``.

    On entry, ``out`` must be equal to ``v``. It may be ``v`` itself if no state of the layer leads to that layer.
    """

    def sweep(self, layer: int, payment: Payment, v: np.ndarray, out: np.ndarray) -> float:
        """Back up each state with its best row, and return the largest absolute change."""

    def evaluate(self, layer: int, payment: Payment, policy: np.ndarray, v: np.ndarray, out: np.ndarray) -> float:
        """Back up each state, taking row ``r`` with probability ``policy[r]``. Return the largest absolute change."""

    def close(self, layer: int, payment: Payment, choices: RowChoices, v: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Back up each state with its best row, and update row values and choices.

        Return the largest absolute change, the sum of squared changes of ``q``, and the number of changed choices.
        """

    def is_independent(self, layer: int) -> bool:
        """Return True only if no state of a layer leads to that layer, so the layer can be updated in place."""


class NonzeroCount(NamedTuple):
    """Numbers of successors with nonzero probability.

    Attributes:
        total: Number of successors in all rows.
        longest: Number of successors in the row with the most successors.
    """

    total: int
    longest: int


class Process(ABC):
    """Markov decision process with stored or computed transitions. Its arrays are described in `MDP`."""

    state_ptr: np.ndarray
    reward: np.ndarray
    terminal_reward: np.ndarray
    layer_ptr: np.ndarray
    action: np.ndarray
    # True if the rewards of rows already contain the reward of the terminal on entry, so that total rewards without a
    # discount must not count it again.
    rows_pay_ends: bool

    @property
    def n_states(self) -> int:
        """Number of states, excluding terminals."""
        return len(self.state_ptr) - 1

    @property
    def n_rows(self) -> int:
        """Number of state-action pairs."""
        return len(self.action)

    @property
    def n_columns(self) -> int:
        """Number of states and terminals."""
        return self.n_states + len(self.terminal_reward)

    @property
    def n_layers(self) -> int:
        """Number of layers."""
        return len(self.layer_ptr) - 1

    @property
    def longest_row(self) -> int:
        """Number of entries in the longest row."""
        return int(self.longest_rows.max(initial=0))

    @property
    @abstractmethod
    def longest_rows(self) -> np.ndarray:
        """Number of entries in the longest row of each layer, int64 ``[n_layers]``."""

    @property
    @abstractmethod
    def is_cycle(self) -> bool:
        """True if there are several layers and each leads only to the next (the last to the first) or to terminals."""

    @property
    @abstractmethod
    def backups(self) -> Backups:
        """Backups of the layers."""

    @abstractmethod
    def count_nonzero(self) -> NonzeroCount:
        """Count the nonzero probabilities in all rows and in the longest row."""


def tensor_of(mdp: MDP, reward: np.ndarray | None = None) -> _bellman.Tensor:
    """Return the arrays of an MDP for kernels. If given, ``reward``, float64 ``[n_rows]``, replaces its rewards."""
    pointers = mdp.state_ptr.view(np.uint64), mdp.indptr.view(np.uint64)
    return _bellman.Tensor(*pointers, mdp.indices.view(np.uint32), mdp.data, mdp.reward if reward is None else reward)


def chunks_of_layers(mdp: MDP) -> list[np.ndarray]:
    """Return state boundaries that split each layer into chunks with similar numbers of entries."""
    ends = zip(mdp.layer_ptr[:-1], mdp.layer_ptr[1:], strict=True)
    return [begin + balanced_chunks(mdp.indptr[mdp.state_ptr[begin : end + 1]]) for begin, end in ends]


def successors_of_layers(mdp: MDP) -> np.ndarray:
    """Return the lowest and highest successor state of each layer, int64 ``[n_layers, 2]``.

    The row of a layer that leads only to terminals is ``[n_states, -1]``.
    """
    ends = np.empty((mdp.n_layers, 2), dtype=np.int64)
    for layer, chunks in enumerate(mdp._chunks):
        low, high = np.empty((2, len(chunks) - 1), dtype=np.int64)
        args = (chunks, mdp.state_ptr, mdp.indptr, mdp.indices, mdp.n_states, low, high)
        for_each(_bellman.find_successors, len(chunks) - 1, *args)
        ends[layer] = low.min(initial=mdp.n_states), high.max(initial=-1)
    return ends


class StoredBackups:
    """Backups of an MDP with stored transitions."""

    def __init__(self, mdp: MDP) -> None:
        self._mdp = mdp
        self._data_ptr = None if mdp.data_ptr is None else mdp.data_ptr.view(np.uint64)

    def sweep(self, layer: int, payment: Payment, v: np.ndarray, out: np.ndarray) -> float:
        """See `Backups.sweep`."""
        return self._back_up(layer, _bellman.sweep, payment, v, out)

    def evaluate(self, layer: int, payment: Payment, policy: np.ndarray, v: np.ndarray, out: np.ndarray) -> float:
        """See `Backups.evaluate`."""
        return self._back_up(layer, _bellman.evaluate_policy, payment, policy, v, out)

    def close(self, layer: int, payment: Payment, choices: RowChoices, v: np.ndarray, out: np.ndarray) -> np.ndarray:
        """See `Backups.close`."""
        chunks = self._chunks(layer)
        statistics = np.zeros((len(chunks) - 1, 3))
        arrays = (*self._settings(payment), v, choices.q, out, choices.row.view(np.uint64), statistics)
        for_each(_bellman.back_up_rows, len(chunks) - 1, chunks, *arrays, alone=self._is_small(layer))
        return np.append(statistics[:, 0].max(initial=0), statistics[:, 1:].sum(axis=0))

    def is_independent(self, layer: int) -> bool:
        """See `Backups.is_independent`: True if a layer's successors all precede it or all follow it."""
        mdp = self._mdp
        low, high = mdp._successors[layer]
        return bool(high < mdp.layer_ptr[layer] or low >= mdp.layer_ptr[layer + 1])

    def _back_up(self, layer: int, kernel: Callable[..., None], payment: Payment, *arrays: np.ndarray) -> float:
        chunks = self._chunks(layer)
        residual = np.zeros(len(chunks) - 1)
        args = chunks, *self._settings(payment), *arrays, residual
        for_each(kernel, len(chunks) - 1, *args, alone=self._is_small(layer))
        return float(residual.max(initial=0))

    def _chunks(self, layer: int) -> np.ndarray:
        return self._mdp._chunks[layer].view(np.uint64)

    def _is_small(self, layer: int) -> bool:
        """Return True if one thread sweeps the layer faster than other threads could start."""
        mdp, (first, last) = self._mdp, self._mdp.layer_ptr[layer : layer + 2]
        nnz = mdp.indptr[mdp.state_ptr[last]] - mdp.indptr[mdp.state_ptr[first]]
        return bool(nnz + _STATE_WORK * (last - first) < _LEAST_WORK)

    def _settings(self, payment: Payment) -> tuple[Any, ...]:
        return tensor_of(self._mdp, payment.reward), self._data_ptr, payment.discount

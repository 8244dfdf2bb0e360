"""A process that can be swept: its sizes, and backups of the states of a layer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from punish_fast.mdp import _bellman
from punish_fast.mdp.bounds import _attainment
from punish_fast.runtime.parallel import for_each

if TYPE_CHECKING:
    from punish_fast.mdp.model import MDP

# A sweep of less work, in entries, takes less time than handing it out to threads (0.1 ms); a state counts as ten.
_LEAST_WORK, _STATE_WORK = 100_000, 10


class Payment(NamedTuple):
    """What a backup pays besides the values of successors.

    Attributes:
        reward: float64 ``[n_rows]``, of each row.
        discount: The factor of the successors' values.
    """

    reward: np.ndarray
    discount: float


class RowChoices(NamedTuple):
    """What `Backups.close` updates besides the values of states.

    Attributes:
        q: float64 ``[n_rows]``, values of rows.
        row: int64 ``[n_states]``, the first best row of each state.
    """

    q: np.ndarray
    row: np.ndarray


class Backups(Protocol):
    """How the states of a layer are backed up from values ``v``, float64 ``[n_columns]``, into ``out``, a copy of them.

    ``out`` may be ``v`` itself if no state of the layer leads to another one of it.
    """

    def sweep(self, layer: int, payment: Payment, v: np.ndarray, out: np.ndarray) -> float:
        """Take the best row of each state; return the largest change."""

    def evaluate(self, layer: int, payment: Payment, weight: np.ndarray, v: np.ndarray, out: np.ndarray) -> float:
        """Take row ``r`` with probability ``weight[r]``; return the largest change."""

    def close(self, layer: int, payment: Payment, choices: RowChoices, v: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Take the best row, and update values of rows and choices.

        Returns:
            float64 ``[3]``, the largest change, the sum of the squared changes of ``q``, and the number of states whose
            choice changed.
        """


class NonzeroCount(NamedTuple):
    """How many successors rows have.

    Attributes:
        total: Of all rows.
        longest: Of the row that has most.
    """

    total: int
    longest: int


class Process(ABC):
    """A process that can be swept, with stored or computed transitions; for arrays see `punish_fast.mdp.model.MDP`."""

    state_ptr: np.ndarray
    reward: np.ndarray
    terminal_reward: np.ndarray
    layer_ptr: np.ndarray
    action: np.ndarray

    @property
    def n_states(self) -> int:
        """States, without terminals."""
        return len(self.state_ptr) - 1

    @property
    def n_rows(self) -> int:
        """State-action pairs."""
        return len(self.action)

    @property
    def n_columns(self) -> int:
        """States and terminals."""
        return self.n_states + len(self.terminal_reward)

    @property
    def n_layers(self) -> int:
        """Layers."""
        return len(self.layer_ptr) - 1

    @property
    def longest_row(self) -> int:
        """Entries of the longest row."""
        return int(self.longest_rows.max(initial=0))

    @property
    @abstractmethod
    def longest_rows(self) -> np.ndarray:
        """int64 ``[n_layers]``, entries of the longest row of each layer."""

    @property
    @abstractmethod
    def is_cycle(self) -> bool:
        """Whether every layer leads only to the next one, and the last only to the first."""

    @property
    @abstractmethod
    def backups(self) -> Backups:
        """How its states are backed up."""

    @abstractmethod
    def is_independent(self, layer: int) -> bool:
        """Whether the states of a layer can be updated in place: none leads to another of them."""

    @abstractmethod
    def nonzeros(self) -> NonzeroCount:
        """How many successors rows have."""


def tensor_of(mdp: MDP, reward: np.ndarray | None = None) -> _bellman.Tensor:
    """The arrays of a process for kernels, with rewards float64 ``[n_rows]``; its own if None."""
    pointers = mdp.state_ptr.view(np.uint64), mdp.indptr.view(np.uint64)
    return _bellman.Tensor(*pointers, mdp.indices.view(np.uint32), mdp.data, mdp.reward if reward is None else reward)


class StoredBackups:
    """Backups of a process whose transitions are stored."""

    def __init__(self, mdp: MDP) -> None:
        self._mdp = mdp
        self._data_ptr = None if mdp.data_ptr is None else mdp.data_ptr.view(np.uint64)

    def sweep(self, layer: int, payment: Payment, v: np.ndarray, out: np.ndarray) -> float:
        """Take the best row of each state; return the largest change."""
        return self._back_up(layer, _bellman.sweep, payment, v, out)

    def evaluate(self, layer: int, payment: Payment, weight: np.ndarray, v: np.ndarray, out: np.ndarray) -> float:
        """Take row ``r`` with probability ``weight[r]``; return the largest change."""
        return self._back_up(layer, _bellman.evaluate_policy, payment, weight, v, out)

    def close(self, layer: int, payment: Payment, choices: RowChoices, v: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Take the best row, and update values of rows and choices; see `Backups.close`."""
        chunks = self._chunks(layer)
        statistics = np.zeros((len(chunks) - 1, 3))
        arrays = (*self._settings(payment), v, choices.q, out, choices.row.view(np.uint64), statistics)
        for_each(_bellman.back_up_rows, len(chunks) - 1, chunks, *arrays, alone=self._is_small(layer))
        return np.append(statistics[:, 0].max(initial=0), statistics[:, 1:].sum(axis=0))

    def follow(self, layer: int, reward: np.ndarray, choice: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
        """Take row ``choice[s]`` (int64 ``[n_states]``) in state ``s``, without a discount."""
        chunks, (tensor, data_ptr, _) = self._chunks(layer), self._settings(Payment(reward, 1.0))
        args = chunks, tensor, data_ptr, choice.view(np.uint64), v, out
        for_each(_attainment.follow_choice, len(chunks) - 1, *args, alone=self._is_small(layer))

    def _back_up(self, layer: int, kernel: Callable[..., None], payment: Payment, *arrays: np.ndarray) -> float:
        chunks = self._chunks(layer)
        residual = np.zeros(len(chunks) - 1)
        args = chunks, *self._settings(payment), *arrays, residual
        for_each(kernel, len(chunks) - 1, *args, alone=self._is_small(layer))
        return float(residual.max(initial=0))

    def _chunks(self, layer: int) -> np.ndarray:
        return self._mdp.chunks(layer).view(np.uint64)

    def _is_small(self, layer: int) -> bool:
        """Return True if one thread sweeps the layer in less time than it takes to start others."""
        mdp, (first, last) = self._mdp, self._mdp.layer_ptr[layer : layer + 2]
        n_entries = mdp.indptr[mdp.state_ptr[last]] - mdp.indptr[mdp.state_ptr[first]]
        return bool(n_entries + _STATE_WORK * (last - first) < _LEAST_WORK)

    def _settings(self, payment: Payment) -> tuple[Any, ...]:
        return tensor_of(self._mdp, payment.reward), self._data_ptr, payment.discount

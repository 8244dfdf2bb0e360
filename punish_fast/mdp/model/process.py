"""Interface of the processes that solvers sweep over: their sizes, and backups of each layer."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Protocol

import numpy as np

from punish_fast.mdp.arrays.names import UNNAMED, Names

UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2
# Upper bound on the error of a product that underflows.
SMALLEST = float(np.finfo(np.float64).smallest_subnormal)
# Roundings of a backup in addition to one per entry, including roundings of stored probabilities.
FURTHER_TERMS = 8


class Payment(NamedTuple):
    """Immediate rewards and discount of a backup."""

    reward: np.ndarray  # float64 [n_rows]
    discount: float


class RowChoices(NamedTuple):
    """Row values and choices that `Backups.close` updates."""

    q: np.ndarray  # float64 [n_rows], row values
    row: np.ndarray  # int64 [n_states], first row of each state with the largest value


class Backups(Protocol):
    """Backups of a layer's states from values ``v``, float64 ``[n_columns]``, into ``out``.

    On entry, ``out`` must be equal to ``v``. It may be ``v`` itself if no state of the layer leads to that layer.
    """

    def sweep(self, layer: int, payment: Payment, v: np.ndarray, out: np.ndarray, policy: Any = None) -> float:
        """Back up each state with its best row, and return the largest absolute change.

        If ``policy``, float64 ``[n_rows]``, is given, take row ``r`` with probability ``policy[r]``.
        """

    def close(self, layer: int, payment: Payment, choices: RowChoices, v: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Back up each state with its best row, and update row values and choices.

        Return the largest absolute change, the sum of squared changes of ``q``, and the number of changed choices.
        """

    def is_independent(self, layer: int) -> bool:
        """Return True only if no state of a layer leads to that layer, so the layer can be updated in place."""


class NonzeroCount(NamedTuple):
    """Numbers of successors with nonzero probability (see `MDP.count_nonzero`).

    Attributes:
        total: Number of successors in all rows.
        longest: Number of successors in the row with the most successors.
    """

    total: int
    longest: int


class Process(ABC):
    """Markov decision process with stored or computed transitions. `MDP` describes its arrays."""

    state_ptr: np.ndarray
    reward: np.ndarray
    terminal_reward: np.ndarray
    terminal_value: np.ndarray | None = None
    layer_ptr: np.ndarray
    action: np.ndarray
    names: Names = UNNAMED
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
        """Count the successors in all rows and in the longest row."""

"""The decision process of a game without its transitions: rows are made again in each sweep, and thrown away.

The transitions of a game take some hundred bytes a state, its values eight. So a large game is solved *matrix-free*: a
thread makes the rows of a few blocks, backs up their states, and uses the same memory for the next blocks. Left are the
state index (`StateSpace`), the rewards and values of rows, and a *batch* of rows for each thread.

The rows are those of a compact tensor, made by the same kernels (``row_builder.py``) and backed up by the same kernels
(``punish_fast/mdp/_bellman.py``) in the same order. So all values have the same bits, wherever rows are made.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from punish_fast.mdp.process import Backups, NonzeroCount, Payment, RowChoices
from punish_fast.punish.states.space import Progress
from punish_fast.punish.transitions import row_backups
from punish_fast.punish.transitions.row_batches import RowBatches
from punish_fast.punish.transitions.row_builder import MadeRows
from punish_fast.punish.transitions.tensor import TERMINAL_REWARD


class RowBackups(Backups, Protocol):
    """Backups of states whose rows are made for them."""

    def find_rewards(self, layer: int, reward: np.ndarray) -> NonzeroCount:
        """Write the rewards of the rows of a layer, float64 ``[n_rows]``; return how many successors these have."""


class MatrixFree:
    """A process that makes its transitions when they are needed.

    It has the attributes of `punish_fast.mdp.model.MDP` that solvers use, except for the transitions.

    Attributes:
        batches: The rows of the game.
        state_ptr: int64 ``[n_states + 1]``, where the rows of each state begin.
        reward: float64 ``[n_rows]``, expected immediate rewards.
        terminal_reward: float64 ``[2]``, those of win and loss at every step.
        layer_ptr: int64 ``[n_layers + 1]``, where the states of each layer begin.
        action: uint8 ``[n_rows]``, the two-digit codes of the actions.
        backups: How its states are backed up.
    """

    # Every layer leads only to the next one, and the last to the first.
    is_cycle = True

    def __init__(
        self, batches: RowBatches, progress: Progress | None = None, backups: RowBackups | None = None
    ) -> None:
        """Find the rewards, which takes as long as a sweep.

        Args:
            batches: The rows of the game.
            backups: How its states are backed up; by the threads of this process if None.
            progress: Called as ``progress("rewards", done, layers)`` when those of a layer are found.
        """
        space = batches.space
        self.batches = batches
        self.state_ptr, self.action, self.layer_ptr = space.state_ptr, space.action, space.layer_ptr
        self.terminal_reward = TERMINAL_REWARD.copy()
        self.reward = np.zeros(len(self.action))
        self.backups: RowBackups = backups or MadeBackups(batches)
        counts = []
        for layer in range(self.n_layers):
            counts.append(self.backups.find_rewards(layer, self.reward))
            if progress is not None:
                progress("rewards", layer + 1, self.n_layers)
        self._nonzeros = row_backups.total(counts)

    def __repr__(self) -> str:
        sizes = f"{self.n_states:,} states, {self.n_rows:,} rows, {self.n_entries:,} entries, {self.n_layers} layers"
        return f"MatrixFree({sizes})"

    @property
    def n_entries(self) -> int:
        """Entries of all rows, those that the enemy makes impossible included."""
        return self.batches.n_entries

    @property
    def longest_rows(self) -> np.ndarray:
        """int64 ``[n_layers]``, entries of the longest row of each layer."""
        return self.batches.longest_rows

    @property
    def n_states(self) -> int:
        """States, without terminals."""
        return len(self.state_ptr) - 1

    @property
    def n_rows(self) -> int:
        """State-action pairs."""
        return len(self.action)

    @property
    def n_layers(self) -> int:
        """Layers."""
        return len(self.layer_ptr) - 1

    @property
    def n_columns(self) -> int:
        """States and terminals."""
        return self.n_states + len(self.terminal_reward)

    @property
    def longest_row(self) -> int:
        """Entries of the longest row."""
        return int(self.longest_rows.max(initial=0))

    def nonzeros(self) -> NonzeroCount:
        """How many successors rows have."""
        return self._nonzeros

    def is_independent(self, _layer: int) -> bool:
        """That the states of a layer can be updated in place: none leads to another of them."""
        return True


class MadeBackups:
    """Backups by the threads of this process."""

    def __init__(self, batches: RowBatches) -> None:
        self._batches = batches

    def find_rewards(self, layer: int, reward: np.ndarray) -> NonzeroCount:
        """Write the rewards of the rows of a layer, float64 ``[n_rows]``; return how many successors these have."""
        counts: list[NonzeroCount] = []

        def work(_batch: int, made: MadeRows) -> None:
            reward[made.rows] = made.tensor.reward
            counts.append(row_backups.possible_entries(made))

        self._batches.for_rows(layer, work)
        return row_backups.total(counts)

    def sweep(self, layer: int, payment: Payment, v: np.ndarray, out: np.ndarray) -> float:
        """Take the best row of each state; return the largest change."""
        residual: list[float] = []

        def work(_batch: int, made: MadeRows) -> None:
            residual.append(row_backups.sweep(made, _local(payment, made), v, out[made.states]))

        self._batches.for_rows(layer, work)
        return max(residual, default=0.0)

    def evaluate(self, layer: int, payment: Payment, weight: np.ndarray, v: np.ndarray, out: np.ndarray) -> float:
        """Take row ``r`` with probability ``weight[r]``; return the largest change."""
        residual: list[float] = []

        def work(_batch: int, made: MadeRows) -> None:
            local = _local(payment, made)
            residual.append(row_backups.evaluate(made, local, weight[made.rows], v, out[made.states]))

        self._batches.for_rows(layer, work)
        return max(residual, default=0.0)

    def close(self, layer: int, payment: Payment, choices: RowChoices, v: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Take the best row, and update values of rows and choices; see `punish_fast.mdp.process.Backups.close`."""
        found: dict[int, np.ndarray] = {}

        def work(batch: int, made: MadeRows) -> None:
            own = RowChoices(choices.q[made.rows], choices.row[made.states])
            found[batch] = row_backups.close(made, _local(payment, made), own, v, out[made.states])

        n_batches = self._batches.for_rows(layer, work)
        return row_backups.total_change([found[batch] for batch in range(n_batches)])


def _local(payment: Payment, made: MadeRows) -> Payment:
    """What the given rows pay."""
    return Payment(payment.reward[made.rows], payment.discount)

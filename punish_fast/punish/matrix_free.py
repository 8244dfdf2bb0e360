"""The decision process of a game without its transitions: rows are made again in each sweep, and thrown away.

The transitions of a game take some hundred bytes a state, its values eight. So a large game is solved *matrix-free*: a
thread makes the rows of a few blocks, backs up their states, and uses the same memory for the next blocks. Left are the
state index (`StateSpace`), the rewards and values of rows, and a *batch* of rows for each thread.

The rows are those of a compact tensor, made by the same kernels (``row_builder.py``) and backed up by the same kernels
(``punish_fast/mdp/_bellman.py``) in the same order. So all values have the same bits.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from punish_fast.mdp import _bellman
from punish_fast.mdp.process import NonzeroCount, Payment, RowChoices
from punish_fast.punish._tensor import TensorRows
from punish_fast.punish.row_batches import RowBatches
from punish_fast.punish.space import Progress
from punish_fast.punish.tensor import TERMINAL_REWARD

_ONE_CHUNK = (0, 1)


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
    """

    # Every layer leads only to the next one, and the last to the first.
    is_cycle = True

    def __init__(self, batches: RowBatches, progress: Progress | None = None) -> None:
        """Find the rewards, which takes as long as a sweep.

        Args:
            batches: The rows of the game.
            progress: Called as ``progress("rewards", done, layers)`` when those of a layer are found.
        """
        space = batches.space
        self.batches = batches
        self.state_ptr, self.action, self.layer_ptr = space.state_ptr, space.action, space.layer_ptr
        self.terminal_reward = TERMINAL_REWARD.copy()
        self.reward = np.zeros(len(self.action))
        self._nonzeros = NonzeroCount(0, 0)
        for layer in range(self.n_layers):
            self._find_rewards(layer)
            if progress is not None:
                progress("rewards", layer + 1, self.n_layers)

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

    @cached_property
    def backups(self) -> MadeBackups:
        """How its states are backed up."""
        return MadeBackups(self)

    def nonzeros(self) -> NonzeroCount:
        """How many successors rows have."""
        return self._nonzeros

    def is_independent(self, _layer: int) -> bool:
        """That the states of a layer can be updated in place: none leads to another of them."""
        return True

    def _find_rewards(self, layer: int) -> None:
        """Write the rewards of the rows of a layer, and count the entries that are possible."""
        counts: list[NonzeroCount] = [self._nonzeros]

        def keep(_batch: int, _states: slice, rows: slice, made: TensorRows) -> None:
            # Between two measures nothing is paid.
            self.reward[rows] = made.reward if layer < self.n_layers - 1 else 0.0
            length = np.diff(made.indptr)
            if not made.data.all():
                _bellman.count_shared(0, len(length), made.indptr, made.data_ptr, made.data, length)
            counts.append(NonzeroCount(int(length.sum()), int(length.max(initial=0))))

        self.batches.for_rows(layer, keep)
        self._nonzeros = NonzeroCount(sum(count.total for count in counts), max(count.longest for count in counts))


class MadeBackups:
    """Backups of a process that makes its transitions."""

    def __init__(self, process: MatrixFree) -> None:
        self._process = process

    def sweep(self, layer: int, payment: Payment, v: np.ndarray, out: np.ndarray) -> float:
        """Take the best row of each state; return the largest change."""
        residual: list[float] = []

        def work(_batch: int, states: slice, rows: slice, made: TensorRows) -> None:
            change = np.zeros(1)
            _bellman.sweep(*_ONE_CHUNK, *self._settings(states, rows, made, payment), v, out[states], change)
            residual.append(float(change[0]))

        self._process.batches.for_rows(layer, work)
        return max(residual, default=0.0)

    def evaluate(self, layer: int, payment: Payment, weight: np.ndarray, v: np.ndarray, out: np.ndarray) -> float:
        """Take row ``r`` with probability ``weight[r]``; return the largest change."""
        residual: list[float] = []

        def work(_batch: int, states: slice, rows: slice, made: TensorRows) -> None:
            change = np.zeros(1)
            settings = self._settings(states, rows, made, payment)
            _bellman.evaluate_policy(*_ONE_CHUNK, *settings, weight[rows], v, out[states], change)
            residual.append(float(change[0]))

        self._process.batches.for_rows(layer, work)
        return max(residual, default=0.0)

    def close(self, layer: int, payment: Payment, choices: RowChoices, v: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Take the best row, and update values of rows and choices; see `punish_fast.mdp.process.Backups.close`."""
        found: dict[int, np.ndarray] = {}

        def work(batch: int, states: slice, rows: slice, made: TensorRows) -> None:
            statistics = np.zeros((1, 3))
            choice = (choices.row[states] - rows.start).view(np.uint64)
            settings = self._settings(states, rows, made, payment)
            arrays = (v, choices.q[rows], out[states], choice, statistics)
            _bellman.back_up_rows(*_ONE_CHUNK, *settings, *arrays)
            choices.row[states] = choice.view(np.int64) + rows.start
            found[batch] = statistics[0]

        # Sums in the order of batches, so that they have the same bits for any number of threads.
        parts = np.array([found[batch] for batch in range(self._process.batches.for_rows(layer, work))]).reshape(-1, 3)
        return np.append(parts[:, 0].max(initial=0), parts[:, 1:].sum(axis=0))

    def _settings(self, states: slice, rows: slice, made: TensorRows, payment: Payment) -> tuple[Any, ...]:
        """What the kernels take of a batch, as one chunk of states."""
        chunk = np.array([0, states.stop - states.start], dtype=np.uint64)
        state_ptr = (self._process.state_ptr[states.start : states.stop + 1] - rows.start).view(np.uint64)
        indptr, indices = made.indptr.view(np.uint64), made.indices.view(np.uint32)
        tensor = _bellman.Tensor(state_ptr, indptr, indices, made.data, payment.reward[rows])
        return chunk, tensor, made.data_ptr.view(np.uint64), payment.discount

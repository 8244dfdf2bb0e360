"""The decision process of a game without its transitions: rows are made again in each sweep, and thrown away.

The transitions of a game take some hundred bytes a state, its values eight. So a large game is solved *matrix-free*: a
thread makes the rows of a few blocks, backs up their states, and uses the same memory for the next blocks. Left are the
state index (`StateSpace`), the rewards and values of rows, and a *batch* of rows for each thread.

The rows are those of a compact tensor, made by the same kernels (``row_builder.py``) and backed up by the same kernels
(``punish_fast/mdp/_bellman.py``) in the same order. So all values have the same bits, wherever rows are made.
"""

from __future__ import annotations

import numpy as np

from punish_fast.mdp.process import NonzeroCount, Process
from punish_fast.punish.states.space import Progress
from punish_fast.punish.transitions.row_backups import BlockExecutor, RowBackups, ThreadBlocks, total
from punish_fast.punish.transitions.row_batches import RowBatches
from punish_fast.punish.transitions.tensor import TERMINAL_REWARD


class MatrixFree(Process):
    """A process that makes its transitions when they are needed.

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

    def __init__(
        self, batches: RowBatches, progress: Progress | None = None, executor: BlockExecutor | None = None
    ) -> None:
        """Find the rewards, which takes as long as a sweep.

        Args:
            batches: The rows of the game.
            progress: Called as ``progress("rewards", done, layers)`` when those of a layer are found.
            executor: Makes the rows and backs up their states; the threads of this process if None.
        """
        space = batches.space
        self.batches = batches
        self.state_ptr, self.action, self.layer_ptr = space.state_ptr, space.action, space.layer_ptr
        self.terminal_reward = TERMINAL_REWARD.copy()
        self.reward = np.zeros(len(self.action))
        self._backups = RowBackups(executor or ThreadBlocks(batches))
        counts = []
        for layer in range(self.n_layers):
            counts.append(self._backups.find_rewards(layer, self.reward))
            if progress is not None:
                progress("rewards", layer + 1, self.n_layers)
        self._nonzeros = total(counts)

    def __repr__(self) -> str:
        sizes = f"{self.n_states:,} states, {self.n_rows:,} rows, {self.n_entries:,} entries, {self.n_layers} layers"
        return f"MatrixFree({sizes})"

    @property
    def backups(self) -> RowBackups:
        """How its states are backed up."""
        return self._backups

    @property
    def n_entries(self) -> int:
        """Entries of all rows, those that the enemy makes impossible included."""
        return self.batches.n_entries

    @property
    def longest_rows(self) -> np.ndarray:
        """int64 ``[n_layers]``, entries of the longest row of each layer."""
        return self.batches.longest_rows

    def nonzeros(self) -> NonzeroCount:
        """How many successors rows have."""
        return self._nonzeros

    def is_independent(self, layer: int) -> bool:  # noqa: ARG002 - no layer leads to itself
        """Return True."""
        return True

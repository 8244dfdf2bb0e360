"""Decision process of a game without stored transitions. Each sweep recomputes and discards rows.

The transitions of a game take hundreds of bytes per state, but its values take only eight. Therefore, large games are
solved *matrix-free*: a thread computes the rows of a few blocks, backs up the states, and frees the memory before the
next blocks. Only the state index (`StateSpace`), the values of states, the rewards and values of rows, and one *batch*
of rows per thread are stored.

Rows are computed (``row_batches.py``) and backed up (``mdp/model/_bellman.py``) by the same kernels and in the same
order as in a compact tensor, so values are bitwise identical in all modes.
"""

from __future__ import annotations

import numpy as np

from punish_fast.mdp.model.process import NonzeroCount, Payment, Process, RowChoices
from punish_fast.punish.states.space import Progress, StateSpace
from punish_fast.punish.transitions import memory_plan
from punish_fast.punish.transitions.row_batches import Executor, RowArrays, RowBatches, combined
from punish_fast.punish.transitions.tensor import TERMINAL_REWARD, build_compact


class MatrixFree(Process):
    """Process that computes its transitions on demand."""

    # Each layer leads only to the next layer (the last layer to the first), or to a win or a loss.
    is_cycle = True
    rows_pay_ends = True

    def __init__(self, batches: RowBatches, progress: Progress | None = None, executor: Executor | None = None) -> None:
        """Compute the rewards in about the time of a sweep. By default, ``executor`` uses local threads."""
        space = batches.space
        self.batches = batches
        self.state_ptr, self.action, self.layer_ptr = space.state_ptr, space.action, space.layer_ptr
        self.terminal_reward = TERMINAL_REWARD.copy()
        self.reward = np.zeros(len(self.action))
        self._executor = executor or batches.back_up_layer
        statistics = []
        for layer in range(self.n_layers):
            statistics.append(self._back_up(layer, RowArrays(reward=self.reward)))
            if progress is not None:
                progress("rewards", layer + 1, self.n_layers)
        longest, total, _ = combined(statistics)
        self._nonzero_count = NonzeroCount(int(total), int(longest))

    def __repr__(self) -> str:
        sizes = f"{self.n_states:,} states, {self.n_rows:,} rows, {self.nnz:,} entries, {self.n_layers} layers"
        return f"MatrixFree({sizes})"

    @property
    def backups(self) -> MatrixFree:
        """The process itself, which implements `punish_fast.mdp.model.process.Backups`."""
        return self

    @property
    def nnz(self) -> int:
        """Total number of entries, including entries with probability 0."""
        return self.batches.nnz

    @property
    def longest_rows(self) -> np.ndarray:
        """Number of entries in the longest row of each layer, int64 ``[n_layers]``."""
        return self.batches.longest_rows

    def count_nonzero(self) -> NonzeroCount:
        """Return the number of entries with positive probability: the total, and the maximum over all rows."""
        return self._nonzero_count

    def is_independent(self, layer: int) -> bool:  # noqa: ARG002 - no layer leads to itself
        """Return True, because no layer leads to itself."""
        return True

    def sweep(
        self, layer: int, payment: Payment, v: np.ndarray, out: np.ndarray, policy: np.ndarray | None = None
    ) -> float:
        """Back up each state with its best row or by a policy, and return the largest change (see `Backups.sweep`)."""
        return float(self._back_up(layer, RowArrays(payment.discount, v, payment.reward, policy, values=out))[0])

    def close(self, layer: int, payment: Payment, choices: RowChoices, v: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Back up each state with its best row, and update ``choices`` (see `Backups.close`)."""
        arrays = RowArrays(payment.discount, v, payment.reward, q=choices.q, choice=choices.row, values=out)
        return self._back_up(layer, arrays)

    def _back_up(self, layer: int, arrays: RowArrays) -> np.ndarray:
        return combined(self._executor(layer, arrays))


def fitting_process(
    space: StateSpace,
    policy: np.ndarray | None = None,
    progress: Progress | None = None,
    memory_limit: int | None = None,
) -> Process:
    """Build the process of `tensor.build_compact`, in the fastest mode that fits into memory.

    ``memory_limit`` is in bytes. By default, it is the memory of the machine or container. Raise `MemoryError` if no
    mode fits.
    """
    batches = RowBatches(space, policy, progress)
    plans = memory_plan.plan_memory(batches)
    modes = (memory_plan.COMPACT, memory_plan.MATRIX_FREE)
    if memory_plan.choose_mode(plans, modes, memory_plan.memory_limit(memory_limit)) == memory_plan.MATRIX_FREE:
        return MatrixFree(batches, progress)
    return build_compact(space, policy, progress)

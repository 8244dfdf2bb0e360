"""Backups of states right after their rows were made, block by block.

Each kind of backup is a function of the rows of some blocks and of the arrays of these states and rows. An executor
calls it for all batches of a layer: threads of this process write into the arrays themselves, workers of a cluster send
new values back (``cluster_blocks.py``). Sums are taken over batches in their order, so no bit depends on the executor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from punish_fast.mdp import _bellman
from punish_fast.mdp.process import NonzeroCount, Payment, RowChoices
from punish_fast.punish.transitions.row_batches import RowBatches
from punish_fast.punish.transitions.row_builder import MadeRows

_ONE_CHUNK = (0, 1)
# Fields of `RowArrays` with an entry for each state, and for each row.
_OF_STATES, _OF_ROWS = ("values", "choice"), ("reward", "weight", "q")


class RowArrays(NamedTuple):
    """Arrays of some states and their rows; None if a backup does not need them."""

    discount: float = 1.0  # the factor of the successors' values
    v: np.ndarray | None = None  # float64 ``[n_columns]``, values of all columns, of which the successors' are read
    reward: np.ndarray | None = None  # float64 ``[n_rows]``; the game's own rewards if None
    weight: np.ndarray | None = None  # float64 ``[n_rows]``, probability of each row in its state
    q: np.ndarray | None = None  # float64 ``[n_rows]``, values of rows; updated
    choice: np.ndarray | None = None  # int64 ``[n_states]``, the best row of each state; updated
    values: np.ndarray | None = None  # float64 ``[n_states]``, values of states; updated

    def part(self, states: slice, rows: slice) -> RowArrays:
        """Views of the arrays of some of the states and rows."""
        places = dict.fromkeys(_OF_STATES, states) | dict.fromkeys(_OF_ROWS, rows)
        arrays = ((name, getattr(self, name)) for name in places)
        return self._replace(**{name: array[places[name]] for name, array in arrays if array is not None})


Work = Callable[[MadeRows, RowArrays], Any]


class BlockExecutor(Protocol):
    """Calls functions for all batches of a layer."""

    def map_blocks(self, work: Work, layer: int, arrays: RowArrays) -> list[Any]:
        """Return the results of ``work`` for each batch, in order, and update ``arrays`` of all states and rows."""


def find_rewards(made: MadeRows, arrays: RowArrays) -> NonzeroCount:
    """Write the rewards of the rows; count the entries that the enemy does not make impossible."""
    tensor = made.tensor
    if arrays.reward is not None:
        arrays.reward[:] = tensor.reward
    length = np.diff(tensor.indptr)
    if not tensor.data.all():
        _bellman.count_shared(0, len(length), tensor.indptr, tensor.data_ptr, tensor.data, length)
    return NonzeroCount(int(length.sum()), int(length.max(initial=0)))


def sweep(made: MadeRows, arrays: RowArrays) -> np.ndarray:
    """Take the best row of each state; return float64 ``[3]`` with the largest change first."""
    statistics = np.zeros(3)
    _bellman.sweep(*_ONE_CHUNK, *_settings(made, arrays), arrays.v, arrays.values, statistics)
    return statistics


def evaluate(made: MadeRows, arrays: RowArrays) -> np.ndarray:
    """Take each row with its weight; return float64 ``[3]`` with the largest change first."""
    statistics = np.zeros(3)
    _bellman.evaluate_policy(*_ONE_CHUNK, *_settings(made, arrays), arrays.weight, arrays.v, arrays.values, statistics)
    return statistics


def close(made: MadeRows, arrays: RowArrays) -> np.ndarray:
    """Take the best row, and update values of rows and choices; see `punish_fast.mdp.process.Backups.close`."""
    assert arrays.choice is not None
    statistics = np.zeros((1, 3))
    choice = (arrays.choice - made.rows.start).view(np.uint64)
    settings = _settings(made, arrays)
    _bellman.back_up_rows(*_ONE_CHUNK, *settings, arrays.v, arrays.q, arrays.values, choice, statistics)
    arrays.choice[:] = choice.view(np.int64) + made.rows.start
    return np.ravel(statistics)


def total(counts: Sequence[NonzeroCount]) -> NonzeroCount:
    """The number of entries of all parts."""
    return NonzeroCount(sum(count.total for count in counts), max((count.longest for count in counts), default=0))


def total_change(parts: Sequence[np.ndarray]) -> np.ndarray:
    """The largest change of all parts, and sums in their order, so that sums do not depend on the executor."""
    table = np.array(parts).reshape(-1, 3)
    return np.append(table[:, 0].max(initial=0), table[:, 1:].sum(axis=0))


def _settings(made: MadeRows, arrays: RowArrays) -> tuple[Any, ...]:
    """Arguments of the kernels, for one chunk of states."""
    states, rows, tensor = made
    chunk = np.array([0, states.stop - states.start], dtype=np.uint64)
    state_ptr = (tensor.state_ptr[states.start : states.stop + 1] - rows.start).view(np.uint64)
    indptr, indices = tensor.indptr.view(np.uint64), tensor.indices.view(np.uint32)
    reward = tensor.reward if arrays.reward is None else arrays.reward
    transitions = _bellman.Tensor(state_ptr, indptr, indices, tensor.data, reward)
    return chunk, transitions, tensor.data_ptr.view(np.uint64), arrays.discount


class ThreadBlocks:
    """The threads of this process."""

    def __init__(self, batches: RowBatches) -> None:
        self._batches = batches

    def map_blocks(self, work: Work, layer: int, arrays: RowArrays) -> list[Any]:
        """See `BlockExecutor`."""
        found: dict[int, Any] = {}

        def do(batch: int, made: MadeRows) -> None:
            found[batch] = work(made, arrays.part(made.states, made.rows))

        return [found[batch] for batch in range(self._batches.for_rows(layer, do))]


class RowBackups:
    """Backups of states whose rows are made for them; see `punish_fast.mdp.process.Backups`."""

    def __init__(self, executor: BlockExecutor) -> None:
        self._executor = executor

    def find_rewards(self, layer: int, reward: np.ndarray) -> NonzeroCount:
        """Write the rewards of the rows of a layer, float64 ``[n_rows]``; return how many successors these have."""
        return total(self._executor.map_blocks(find_rewards, layer, RowArrays(reward=reward)))

    def sweep(self, layer: int, payment: Payment, v: np.ndarray, out: np.ndarray) -> float:
        """Take the best row of each state; return the largest change."""
        return float(self._change(sweep, layer, payment, v, out)[0])

    def evaluate(self, layer: int, payment: Payment, weight: np.ndarray, v: np.ndarray, out: np.ndarray) -> float:
        """Take row ``r`` with probability ``weight[r]``; return the largest change."""
        return float(self._change(evaluate, layer, payment, v, out, weight=weight)[0])

    def close(self, layer: int, payment: Payment, choices: RowChoices, v: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Take the best row, and update values of rows and choices."""
        return self._change(close, layer, payment, v, out, q=choices.q, choice=choices.row)

    def _change(
        self, work: Work, layer: int, payment: Payment, v: np.ndarray, out: np.ndarray, **arrays: np.ndarray
    ) -> np.ndarray:
        given = RowArrays(payment.discount, v, payment.reward, values=out, **arrays)
        return total_change(self._executor.map_blocks(work, layer, given))

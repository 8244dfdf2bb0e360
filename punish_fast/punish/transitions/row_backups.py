"""Backups of states as soon as their rows are made, block by block.

Each kind of backup is a function (`Work`) of the rows of some blocks and of the arrays of these states and rows. An
executor calls the function for all batches of a layer: local threads write to the arrays directly
(``row_batches.py``), whereas workers of a cluster return new values (``cluster_blocks.py``). Results are summed in the
order of the batches, so sums do not depend on the executor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from punish_fast.mdp import _bellman
from punish_fast.mdp.process import NonzeroCount
from punish_fast.punish.transitions.row_builder import MadeRows

_ONE_CHUNK = (0, 1)
# Fields of `RowArrays` with one element per state, and with one element per row.
_OF_STATES, _OF_ROWS = ("values", "choice"), ("reward", "weight", "q")


class RowArrays(NamedTuple):
    """Arrays of some states and their rows; None if a backup does not need them."""

    discount: float = 1.0  # factor by which successors' values are multiplied
    v: np.ndarray | None = None  # float64 [n_columns], values of all columns, read for successors only
    reward: np.ndarray | None = None  # float64 [n_rows]; the game's own rewards if None
    weight: np.ndarray | None = None  # float64 [n_rows], probability of each row in its state
    q: np.ndarray | None = None  # float64 [n_rows], values of rows; updated
    choice: np.ndarray | None = None  # int64 [n_states], best row of each state; updated
    values: np.ndarray | None = None  # float64 [n_states], values of states; updated

    def part(self, states: slice, rows: slice) -> RowArrays:
        """Return views of the arrays of some of the states and rows."""
        places = dict.fromkeys(_OF_STATES, states) | dict.fromkeys(_OF_ROWS, rows)
        arrays = ((name, getattr(self, name)) for name in places)
        return self._replace(**{name: array[places[name]] for name, array in arrays if array is not None})


# A backup of the states of a batch.
Work = Callable[[MadeRows, RowArrays], Any]


# Calls a function for each batch of a layer and returns the results in order. The function gets the batch's part of the
# arrays, which it may update.
Executor = Callable[[Work, int, RowArrays], list[Any]]


def find_rewards(made: MadeRows, arrays: RowArrays) -> NonzeroCount:
    """Write the rewards of the rows and count the entries with positive probability."""
    tensor = made.tensor
    if arrays.reward is not None:
        arrays.reward[:] = tensor.reward
    length = np.diff(tensor.indptr)
    if not tensor.data.all():
        _bellman.count_shared(0, len(length), tensor.indptr, tensor.data_ptr, tensor.data, length)
    return NonzeroCount(int(length.sum()), int(length.max(initial=0)))


def sweep(made: MadeRows, arrays: RowArrays) -> np.ndarray:
    """Back up each state with its best row; return float64 ``[3]`` with the largest change first."""
    statistics = np.zeros(3)
    _bellman.sweep(*_ONE_CHUNK, *_settings(made, arrays), arrays.v, arrays.values, statistics)
    return statistics


def evaluate(made: MadeRows, arrays: RowArrays) -> np.ndarray:
    """Back up each state with the weighted mean of its rows; return float64 ``[3]`` with the largest change first."""
    statistics = np.zeros(3)
    _bellman.evaluate_policy(*_ONE_CHUNK, *_settings(made, arrays), arrays.weight, arrays.v, arrays.values, statistics)
    return statistics


def close(made: MadeRows, arrays: RowArrays) -> np.ndarray:
    """Back up each state with its best row and update ``q`` and ``choice``; return float64 ``[3]``.

    The elements are the largest change, the sum of squared changes of ``q``, and the number of changed choices.
    """
    assert arrays.choice is not None
    statistics = np.zeros((1, 3))
    choice = (arrays.choice - made.rows.start).view(np.uint64)
    settings = _settings(made, arrays)
    _bellman.back_up_rows(*_ONE_CHUNK, *settings, arrays.v, arrays.q, arrays.values, choice, statistics)
    arrays.choice[:] = choice.view(np.int64) + made.rows.start
    return np.ravel(statistics)


def total(counts: Sequence[NonzeroCount]) -> NonzeroCount:
    """Return the total number of entries and the length of the longest row of all parts."""
    return NonzeroCount(sum(count.total for count in counts), max((count.longest for count in counts), default=0))


def total_change(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return the maximum of the largest changes, and the other statistics, summed in the order of the batches."""
    table = np.array(parts).reshape(-1, 3)
    return np.append(table[:, 0].max(initial=0), table[:, 1:].sum(axis=0))


def _settings(made: MadeRows, arrays: RowArrays) -> tuple[Any, ...]:
    """Return the arguments of the kernels for one chunk of states."""
    states, rows, tensor = made
    chunk = np.array([0, states.stop - states.start], dtype=np.uint64)
    state_ptr = (tensor.state_ptr[states.start : states.stop + 1] - rows.start).view(np.uint64)
    indptr, indices = tensor.indptr.view(np.uint64), tensor.indices.view(np.uint32)
    reward = tensor.reward if arrays.reward is None else arrays.reward
    transitions = _bellman.Tensor(state_ptr, indptr, indices, tensor.data, reward)
    return chunk, transitions, tensor.data_ptr.view(np.uint64), arrays.discount

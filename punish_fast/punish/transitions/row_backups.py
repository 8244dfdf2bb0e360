"""Backups of the states of some blocks, right after their rows were made.

All arrays but ``v`` are those of these states and rows alone; ``v``, float64 ``[n_columns]``, has all columns, of which
the successors' are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from punish_fast.mdp import _bellman
from punish_fast.mdp.process import NonzeroCount, Payment, RowChoices
from punish_fast.punish.transitions.row_builder import MadeRows

_ONE_CHUNK = (0, 1)


def possible_entries(made: MadeRows) -> NonzeroCount:
    """How many entries the enemy does not make impossible."""
    tensor = made.tensor
    length = np.diff(tensor.indptr)
    if not tensor.data.all():
        _bellman.count_shared(0, len(length), tensor.indptr, tensor.data_ptr, tensor.data, length)
    return NonzeroCount(int(length.sum()), int(length.max(initial=0)))


def sweep(made: MadeRows, payment: Payment, v: np.ndarray, out: np.ndarray) -> float:
    """Take the best row of each state; return the largest change."""
    change = np.zeros(1)
    _bellman.sweep(*_ONE_CHUNK, *_settings(made, payment), v, out, change)
    return float(change[0])


def evaluate(made: MadeRows, payment: Payment, weight: np.ndarray, v: np.ndarray, out: np.ndarray) -> float:
    """Take row ``r`` with probability ``weight[r]``; return the largest change."""
    change = np.zeros(1)
    _bellman.evaluate_policy(*_ONE_CHUNK, *_settings(made, payment), weight, v, out, change)
    return float(change[0])


def close(made: MadeRows, payment: Payment, choices: RowChoices, v: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Take the best row, and update values of rows and choices; see `punish_fast.mdp.process.Backups.close`."""
    statistics = np.zeros((1, 3))
    choice = (choices.row - made.rows.start).view(np.uint64)
    _bellman.back_up_rows(*_ONE_CHUNK, *_settings(made, payment), v, choices.q, out, choice, statistics)
    choices.row[:] = choice.view(np.int64) + made.rows.start
    return np.ravel(statistics)


def total(counts: Sequence[NonzeroCount]) -> NonzeroCount:
    """The number of entries of all parts."""
    return NonzeroCount(sum(count.total for count in counts), max((count.longest for count in counts), default=0))


def total_change(parts: Sequence[np.ndarray]) -> np.ndarray:
    """What `close` found in all parts, added in this order, so that sums do not depend on who found them."""
    table = np.array(parts).reshape(-1, 3)
    return np.append(table[:, 0].max(initial=0), table[:, 1:].sum(axis=0))


def _settings(made: MadeRows, payment: Payment) -> tuple[Any, ...]:
    """What the kernels take, as one chunk of states."""
    states, rows, tensor = made
    chunk = np.array([0, states.stop - states.start], dtype=np.uint64)
    state_ptr = (tensor.state_ptr[states.start : states.stop + 1] - rows.start).view(np.uint64)
    indptr, indices = tensor.indptr.view(np.uint64), tensor.indices.view(np.uint32)
    arrays = _bellman.Tensor(state_ptr, indptr, indices, tensor.data, payment.reward)
    return chunk, arrays, tensor.data_ptr.view(np.uint64), payment.discount

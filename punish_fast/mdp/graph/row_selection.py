"""Some rows of a process, in any order and with other numbers for columns; and which rows belong to which states."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.mdp.graph import _row_selection
from punish_fast.mdp.model import MDP
from punish_fast.runtime.parallel import cumulated, for_chunks, for_each


class SelectedRows(NamedTuple):
    """Rows: where those of each begin, their columns and their probabilities, as in `MDP`."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


def select_rows(mdp: MDP, rows: np.ndarray, column: np.ndarray) -> SelectedRows:
    """Take some rows of a process.

    Args:
        mdp: The process, not compact.
        rows: int64 ``[k]``, rows; -1 is one that surely leads to the last of ``column``.
        column: int32 ``[n_columns or more]``, the new number of each column.
    """
    lengths = np.empty(len(rows), dtype=np.int64)
    for_each(_row_selection.measure_rows, len(rows), rows, mdp.indptr, lengths)
    indptr = cumulated(lengths)
    selection = SelectedRows(indptr, np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1]))
    for_chunks(_row_selection.copy_rows, indptr, rows, column, mdp.indptr, mdp.indices, mdp.data, *selection)
    return selection


def states_of_rows(mdp: MDP) -> np.ndarray:
    """The state of each row, int32 ``[n_rows]``."""
    state = np.empty(mdp.n_rows, dtype=np.int32)
    for_chunks(_row_selection.number_rows, mdp.state_ptr, mdp.state_ptr, state)
    return state


def rows_of_states(mdp: MDP, states: np.ndarray) -> np.ndarray:
    """Mark the rows of given states.

    Args:
        mdp: The process.
        states: bool ``[n_states]``, the states.

    Returns:
        bool ``[n_rows]``.
    """
    rows = np.empty(mdp.n_rows, dtype=bool)
    for_chunks(_row_selection.mark_rows_of_states, mdp.state_ptr, mdp.state_ptr, states, rows)
    return rows


def count_rows(mdp: MDP, rows: np.ndarray) -> np.ndarray:
    """Count the given rows of each state.

    Args:
        mdp: The process.
        rows: bool ``[n_rows]``, the rows.

    Returns:
        int32 ``[n_states]``.
    """
    counts = np.empty(mdp.n_states, dtype=np.int32)
    for_chunks(_row_selection.count_rows, mdp.state_ptr, mdp.state_ptr, rows, counts)
    return counts


def first_marked(state_ptr: np.ndarray, marked: np.ndarray) -> np.ndarray:
    """Return the first marked row of each state, int64 ``[n_states]``; ``marked`` is bool ``[n_rows]``, one in each."""
    rows = np.flatnonzero(marked)
    return rows[np.searchsorted(rows, state_ptr[:-1])]

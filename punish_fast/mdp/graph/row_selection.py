"""Parts of a process: some rows with other numbers for columns, some states; and the rows of each state."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True, eq=False)
class Restriction:
    """A part of a process.

    Attributes:
        mdp: The part; its layers are those of the process, as far as they have states in it.
        states: int64 ``[n_states of the part]``, the states that it has, in order.
        rows: int64 ``[n_rows of the part]``, the rows.
    """

    mdp: MDP
    states: np.ndarray
    rows: np.ndarray


def restriction(mdp: MDP, rows: np.ndarray, terminal: np.ndarray, worth: np.ndarray, reward: np.ndarray) -> Restriction:
    """The part of a process that has certain rows, and the states that have one of them.

    Args:
        rows: bool ``[n_rows]``.
        terminal: ``[n_columns]``, the number of the terminal that a column outside becomes; not read for states inside.
        worth: float64 ``[n_terminals of the part]``, the rewards of its terminals.
        reward: float64 ``[n_rows]``, the rewards of rows.
    """
    taken = np.flatnonzero(rows)
    counts = count_rows(mdp, rows)
    states = np.flatnonzero(counts)
    column = (len(states) + terminal).astype(np.int32)
    column[states] = np.arange(len(states), dtype=np.int32)
    selection = select_rows(mdp, taken, column)
    part = MDP(
        state_ptr=cumulated(counts[states]),
        **selection._asdict(),
        reward=reward[taken],
        terminal_reward=worth,
        layer_ptr=np.searchsorted(states, mdp.layer_ptr),
        action=mdp.action[taken],
    )
    return Restriction(part, states, taken)

"""Kernels over the rows of a process; see ``row_selection.py``."""

from __future__ import annotations

from punish_fast.runtime._jit import kernel


@kernel
def copy_rows(begin, end, rows, column, indptr, indices, data, to_indptr, to_indices, to_data):
    """Copy ``rows[i]`` to row ``i``, for each given ``i``, with ``column[c]`` for column ``c``.

    A row of -1 leads surely to the last of ``column``.
    """
    for i in range(begin, end):
        to, row = to_indptr[i], rows[i]
        if row < 0:
            to_indices[to], to_data[to] = column[len(column) - 1], 1.0
            continue
        for k in range(indptr[row], indptr[row + 1]):
            to_indices[to], to_data[to] = column[indices[k]], data[k]
            to += 1


@kernel
def measure_rows(begin, end, rows, indptr, lengths):
    """``lengths[i]`` becomes the number of columns of ``rows[i]``, for each given ``i``."""
    for i in range(begin, end):
        row = rows[i]
        lengths[i] = 1 if row < 0 else indptr[row + 1] - indptr[row]


@kernel
def number_rows(begin, end, state_ptr, state):
    """``state[row]`` becomes the state of each row, for the rows of the given states."""
    for s in range(begin, end):
        for row in range(state_ptr[s], state_ptr[s + 1]):
            state[row] = s


@kernel
def mark_rows_of_states(begin, end, state_ptr, states, rows):
    """``rows[row]`` becomes whether its state is marked, for the rows of the given states."""
    for s in range(begin, end):
        for row in range(state_ptr[s], state_ptr[s + 1]):
            rows[row] = states[s]


@kernel
def count_rows(begin, end, state_ptr, marked, counts):
    """``counts[state]`` becomes the number of marked rows, for each given state."""
    for s in range(begin, end):
        n = 0
        for row in range(state_ptr[s], state_ptr[s + 1]):
            n += marked[row]
        counts[s] = n

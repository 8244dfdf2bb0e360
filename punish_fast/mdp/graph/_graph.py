"""Searches of the graph of a process: rows lead from states to columns, and ``into`` is read backwards.

``column_ptr`` and ``into`` list the rows that lead to each column. A search visits every entry once and runs on one
thread, in one order, so its results do not depend on the number of threads.
"""

from __future__ import annotations

from punish_fast.runtime._jit import kernel


@kernel
def read_backwards(indptr, indices, data, column_ptr, into):
    """List the rows that lead to each column with a positive probability, in ascending order.

    Args:
        indptr: As in `punish_fast.mdp.model.MDP`, like the next two.
        indices: Likewise.
        data: Likewise.
        column_ptr: Zeros ``[n_columns + 2]``; becomes where the rows of each column begin, and of the last one end.
        into: ``[n_entries]``, becomes the rows.
    """
    for k in range(len(indices)):
        column_ptr[indices[k] + 2] += data[k] != 0.0
    for column in range(2, len(column_ptr)):
        column_ptr[column] += column_ptr[column - 1]
    for row in range(len(indptr) - 1):
        for k in range(indptr[row], indptr[row + 1]):
            if data[k] != 0.0:
                place = column_ptr[indices[k] + 1]
                into[place] = row
                column_ptr[indices[k] + 1] = place + 1


@kernel
def find_ways(column_ptr, into, state_of, allowed, reached, row, queue):
    """Mark in ``reached`` all states from which allowed rows may lead to a column marked already.

    ``row[state]`` becomes the row that may lead nearer. ``queue``, ``[n_columns]``, is overwritten.
    """
    n = 0
    for column in range(len(reached)):
        if reached[column]:
            queue[n] = column
            n += 1
    head = 0
    while head < n:
        column = queue[head]
        head += 1
        for k in range(column_ptr[column], column_ptr[column + 1]):
            state = state_of[into[k]]
            if allowed[into[k]] and not reached[state]:
                reached[state] = True
                row[state] = into[k]
                queue[n] = state
                n += 1


@kernel
def find_forced(column_ptr, into, state_of, n_free, forced, risky, queue):
    """Mark in ``forced`` all states whose every row may lead to a column marked already.

    ``n_free[state]`` counts the rows of a state that may not; those that may are marked in ``risky``, ``[n_rows]``.
    ``queue``, ``[n_columns]``, is overwritten.
    """
    n = 0
    for column in range(len(forced)):
        if forced[column]:
            queue[n] = column
            n += 1
    head = 0
    while head < n:
        column = queue[head]
        head += 1
        for k in range(column_ptr[column], column_ptr[column + 1]):
            row = into[k]
            if not risky[row]:
                risky[row] = True
                state = state_of[row]
                n_free[state] -= 1
                if n_free[state] == 0 and not forced[state]:
                    forced[state] = True
                    queue[n] = state
                    n += 1


@kernel
def mark_safe(begin, end, indptr, indices, data, marked, safe):
    """``safe[row]`` becomes whether the row leads to marked columns only, for each given row."""
    for row in range(begin, end):
        is_safe = True
        for k in range(indptr[row], indptr[row + 1]):
            is_safe &= marked[indices[k]] or data[k] == 0.0
        safe[row] = is_safe

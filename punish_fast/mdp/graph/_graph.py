"""Searches in the graph of an MDP, backward from columns to the rows that lead to them.

``column_ptr`` and ``into`` list the rows that lead to each column. A search visits each entry at most once, on one
thread and in a fixed order, so its results do not depend on the number of threads.
"""

from punish_fast.runtime._jit import kernel


@kernel
def read_backwards(indptr, indices, data, column_ptr, into):
    """List the rows that lead to each column with a positive probability, in ascending order.

    ``column_ptr``, ``[n_columns + 2]``, must contain zeros on entry. On return, ``into[column_ptr[c]:column_ptr[c +
    1]]`` lists the rows that lead to column ``c``. ``into`` must have room for as many rows as there are entries.
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
def find_ways(column_ptr, into, state_of, allowed, reached, row, queue, n):
    """Mark in ``reached`` all states from which allowed rows may lead to a marked column.

    ``row[state]`` receives an allowed row that may lead closer to a marked column. ``queue``, ``[n_columns]``, is a
    work array that begins with the ``n`` marked columns.
    """
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
def find_forced(column_ptr, into, state_of, n_free, forced, risky, queue, n):
    """Mark in ``forced`` all states whose every row may lead to a marked column.

    Rows that may lead to a marked column are marked in ``risky``, bool ``[n_rows]``, and ``n_free[state]``, the number
    of the state's other rows, is reduced accordingly. ``queue``, ``[n_columns]``, is a work array that
    begins with the ``n`` marked columns.
    """
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
def copy_rows(begin, end, rows, column, indptr, indices, data, to_indptr, to_indices, to_data):
    """Copy row ``rows[i]`` to row ``i``, renumbering each column ``c`` to ``column[c]``.

    If ``rows[i]`` is -1, the new row leads to the last entry of ``column`` with probability 1.
    """
    for i in range(begin, end):
        to, row = to_indptr[i], rows[i]
        if row < 0:
            to_indices[to], to_data[to] = column[len(column) - 1], 1.0
            continue
        for k in range(indptr[row], indptr[row + 1]):
            to_indices[to], to_data[to] = column[indices[k]], data[k]
            to += 1

"""Kernels that copy rows of an MDP; see ``row_selection.py``."""

from punish_fast.runtime._jit import kernel


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

"""Compensated sums of probabilities, used to check rows and to merge equal columns.

A plain sum of ``n`` probabilities may be off by ``n`` rounding units, so the sum of a valid row of 40,000 entries may
appear to differ from 1 by 1e-12. `add_up` also accumulates the rounding error of each addition (Knuth's TwoSum; Ogita,
Rump and Oishi, "Accurate sum and dot product", 2005), so the relative error is at most one rounding unit plus
``n ** 2 / 2 ** 106``.
"""

import numpy as np

from punish_fast.runtime._jit import kernel, routine


@routine
def add_up(data, begin, end):
    """Return the plain sum of ``data[begin:end]`` and a correction to add to it."""
    total = 0.0
    rest = 0.0
    for k in range(np.uint64(begin), np.uint64(end)):
        p = data[k]
        larger = total + p
        added = larger - total
        rest += (total - (larger - added)) + (p - added)
        total = larger
    return total, rest


@kernel
def sum_rows(begin, end, first, lengths, data, total, deviation):
    """Set ``total[row]`` to the sum of each row, and ``deviation[row]`` to its exact sum minus 1.

    The entries of a row are ``data[first[row]:first[row] + lengths[row]]``.
    """
    for row in range(begin, end):
        plain, rest = add_up(data, first[row], first[row] + lengths[row])
        total[row], deviation[row] = plain + rest, (plain - 1.0) + rest


@kernel
def merge_columns(begin, end, indptr, indices, data):
    """Store the sum of the probabilities of consecutive equal columns in the first entry, and set the others to 0."""
    for row in range(begin, end):
        k = indptr[row]
        while k < indptr[row + 1]:
            last = k + 1
            while last < indptr[row + 1] and indices[last] == indices[k]:
                last += 1
            total, rest = add_up(data, k, last)
            data[k] = total + rest
            data[k + 1 : last] = 0.0
            k = last

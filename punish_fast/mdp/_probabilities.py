"""Compensated sums of the probabilities in a row, and validation of rows.

A plain sum of ``n`` probabilities may be off by ``n`` rounding units, so the sum of a valid row of 40,000 entries may
appear to differ from 1 by 1e-12. `add_up` also accumulates the rounding error of each addition (Knuth's TwoSum; Ogita,
Rump and Oishi, "Accurate sum and dot product", 2005), so the result is off by one rounding plus ``n ** 2 / 2 ** 106``.
"""

from __future__ import annotations

import numpy as np

from punish_fast.runtime._jit import kernel, routine

BAD_SUM = 1
BAD_PROBABILITY = 2
BAD_COLUMN = 3
ROUNDING = 2.0**-52


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
def find_flaws(begin, end, indptr, data_ptr, indices, data, n_columns, tolerance, flaw):
    """Set ``flaw[row]`` to the code of the worst flaw of the row, or to 0 if the row is valid."""
    for row in range(begin, end):
        worst = 0
        plain = 0.0
        first = indptr[row] if data_ptr is None else data_ptr[row]
        n_entries = indptr[row + 1] - indptr[row]
        shift = indptr[row] - first
        for k in range(first, first + n_entries):
            if not 0 <= indices[k + shift] < n_columns:
                worst = max(worst, BAD_COLUMN)
            # Written so that NaN fails, too.
            if not 0.0 <= data[k] <= 1.0:
                worst = max(worst, BAD_PROBABILITY)
            plain += data[k]
        # A plain sum is off by at most one rounding unit per entry, so most rows need no second sum.
        if worst == 0 and not abs(plain - 1.0) <= tolerance - n_entries * ROUNDING:
            total, rest = add_up(data, first, first + n_entries)
            worst = 0 if abs((total - 1.0) + rest) <= tolerance else BAD_SUM
        flaw[row] = worst


@kernel
def find_deviations(begin, end, chunks, indptr, data_ptr, data, largest):
    """Set ``largest[chunk]`` to the largest absolute difference between 1 and the sum of a row in the chunk."""
    for chunk in range(begin, end):
        most = 0.0
        for row in range(chunks[chunk], chunks[chunk + 1]):
            first = indptr[row] if data_ptr is None else data_ptr[row]
            total, rest = add_up(data, first, first + indptr[row + 1] - indptr[row])
            deviation = abs((total - 1.0) + rest)
            # NaN counts as infinite.
            most = max(most, deviation if deviation < np.inf else np.inf)
        largest[chunk] = most


@kernel
def sum_rows(begin, end, indptr, data, total, rest):
    """Set ``total[row]`` and ``rest[row]`` to the sum of the row and its correction."""
    for row in range(begin, end):
        total[row], rest[row] = add_up(data, indptr[row], indptr[row + 1])


@kernel
def merge_columns(begin, end, indptr, indices, data):
    """Add up the probabilities of consecutive equal columns in the first entry, and set the other entries to 0."""
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

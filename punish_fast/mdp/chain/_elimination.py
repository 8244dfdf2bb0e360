"""State reduction of a chain stored as a sparse matrix (``elimination.py``).

A *position* is the index of a state in the elimination order, in which each component follows the components it leads
to.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.runtime._jit import kernel


class ChainEntries(NamedTuple):
    """A chain in CSR form, and the elimination order of its states."""

    indptr: np.ndarray  # int64 ``[n_states + 1]``, entry offsets of the states
    indices: np.ndarray  # int32 ``[n_entries]``, columns; terminals from ``n_states`` on
    data: np.ndarray  # float64 ``[n_entries]``, probabilities
    state: np.ndarray  # int32 ``[n_states]``, states in elimination order
    position: np.ndarray  # int32 ``[n_states]``, the position of each state
    first: np.ndarray  # int64 ``[n_components + 1]``, the first position of each component
    dense: np.ndarray  # int64 ``[n_components]``, first position of each component that is eliminated in a dense matrix


class ReducedChain(NamedTuple):
    """Factors of a chain's matrix."""

    begin: np.ndarray  # int64 ``[n_states]``, start of each position's entries in ``later``
    end: np.ndarray  # int64 ``[n_states]``, end of these entries
    later: np.ndarray  # int32 ``[n_later]``, later positions connected with each position when it is eliminated
    # float64 ``[n_later]``, probability of moving from the later position to this one, divided by the pivot of this one
    into: np.ndarray
    onto: np.ndarray  # float64 ``[n_later]``, probability of moving from this position to the later one
    # float64 ``[n_states]``, probability of moving to any later position, another component or a terminal
    pivot: np.ndarray


@kernel
def transpose_later(begin, end, later, ptr, owner, at):
    """Transpose the lists of later positions.

    ``ptr``, ``[n_states + 2]``, must contain zeros on entry. On return, ``owner[ptr[i]:ptr[i + 1]]`` contains the
    positions whose lists contain ``i``, in ascending order, and ``at[ptr[i]:ptr[i + 1]]`` the indices of these entries.
    """
    for q in range(len(later)):
        ptr[later[q] + 2] += 1
    for i in range(2, len(ptr)):
        ptr[i] += ptr[i - 1]
    for k in range(len(begin)):
        for q in range(begin[k], end[k]):
            to = ptr[later[q] + 1]
            owner[to], at[to] = k, q
            ptr[later[q] + 1] = to + 1


@kernel
def reduce_chain(begin, end, chain, reduced, earlier, leak, row, dense_ptr, matrices):
    """Compute the sparse factors of positions, and fill the dense matrices that are eliminated afterwards.

    Process positions ``begin`` to ``end - 1``. The caller must process all positions in order.

    ``matrices[dense_ptr[c]:dense_ptr[c + 1]]`` is the dense matrix of component ``c``, ``[m, m + 1]`` in row-major
    order, whose last column is the probability of leaving the component. ``earlier`` contains the results of
    `transpose_later`. ``leak``, ``[n_states]``, receives the probability of leaving the component if the position is
    not dense. ``row``, ``[n_states]``, must contain zeros.
    """
    ptr, owner, at = earlier
    later, into, onto, pivot = reduced.later, reduced.into, reduced.onto, reduced.pivot
    c = np.searchsorted(chain.first, begin, side="right") - 1
    for i in range(begin, end):
        while i >= chain.first[c + 1]:
            c += 1
        first, dense, last = chain.first[c], chain.dense[c], chain.first[c + 1]
        state, out = chain.state[i], 0.0
        for q in range(chain.indptr[state], chain.indptr[state + 1]):
            column = chain.indices[q]
            k = chain.position[column] if column < len(leak) else -1
            if k < first:
                out += chain.data[q]
            else:
                row[k] += chain.data[q]
        for t in range(ptr[i], ptr[i + 1]):
            k = owner[t]
            if k >= dense:
                break
            if row[k] != 0.0:
                share = row[k] / pivot[k]
                row[k], into[at[t]] = 0.0, share
                out += share * leak[k]
                for q in range(reduced.begin[k], reduced.end[k]):
                    row[later[q]] += share * onto[q]
        row[i] = 0.0
        if i < dense:
            leak[i] = out
            for q in range(reduced.begin[i], reduced.end[i]):
                onto[q] = row[later[q]]
                out += onto[q]
                row[later[q]] = 0.0
            pivot[i] = out
        else:
            start = dense_ptr[c] + (i - dense) * (last - dense + 1)
            for j in range(dense, last):
                matrices[start + j - dense] = row[j]
                row[j] = 0.0
            matrices[start + last - dense] = out


@kernel
def reduce_panel(matrix, pivot, begin, end):
    """Eliminate states ``begin`` to ``end - 1`` of a dense matrix ``[m, m + 1]``.

    The caller must update ``matrix[end:, end:]``.
    """
    m = len(pivot)
    for k in range(begin, end):
        pivot[k] = 0.0
        for j in range(k + 1, m + 1):
            pivot[k] += matrix[k, j]
        for i in range(k + 1, m):
            share = matrix[i, k] / pivot[k]
            matrix[i, k] = share
            for j in range(k + 1, m + 1 if i < end else end):
                matrix[i, j] += share * matrix[k, j]


@kernel
def solve_reduced(chain, reduced, r, x):
    """Set ``x``, indexed by position, to the solution for the right-hand side ``r``, indexed by state."""
    begin, end, later, into, onto, pivot = reduced
    for c in range(len(chain.dense)):
        first, last = chain.first[c], chain.first[c + 1]
        for i in range(first, last):
            state = chain.state[i]
            total = r[state]
            for q in range(chain.indptr[state], chain.indptr[state + 1]):
                column = chain.indices[q]
                if column < len(r) and chain.position[column] < first:
                    total += chain.data[q] * x[chain.position[column]]
            x[i] = total
        for k in range(first, last):
            for q in range(begin[k], end[k]):
                x[later[q]] += into[q] * x[k]
        for k in range(last - 1, first - 1, -1):
            total = x[k]
            for q in range(begin[k], end[k]):
                total += onto[q] * x[later[q]]
            x[k] = total / pivot[k]


@kernel
def weigh_states(reduced, weight):
    """Set ``weight``, indexed by position, to the stationary weights of a chain with one component and no terminals."""
    for k in range(len(weight) - 1, -1, -1):
        total = 1.0 if k == len(weight) - 1 else 0.0
        for q in range(reduced.begin[k], reduced.end[k]):
            total += reduced.into[q] * weight[reduced.later[q]]
        weight[k] = total


@kernel
def find_gains(begin, end, chain, rows, v, constants, gain, error):
    """Set ``gain[row]`` to a row's value minus its state's value, and ``error[row]`` to a bound on the rounding error.

    Args:
        chain: Rows in CSR form: ``indptr``, int64 ``[n_rows + 1]``; ``indices``, int32; ``data``, float64.
        rows: State of each row, int32 ``[n_rows]``, and reward of each row, float64 ``[n_rows]``.
        v: Two arrays, float64 ``[n_columns]``, whose sum contains the values of columns.
        constants: Number of roundings in addition to one per entry, unit roundoff, and smallest positive number.
    """
    (indptr, indices, data), (state, reward), (high, low) = chain, rows, v
    further, unit, smallest = constants
    for row in range(begin, end):
        own_high, own_low = high[state[row]], low[state[row]]
        total, size = 0.0, 0.0
        for k in range(indptr[row], indptr[row + 1]):
            to = indices[k]
            difference = high[to] - own_high
            total += data[k] * (difference + (low[to] - own_low))
            size += data[k] * (abs(difference) + abs(low[to]) + abs(own_low))
        gain[row] = reward[row] + total
        roundings = indptr[row + 1] - indptr[row] + further
        error[row] = roundings * (unit * (abs(reward[row]) + size) + smallest)

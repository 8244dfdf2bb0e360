"""Bellman backups over the rows of a sparse Markov decision process.

One backup of a state takes the maximum over its rows::

    q(s, a) = r(s, a) + discount * sum_t P(t | s, a) v(t),        v(s) = max_a q(s, a)

Kernels with an argument ``chunks`` process chunks ``begin`` to ``end - 1``. Chunk ``i`` contains the states from
``chunks[i]`` to ``chunks[i + 1] - 1``. Sums within a chunk are computed in a fixed order, and the caller combines the
results of the chunks, so the output is bitwise identical for any number of threads.

Backups are memory-bound, and every additional instruction slows them down. Pointers and columns are therefore unsigned
integers, because Numba checks whether a signed index is negative, and inner loops are written out, because a call or a
``range`` costs several cycles in each of the many short rows. `sweep`, which accounts for nearly all of the running
time, reads three entries per iteration and gives weight zero to entries past the end of the row, because processors
predict the end of a shorter loop better. Together, these measures more than halve the time of a sweep without changing
any sum. Entries are prefetched `AHEAD` positions in advance.

In a compact MDP, the probabilities of a row start at ``data_ptr[row]`` instead of ``indptr[row]``, that is, ``shift``
positions earlier. For other MDPs, ``data_ptr`` is None, and Numba compiles the kernels without the shift.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.runtime._jit import kernel
from punish_fast.runtime._prefetch import prefetch

# Unsigned constants, because adding a plain 1 to an unsigned integer would give a float.
NONE = np.uint64(0)
ONE = np.uint64(1)
TWO = np.uint64(2)
THREE = np.uint64(3)
# Prefetch distance in entries: a few rows in most games.
AHEAD = np.uint64(96)


class Tensor(NamedTuple):
    """Arrays of an MDP in the dtypes that kernels expect: uint64 pointers, uint32 columns and float64 numbers."""

    state_ptr: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    reward: np.ndarray


@kernel
def sweep(begin, end, chunks, tensor, data_ptr, discount, v, out, residual):
    """Back up states from ``v`` into ``out``, which holds their old values on entry.

    ``residual[chunk]`` receives the largest absolute change of a state value. ``out`` may be ``v`` if no state leads to
    a state in its own layer.
    """
    state_ptr, indptr, indices, data, reward = tensor
    n_columns, n_data = np.uint64(len(indices)), np.uint64(len(data))
    for chunk in range(begin, end):
        largest = 0.0
        state = chunks[chunk]
        row = state_ptr[state]
        k = indptr[row]
        while state < chunks[chunk + 1]:
            best = -np.inf
            while row < state_ptr[state + ONE]:
                last = indptr[row + ONE]
                shift = NONE if data_ptr is None else k - data_ptr[row]
                prefetch(indices, k + AHEAD)
                prefetch(data, k - shift + AHEAD)
                total = 0.0
                # In the very last rows, reading three entries could run past the end of the arrays.
                while k < last and last + TWO <= n_columns and last - shift + TWO <= n_data:
                    second, third = data[k - shift + ONE], data[k - shift + TWO]
                    second = second if k + ONE < last else 0.0
                    third = third if k + TWO < last else 0.0
                    total += data[k - shift] * v[indices[k]]
                    total += second * v[indices[k + ONE]]
                    total += third * v[indices[k + TWO]]
                    k += THREE
                while k < last:
                    total += data[k - shift] * v[indices[k]]
                    k += ONE
                k = last
                value = reward[row] + discount * total
                best = value if value > best else best
                row += ONE
            change = abs(best - out[state])
            largest = change if change > largest else largest
            out[state] = best
            state += ONE
        residual[chunk] = largest


@kernel
def back_up_rows(begin, end, chunks, tensor, data_ptr, discount, v, q, out, choice, statistics):
    """Back up states like `sweep`, and update row values.

    ``q`` receives the value of each row, and ``choice`` the first row of each state with the largest value.
    ``statistics[chunk]`` receives the largest absolute change of ``out``, the sum of squared changes of ``q``, and the
    number of states whose choice changed.
    """
    state_ptr, indptr, indices, data, reward = tensor
    for chunk in range(begin, end):
        largest = 0.0
        squares = 0.0
        changes = 0
        state = chunks[chunk]
        row = state_ptr[state]
        k = indptr[row]
        while state < chunks[chunk + 1]:
            best = -np.inf
            best_row = row
            while row < state_ptr[state + ONE]:
                last = indptr[row + ONE]
                shift = NONE if data_ptr is None else k - data_ptr[row]
                prefetch(indices, k + AHEAD)
                prefetch(data, k - shift + AHEAD)
                total = 0.0
                while k < last:
                    total += data[k - shift] * v[indices[k]]
                    k += ONE
                value = reward[row] + discount * total
                squares += (value - q[row]) ** 2
                q[row] = value
                best_row = row if value > best else best_row
                best = value if value > best else best
                row += ONE
            largest = max(largest, abs(best - out[state]))
            changes += best_row != choice[state]
            choice[state] = best_row
            out[state] = best
            state += ONE
        statistics[chunk, 0] = largest
        statistics[chunk, 1] = squares
        statistics[chunk, 2] = changes


@kernel
def evaluate_policy(begin, end, chunks, tensor, data_ptr, discount, policy, v, out, residual):
    """Back up states like `sweep`, but under a policy that takes row ``r`` with probability ``policy[r]``."""
    state_ptr, indptr, indices, data, reward = tensor
    for chunk in range(begin, end):
        largest = 0.0
        state = chunks[chunk]
        row = state_ptr[state]
        while state < chunks[chunk + 1]:
            value = 0.0
            while row < state_ptr[state + ONE]:
                if policy[row] > 0.0:
                    k = indptr[row]
                    last = indptr[row + ONE]
                    shift = NONE if data_ptr is None else k - data_ptr[row]
                    prefetch(indices, k + AHEAD)
                    prefetch(data, k - shift + AHEAD)
                    total = 0.0
                    while k < last:
                        total += data[k - shift] * v[indices[k]]
                        k += ONE
                    value += policy[row] * (reward[row] + discount * total)
                row += ONE
            largest = max(largest, abs(value - out[state]))
            out[state] = value
            state += ONE
        residual[chunk] = largest


@kernel
def count_shared(begin, end, indptr, data_ptr, data, lengths):
    """Set ``lengths[row]`` to the number of nonzero probabilities in each row."""
    for row in range(begin, end):
        n = 0
        for k in range(data_ptr[row], data_ptr[row] + indptr[row + 1] - indptr[row]):
            n += data[k] != 0
        lengths[row] = n

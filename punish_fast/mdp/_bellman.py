"""Bellman backups over the rows of a sparse Markov decision process.

One backup of a state takes the best of its rows::

    q(s, a) = r(s, a) + discount * sum_t P(t | s, a) v(t),        v(s) = max_a q(s, a)

Every kernel runs over chunks of states, each with one owner; sums are taken inside a chunk in a fixed order and
the chunks' results are combined by the caller, so a result has the same bits for every thread count.
"""

from __future__ import annotations

import numpy as np

from punish_fast._jit import kernel, parallel_kernel, prange

BAD_SUM = 1
BAD_PROBABILITY = 2
BAD_COLUMN = 3


@kernel
def expectation(indptr, indices, data, row, v):
    """``sum_t P(t | row) v(t)``."""
    total = 0.0
    for k in range(indptr[row], indptr[row + 1]):
        total += data[k] * v[indices[k]]
    return total


@parallel_kernel
def sweep(chunks, state_ptr, indptr, indices, data, reward, discount, v, out, residual):
    """Back up the states of a layer from ``v`` into ``out``; ``residual[chunk]`` is the largest change.

    ``out`` may be ``v`` itself if no state of the layer leads to another one of it.
    """
    for chunk in prange(len(chunks) - 1):
        largest = 0.0
        for state in range(chunks[chunk], chunks[chunk + 1]):
            best = -np.inf
            for row in range(state_ptr[state], state_ptr[state + 1]):
                best = max(best, reward[row] + discount * expectation(indptr, indices, data, row, v))
            largest = max(largest, abs(best - v[state]))
            out[state] = best
        residual[chunk] = largest

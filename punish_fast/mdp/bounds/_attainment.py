"""Bellman backups under a deterministic policy."""

from __future__ import annotations

import numpy as np

from punish_fast.runtime._jit import kernel
from punish_fast.runtime._prefetch import prefetch

NONE = np.uint64(0)
ONE = np.uint64(1)
# Prefetch distance, in states.
AHEAD = np.uint64(8)


@kernel
def follow_choice(begin, end, chunks, tensor, data_ptr, choice, v, out):
    """Back up states under the deterministic policy ``choice`` from ``v`` into ``out``, without a discount.

    Rows that are not chosen are never read.
    """
    _, indptr, indices, data, reward = tensor
    for chunk in range(begin, end):
        state = chunks[chunk]
        while state < chunks[chunk + 1]:
            later = state + AHEAD
            if later < chunks[chunk + 1]:
                first = indptr[choice[later]]
                prefetch(indices, first)
                prefetch(data, first if data_ptr is None else data_ptr[choice[later]])
            row = choice[state]
            k, last = indptr[row], indptr[row + ONE]
            shift = NONE if data_ptr is None else k - data_ptr[row]
            total = 0.0
            while k < last:
                total += data[k - shift] * v[indices[k]]
                k += ONE
            out[state] = reward[row] + total
            state += ONE

"""Bellman backups of MDPs without layers, restricted to the rows that may still be optimal.

`improve` backs up all states from the same values ``v``. It skips rows that an earlier backup proved to be suboptimal
(``improvement.py``). The indices of the other rows, a state's *candidates*, are moved to the front of the state's
section of `Candidates.rows`, so no row is copied. Each state is updated by only one thread.

Sums within a chunk are computed in a fixed order, as in ``_bellman.py``.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.mdp.model._bellman import AHEAD, NONE, ONE
from punish_fast.runtime._jit import kernel
from punish_fast.runtime._prefetch import prefetch


class Candidates(NamedTuple):
    """The rows of each state that may be optimal."""

    rows: np.ndarray  # uint32 ``[n_rows]``, candidates of each state ``s`` in ascending order, from ``state_ptr[s]`` on
    number: np.ndarray  # uint32 ``[n_states]``, number of candidates of each state


@kernel
def improve(begin, end, chunks, tensor, discount, slack, candidates, v, greedy, statistics):
    """Back up states from ``v`` over their candidates.

    ``greedy`` receives the values of candidates ``[n_rows]``, column values ``[n_columns]``, and the best row of each
    state. First drop candidates whose value in the last backup was more than ``slack`` below the best value of their
    state. ``statistics[chunk]`` receives the smallest and the largest change of a state value, the number of states
    whose choice changed, and the number of entries read.
    """
    state_ptr, indptr, indices, data, reward = tensor
    candidate, number = candidates
    q, out, choice = greedy
    for chunk in range(begin, end):
        lowest, highest, n_changed, n_read = np.inf, -np.inf, 0, NONE
        state = chunks[chunk]
        while state < chunks[chunk + 1]:
            place = kept = state_ptr[state]
            last_place = place + number[state]
            limit = q[choice[state]] - slack
            while place < last_place:
                candidate[kept] = candidate[place]
                kept += ONE if q[candidate[place]] >= limit else NONE
                place += ONE
            place = state_ptr[state]
            number[state] = kept - place
            best, best_row = -np.inf, choice[state]
            while place < kept:
                row = np.uint64(candidate[place])
                k, last = indptr[row], indptr[row + ONE]
                n_read += last - k
                prefetch(indices, k + AHEAD)
                prefetch(data, k + AHEAD)
                total = 0.0
                while k < last:
                    total += data[k] * v[indices[k]]
                    k += ONE
                value = reward[row] + discount * total
                q[row] = value
                best_row = row if value > best else best_row
                best = value if value > best else best
                place += ONE
            change = best - v[state]
            lowest = change if change < lowest else lowest
            highest = change if change > highest else highest
            n_changed += best_row != choice[state]
            out[state] = best
            choice[state] = best_row
            state += ONE
        statistics[chunk, 0] = lowest
        statistics[chunk, 1] = highest
        statistics[chunk, 2] = n_changed
        statistics[chunk, 3] = n_read

"""Backups of strongly connected components, in place.

A row that leads back to its own state is solved for it::

    v(s)  =  max_a (r(s, a) + g sum_{t != s} P(t | s, a) v(t)) / (1 - g + g sum_{t != s} P(t | s, a))

The probability of leaving is a sum, since one minus the probability of staying has no digits if play hardly ever
leaves.
"""

from __future__ import annotations

import numpy as np

from punish_fast.mdp._bellman import NONE, ONE
from punish_fast.runtime._jit import kernel, routine


@routine
def relax_run(first, last, is_descending, tensor, discount, v):
    """Back up the states from ``first`` to ``last``, in place and in their order; return the largest change."""
    state_ptr, indptr, indices, data, reward = tensor
    largest = 0.0
    for n_done in range(last - first):
        state = last - ONE - n_done if is_descending else first + n_done
        row = state_ptr[state]
        best = -np.inf
        while row < state_ptr[state + ONE]:
            k, end = indptr[row], indptr[row + ONE]
            total, away = 0.0, 0.0
            while k < end:
                column = np.uint64(indices[k])
                total += data[k] * (0.0 if column == state else v[column])
                away += 0.0 if column == state else data[k]
                k += ONE
            leaves = 1.0 - discount + discount * away
            # Without a discount, staying without end has no finite value.
            value = (reward[row] + discount * total) / leaves if leaves > 0.0 else -np.inf
            best = value if value > best else best
            row += ONE
        change = abs(best - v[state])
        largest = change if change > largest else largest
        v[state] = best
    return largest


@kernel
def relax_components(begin, end, boundary, tensor, discount, v, goal, most):
    """Solve components one after the other, in place: sweep each until no change exceeds ``goal``, or ``most`` times.

    A component of one state takes one backup. Returns the number of backups of states.
    """
    n_backups = NONE
    for component in range(begin, end):
        first, last = boundary[component], boundary[component + 1]
        n_sweeps, largest = 0, np.inf
        while n_sweeps < most and largest > goal:
            largest = relax_run(first, last, n_sweeps % 2 == 1, tensor, discount, v)
            largest = largest if last - first > ONE else 0.0
            n_backups += last - first
            n_sweeps += 1
    return n_backups

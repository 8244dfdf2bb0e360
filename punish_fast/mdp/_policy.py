"""Kernels that choose a row in each state or adjust row values to match given choices."""

from __future__ import annotations

import numpy as np

from punish_fast.runtime._jit import kernel


@kernel
def choose_first(begin, end, state_ptr, q, tie, choice):
    """Set ``choice[state]`` to the first row of each state whose ``q`` is within ``tie`` of the state's maximum."""
    for state in range(begin, end):
        best = -np.inf
        for row in range(state_ptr[state], state_ptr[state + 1]):
            best = max(best, q[row])
        chosen = state_ptr[state]
        while chosen + 1 < state_ptr[state + 1] and q[chosen] < best - tie:
            chosen += 1
        choice[state] = chosen


@kernel
def prefer(begin, end, state_ptr, q, choice, margin, least, preferred):
    """Copy ``q`` to ``preferred`` and adjust it so that the chosen row of each state is the first maximum.

    The chosen row receives ``maximum``, the largest ``q`` of its state. Earlier rows of the state are reduced to at
    most ``max(maximum - margin, least)``.
    """
    for state in range(begin, end):
        best = -np.inf
        for row in range(state_ptr[state], state_ptr[state + 1]):
            best = max(best, q[row])
        ceiling = max(best - margin, least)
        for row in range(state_ptr[state], state_ptr[state + 1]):
            preferred[row] = min(q[row], ceiling) if row < choice[state] else q[row]
        preferred[choice[state]] = best

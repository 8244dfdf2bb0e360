"""Choices between the rows of a state."""

from __future__ import annotations

import numpy as np

from punish_fast.runtime._jit import kernel


@kernel
def choose_first(begin, end, state_ptr, q, tie, choice):
    """``choice[state]`` becomes the first row whose ``q`` is within ``tie`` of the best one, for each given state."""
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
    """Write the best ``q`` of each given state to its chosen row, and at most that less ``margin`` to the rows before.

    None of these is put below ``least``; what is below already stays as it is.
    """
    for state in range(begin, end):
        best = -np.inf
        for row in range(state_ptr[state], state_ptr[state + 1]):
            best = max(best, q[row])
        ceiling = max(best - margin, least)
        for row in range(state_ptr[state], state_ptr[state + 1]):
            preferred[row] = min(q[row], ceiling) if row < choice[state] else q[row]
        preferred[choice[state]] = best

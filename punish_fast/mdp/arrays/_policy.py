"""Kernel that chooses a row in each state."""

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

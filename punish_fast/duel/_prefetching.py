"""What passes through the graph will read soon, and no processor can foresee.

A pass goes through full states in their order, but what the enemy plays there stands with the enemy's information
state, and what follows stands anywhere. Both are told a little ahead: the place where the enemy's rows begin, a little
later these rows, and the values of successors.
"""

from __future__ import annotations

import numpy as np

from punish_fast.runtime._jit import inlined_routine
from punish_fast.runtime._prefetch import prefetch

# Full states until the enemy's information state is asked for, and until its rows are.
_STATES_AHEAD, _ROWS_AHEAD = np.uint64(16), np.uint64(8)
# Successors: those of a few full states.
_SUCCESSORS_AHEAD = np.uint64(64)


@inlined_routine
def fetch_enemy(state_ptr, action, strategy, enemy_rows, number):
    """Fetch what the enemy plays in a full state soon after ``number``, which is unsigned; return its first row."""
    last = np.uint64(len(enemy_rows) - 1)
    prefetch(state_ptr, np.uint64(enemy_rows[min(number + _STATES_AHEAD, last)]))
    row = np.uint64(state_ptr[np.uint64(enemy_rows[min(number + _ROWS_AHEAD, last)])])
    prefetch(action, row)
    prefetch(strategy, row)
    return row


@inlined_routine
def fetch_successor(after, v, width, entry):
    """Fetch the row of ``v``, ``width`` numbers, of the successor a little behind ``entry``; both are unsigned."""
    soon = min(entry + _SUCCESSORS_AHEAD, np.uint64(len(after) - 1))
    prefetch(v, np.uint64(after[soon]) * width)

"""Solving backwards from the end.

An end is a win, a loss or a draw for whoever would be next, at distance 0. Going back from what is known,

* a position with an action that leads to a win for its mover is a win, and its distance is one more than that of
  the nearest such end: the mover hurries;
* a position of which every action is known to lose is a loss, and its distance is one more than that of the furthest:
  the mover delays.

Positions leave the queue in the order of their distances, so the first win that is found is the nearest, and the action
that is the last to be known is the one that delays longest. Whatever is never reached is a draw: nobody can force an
end that is worth something.
"""

from __future__ import annotations

from punish_fast.runtime._jit import kernel

WIN, DRAW, LOSS = 1, 0, -1
# The distance of draws.
ENDLESS = -1


@kernel
def solve_backwards(state_ptr, sign, worth, back_ptr, back_row, position_of_row, value, distance, queue):
    """Fill ``value`` and ``distance``; the rows that lead to position ``p`` are ``back_row[back_ptr[p] : ...]``."""
    n = len(worth)
    tail = 0
    for p in range(n):
        value[p] = DRAW
        distance[p] = ENDLESS
        if state_ptr[p] == state_ptr[p + 1]:
            if worth[p] != 0:
                value[p] = WIN if worth[p] > 0 else LOSS
                queue[tail] = p
                tail += 1
            distance[p] = 0
    # Until it is known, the distance of a position counts the actions known to lose, from below.
    head = 0
    while head < tail:
        p = queue[head]
        head += 1
        for k in range(back_ptr[p], back_ptr[p + 1]):
            row = back_row[k]
            before = position_of_row[row]
            if value[before] != DRAW:
                continue
            if sign[row] * value[p] > 0:
                value[before] = WIN
            else:
                distance[before] -= 1
                if ENDLESS - distance[before] < state_ptr[before + 1] - state_ptr[before]:
                    continue
                value[before] = LOSS
            distance[before] = distance[p] + 1
            queue[tail] = before
            tail += 1
    for p in range(n):
        if value[p] == DRAW and distance[p] < ENDLESS:
            distance[p] = ENDLESS

"""Retrograde analysis: solve a game backwards from its terminal positions.

A terminal position is a win, a loss or a draw for the player who would move next, at distance 0. Other positions are
decided backwards:

* A position with an action that is known to win is a win. The distance of the position is one more than the distance
  after the fastest winning action, because the winner tries to win quickly.
* A position whose actions are all known to lose is a loss. The distance of the position is one more than the distance
  after the slowest action, because the loser tries to delay the loss.

Positions leave the queue in order of distance, so the first winning action found is the fastest, and the last losing
action found is the slowest. Positions that remain undecided are draws.

Reference: K. Thompson, "Retrograde analysis of certain endgames", ICCA Journal 9(3), 1986.
"""

from punish_fast.runtime._jit import kernel

WIN, DRAW, LOSS = 1, 0, -1
# Distance assigned to nonterminal draws.
ENDLESS = -1


@kernel
def analyze_backwards(state_ptr, sign, payoff, back_ptr, back_row, position_of_row, value, distance, queue):
    """Compute the value and the distance of every position in place.

    The rows that lead to position ``p`` are ``back_row[back_ptr[p] : back_ptr[p + 1]]``. ``queue``, int64 ``[n]``, is
    workspace. The other arguments have the same form as in `Positions` and `PerfectPlay`.
    """
    n = len(payoff)
    tail = 0
    for p in range(n):
        value[p] = DRAW
        distance[p] = ENDLESS
        if state_ptr[p] == state_ptr[p + 1]:
            if payoff[p] != 0:
                value[p] = WIN if payoff[p] > 0 else LOSS
                queue[tail] = p
                tail += 1
            distance[p] = 0
    # Until a position is decided, its distance is -1 minus the number of its actions that are known to lose.
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

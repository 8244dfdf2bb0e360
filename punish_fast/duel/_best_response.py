"""Best response to an enemy's policy, breath by breath, under given beliefs about the enemy's hand.

The player who responds sees the information state ``s`` but not the enemy's hand ``e``, and therefore takes the same
action in all full states ``(s, e)``. Let ``C(s, e)`` be the beliefs, which need not sum to 1. With

    q(s, e, a) = sum over enemy rows b and draws d of y(b) P(d) v(successor)

the best action maximizes ``sum over e of C(s, e) q(s, e, a)``, and ``v(s, e) = q(s, e, a)`` for this action. The value
of an action is this sum, divided by the total belief ``sum over e of C(s, e)``. Breaths are solved from last to first.
"""

import numpy as np

from punish_fast.duel._walk import ZERO, add_value, open_full, prefetch_enemy, walk_row
from punish_fast.punish._actions import N_ACTIONS
from punish_fast.runtime._jit import kernel

# Smaller gains, relative to the total belief, count as rounding errors.
_LEAST_GAIN = 1e-13


@kernel
def respond_full(begin, end, full, draws, rows, most_decks, enemy_policy, belief, v, choice, least):
    """Set ``choice[state]`` to the best row in the given information states, and ``v[number, 0]`` to its values.

    A choice is replaced only by a better row, so choices do not change in states with a total belief of 0. Full states
    with a belief below ``least`` are skipped. ``most_decks`` is the maximum number of decks per information state.
    """
    state_ptr, action = rows
    args = full, draws, enemy_policy, v
    q = np.zeros((most_decks, N_ACTIONS))
    total = np.zeros(N_ACTIONS)
    for row in range(begin, end):
        first_row = np.uint64(state_ptr[row])
        n_own = np.uint64(state_ptr[row + 1]) - first_row
        first_number = np.uint64(full.ptr[row])
        n_decks = np.uint64(full.ptr[row + 1]) - first_number
        total[:] = 0.0
        mass = 0.0
        for k in range(n_decks):
            number = first_number + k
            prefetch_enemy(full, state_ptr, action, enemy_policy, number)
            weight = belief[number]
            if weight < least:
                continue
            mass += weight
            entry, enemy = open_full(full, state_ptr, number)
            for a in range(n_own):
                value, entry = walk_row(add_value, 0.0, entry, enemy, first_row + a, action, draws, args)
                q[k, a] = value
                total[a] += weight * value
        best = np.uint64(choice[row]) - first_row
        for a in range(n_own):
            if total[a] > total[best] + _LEAST_GAIN * mass:
                best = a
        choice[row] = first_row + best
        for k in range(n_decks):
            if belief[first_number + k] >= least:
                v[first_number + k, ZERO] = q[k, best]


@kernel
def value_actions(begin, end, full, draws, rows, enemy_policy, belief, v, out):
    """Set ``out[row]`` to the mean of ``q`` under ``belief`` for each action in the given information states.

    If the total belief of a state is 0, all enemy hands have equal weight.
    """
    state_ptr, action = rows
    args = full, draws, enemy_policy, v
    for row in range(begin, end):
        first_number, last_number = np.uint64(full.ptr[row]), np.uint64(full.ptr[row + 1])
        own_first, own_last = np.uint64(state_ptr[row]), np.uint64(state_ptr[row + 1])
        total = 0.0
        for number in range(first_number, last_number):
            total += belief[number]
        out[own_first:own_last] = 0.0
        for number in range(first_number, last_number):
            weight = belief[number] / total if total > 0.0 else 1.0 / (last_number - first_number)
            entry, enemy = open_full(full, state_ptr, number)
            for own_row in range(own_first, own_last):
                value, entry = walk_row(add_value, 0.0, entry, enemy, own_row, action, draws, args)
                out[own_row] += weight * value

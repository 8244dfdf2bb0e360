"""The best answer to an enemy, breath by breath, from weights of the hands the enemy may hold.

Who answers does not see the full state ``(s, e)`` but the information state ``s`` alone, and so must take the same
action against every hand ``e``. With weights ``C(s, e)``, proportional in each ``s`` to how likely the hands are, and

    q(s, e, a) = sum over enemy actions b and draws d of P(b | e) P(d) v(what follows)

the best action is the one with the largest ``sum over e of C(s, e) q(s, e, a)``, and ``v(s, e) = q(s, e, a)`` for just
that action. Later breaths must have been answered before. For given values the same sums, divided by all weight, tell
what each action is worth.
"""

from __future__ import annotations

import numpy as np

from punish_fast.duel._passes import ONE, TWO, ZERO
from punish_fast.duel._prefetching import fetch_enemy, fetch_successor
from punish_fast.punish._actions import N_ACTIONS
from punish_fast.runtime._jit import kernel

# What is better by less, relative to all weight, is rounding.
_LEAST_GAIN = 1e-13


@kernel
def respond_full(begin, end, full, draws, state_ptr, action, most_decks, least, enemy_weight, belief, v, choice):
    """CounterfactualResponse in the given information states: write ``choice[row]`` and ``v[number, 0]``.

    A choice changes only if another one is better; so where ``belief`` has no weight, it stays. Full states that weigh
    less than ``least`` are passed over. No state has more than ``most_decks`` decks.
    """
    q = np.zeros((most_decks, N_ACTIONS))
    total = np.zeros(N_ACTIONS)
    full_ptr, entries, enemy_rows, decks, after = full.ptr, full.entry, full.enemy_row, full.deck, full.after
    n_draws, chances = draws.n, draws.chance
    n_columns = np.uint64(v.shape[1])
    for row in range(begin, end):
        first_row = np.uint64(state_ptr[row])
        n_own = np.uint64(state_ptr[row + 1]) - first_row
        first_number = np.uint64(full_ptr[row])
        n_decks = np.uint64(full_ptr[row + 1]) - first_number
        total[:] = 0.0
        mass = 0.0
        for k in range(n_decks):
            number = first_number + k
            fetch_enemy(state_ptr, action, enemy_weight, enemy_rows, number)
            weight = belief[number]
            if weight < least:
                continue
            mass += weight
            entry = np.uint64(entries[number])
            deck = np.uint64(decks[number])
            enemy_state = np.uint64(enemy_rows[number])
            first, last = np.uint64(state_ptr[enemy_state]), np.uint64(state_ptr[enemy_state + ONE])
            for a in range(n_own):
                own_feints = np.uint64(action[first_row + a]) & ONE
                value = 0.0
                for enemy_row in range(first, last):
                    feinters = own_feints + TWO * (np.uint64(action[enemy_row]) & ONE)
                    p = enemy_weight[enemy_row]
                    n = np.uint64(n_draws[deck, feinters])
                    fetch_successor(after, v, n_columns, entry)
                    if p > 0.0:
                        # Most often nothing is drawn.
                        drawn = v[np.uint64(after[entry]), ZERO]
                        if n > ONE:
                            drawn *= chances[deck, feinters, ZERO]
                            for draw in range(ONE, n):
                                drawn += chances[deck, feinters, draw] * v[np.uint64(after[entry + draw]), ZERO]
                        value += p * drawn
                    entry += n
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
def value_actions(begin, end, full, draws, state_ptr, action, enemy_weight, belief, v, out):
    """Write what each action is worth in the given information states: ``out[row]``, the mean of ``q`` by ``belief``.

    Where ``belief`` has no weight, all hands of the enemy count alike.
    """
    full_ptr, entry_ptr, enemy_rows, decks, after = full.ptr, full.entry_ptr, full.enemy_row, full.deck, full.after
    n_draws, chances = draws.n, draws.chance
    for row in range(begin, end):
        first_row, last_row = state_ptr[row], state_ptr[row + 1]
        entry = entry_ptr[row]
        total = 0.0
        for number in range(full_ptr[row], full_ptr[row + 1]):
            total += belief[number]
        out[first_row:last_row] = 0.0
        for number in range(full_ptr[row], full_ptr[row + 1]):
            deck = decks[number]
            first, last = state_ptr[enemy_rows[number]], state_ptr[enemy_rows[number] + 1]
            weight = belief[number] / total if total > 0.0 else 1.0 / (full_ptr[row + 1] - full_ptr[row])
            for own_row in range(first_row, last_row):
                own_feints = np.int64(action[own_row]) & 1
                for enemy_row in range(first, last):
                    feinters = own_feints + 2 * (np.int64(action[enemy_row]) & 1)
                    p = weight * enemy_weight[enemy_row]
                    n = n_draws[deck, feinters]
                    if p > 0.0:
                        for draw in range(n):
                            out[own_row] += p * chances[deck, feinters, draw] * v[after[entry + draw], 0]
                    entry += n

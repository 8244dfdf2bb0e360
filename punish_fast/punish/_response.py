"""The best answer to an enemy, breath by breath, from weights of the hands the enemy may hold.

Who answers does not see the full state ``(s, e)`` but the information state ``s`` alone, and so must take the same
action against every hand ``e``. With weights ``C(s, e)``, proportional in each ``s`` to how likely the hands are, and

    q(s, e, a) = sum over enemy actions b and draws d of P(b | e) P(d) v(what follows)

the best action is the one with the largest ``sum over e of C(s, e) q(s, e, a)``, and ``v(s, e) = q(s, e, a)`` for just
that action. Later breaths must have been answered before.
"""

from __future__ import annotations

import numpy as np

from punish_fast._jit import kernel
from punish_fast.punish._actions import N_ACTIONS
from punish_fast.punish._graph import drawn_cards, list_draws, room_for_draws
from punish_fast.punish._multisets import N_KINDS
from punish_fast.punish._space import block_statuses

# What is better by less, relative to all weight, is rounding.
_LEAST_GAIN = 1e-13


@kernel
def respond_full(
    begin, end, layout, layer, decks, full, state_ptr, action, most_decks, enemy_weight, belief, v, choice
):
    """Answer in the information states of the given blocks: write ``choice[row]`` and ``v[number, 0]``.

    A choice changes only if another one is better; so where ``belief`` has no weight, it stays. No state of the layer
    has more than ``most_decks`` decks.
    """
    draws, n_draws, chances = room_for_draws()
    deck = np.zeros(N_KINDS, dtype=np.int64)
    q = np.zeros((most_decks, N_ACTIONS))
    total = np.zeros(N_ACTIONS)
    decks_ptr, copies, first = decks.ptr, decks.copies, layer.first
    full_ptr, entry_ptr, enemy_rows, after = full.ptr, full.entry_ptr, full.enemy_row, full.after
    n_drawn = 2 * layout.feints + 1
    for block in range(begin, end):
        row = first[block]
        for status in block_statuses(layer, block):
            place = block * n_drawn + drawn_cards(layout, status)
            n_decks = decks_ptr[place + 1] - decks_ptr[place]
            first_row = state_ptr[row]
            n_own = state_ptr[row + 1] - first_row
            entry = entry_ptr[row]
            total[:] = 0.0
            mass = 0.0
            for i in range(n_decks):
                for kind in range(N_KINDS):
                    deck[kind] = copies[decks_ptr[place] + i, kind]
                list_draws(layout, deck, draws, n_draws, chances)
                number = full_ptr[row] + i
                enemy_row = enemy_rows[number]
                weight = belief[number]
                mass += weight
                for a in range(n_own):
                    own_feints = np.int64(action[first_row + a]) % 2
                    value = 0.0
                    for other in range(state_ptr[enemy_row], state_ptr[enemy_row + 1]):
                        feints = own_feints + 2 * (np.int64(action[other]) % 2)
                        p = enemy_weight[other]
                        if p > 0.0:
                            for draw in range(n_draws[feints]):
                                value += p * chances[feints, draw] * v[after[entry + draw], 0]
                        entry += n_draws[feints]
                    q[i, a] = value
                    total[a] += weight * value
            best = choice[row] - first_row
            for a in range(n_own):
                if total[a] > total[best] + _LEAST_GAIN * mass:
                    best = a
            choice[row] = first_row + best
            for i in range(n_decks):
                v[full_ptr[row] + i, 0] = q[i, best]
            row += 1

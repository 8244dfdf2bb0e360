"""Which actions are legal in a state.

A player who is exhausted, or holds no card, rests. Everyone else picks any card in hand, plainly or, while a
feint is left, as a feint.
"""

from __future__ import annotations

import numpy as np

from punish_fast.punish._codes import split_status
from punish_fast.punish._multisets import N_KINDS
from punish_fast.punish._space import block_statuses, open_block, rests
from punish_fast.runtime._jit import kernel, routine

# Two-digit codes are the card from 1 to 5 and then 1 for a feint or 0.
REST_ACTION = 90
N_ACTIONS = 2 * N_KINDS + 1


@routine
def list_actions(layout, hand, hand_size, status, actions):
    """Write the two-digit codes of the legal actions, ascending; return how many there are."""
    if rests(layout, status, hand_size):
        actions[0] = REST_ACTION
        return 1
    _, _, _, own_feinted, _, _ = split_status(layout, status)
    n = 0
    for pick in range(N_KINDS):
        if hand[pick] > 0:
            actions[n] = 10 * (pick + 1)
            n += 1
            if own_feinted < layout.feints:
                actions[n] = 10 * (pick + 1) + 1
                n += 1
    return n


@routine
def split_action(action):
    """The pick (5 for rest) and 1 for a feint."""
    if action == REST_ACTION:
        return N_KINDS, 0
    return action // 10 - 1, action % 10


@kernel
def fill_actions(begin, end, layout, layer, counts, actions):
    """Write number and codes of the legal actions of each state of the given blocks.

    ``counts`` and ``actions`` (``[n, 11]``) begin with the first state of the layer.
    """
    hand = np.zeros(N_KINDS, dtype=np.int64)
    discard = np.zeros(N_KINDS, dtype=np.int64)
    unseen = np.zeros(N_KINDS, dtype=np.int64)
    listed = np.zeros((3, N_ACTIONS), dtype=np.uint8)
    n_listed = np.zeros(3, dtype=np.int64)
    for block in range(begin, end):
        hand_size, _ = open_block(layout, layer, block, hand, discard, unseen)
        i = layer.first[block] - layer.first[0]
        n_listed[:] = 0
        for status in block_statuses(layer, block):
            _, _, _, own_feinted, _, _ = split_status(layout, status)
            # All that matters of a status within a block: one list for each is enough.
            which = 0 if rests(layout, status, hand_size) else 1 if own_feinted < layout.feints else 2
            if n_listed[which] == 0:
                n_listed[which] = list_actions(layout, hand, hand_size, status, listed[which])
            counts[i] = n_listed[which]
            for k in range(n_listed[which]):
                actions[i, k] = listed[which, k]
            i += 1


@kernel
def pack_actions(begin, end, ptr, actions, packed):
    """Copy the legal actions of the given states side by side: those of state ``i`` to ``packed[ptr[i]]``."""
    for i in range(begin, end):
        first = ptr[i]
        for k in range(ptr[i + 1] - first):
            packed[first + k] = actions[i, k]

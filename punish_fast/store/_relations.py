"""Flaws of the states and rows in a file, each array read once.

Both kernels take a time near that of reading their arrays from memory, some 12 bytes for each entry of the tensor.
"""

from __future__ import annotations

import numpy as np

from punish_fast.punish._actions import N_ACTIONS, RESTS, list_actions, own_mode
from punish_fast.punish._codes import split_between_status, split_status
from punish_fast.punish._multisets import N_KINDS
from punish_fast.runtime._jit import kernel, routine

# Flaws, the worst one last.
SOUND, BAD_ACTION, BAD_STATE = 0, 1, 2
BAD_REWARD, BAD_SUM, BAD_PROBABILITY, BAD_COLUMN = 1, 2, 3, 4


@routine
def open_cards(layout, cards, hand):
    """Write the hand of a cards code of the view; return the cards in hand, and those in hand and discard pile."""
    held = 0
    seen = 0
    for kind in range(N_KINDS):
        digit = cards // layout.place[kind]
        cards -= digit * layout.place[kind]
        both = 0
        while (both + 1) * (both + 2) // 2 <= digit:
            both += 1
        hand[kind] = digit - both * (both + 1) // 2
        held += hand[kind]
        seen += both
    return held, seen


@kernel
def find_wrong_states(begin, end, layout, code, state_ptr, action, flaw):
    """``flaw[state]`` becomes `BAD_STATE` for what is no position, `BAD_ACTION` for rows not its legal actions."""
    hand = np.empty(N_KINDS, dtype=np.int64)
    legal = np.empty(N_ACTIONS, dtype=np.int64)
    for state in range(begin, end):
        rest = np.int64(code[state]) // layout.n_statuses
        digits = np.int64(code[state]) - rest * layout.n_statuses
        layer = rest // layout.n_cards_codes
        held, seen = open_cards(layout, rest - layer * layout.n_cards_codes, hand)
        if layer == layout.breaths:
            _, _, drawn = split_between_status(layout, digits)
            most_drawn = 2 * layout.feints
            mode = RESTS
        else:
            status = split_status(layout, digits)
            drawn = status.own_feinted + status.enemy_feinted
            most_drawn = drawn
            mode = own_mode(layout, status, held)
        enemy_hand = layout.n_cards - layout.deck_size - seen + drawn
        if held > layout.hand_size or not 0 <= enemy_hand <= layout.hand_size or drawn > most_drawn:
            flaw[state] = BAD_STATE
            continue
        n = list_actions(hand, mode, legal)
        first = state_ptr[state]
        flaw[state] = SOUND if state_ptr[state + 1] - first == n else BAD_ACTION
        for k in range(n if flaw[state] == SOUND else 0):
            if action[first + k] != legal[k]:
                flaw[state] = BAD_ACTION


@kernel
def find_wrong_rows(begin, end, tensor, n_states, tolerances, flaw):
    """``flaw[row]`` becomes the worst flaw of each given row.

    Columns ascend up to ``n_states`` (win) and ``n_states + 1`` (loss), probabilities add up to 1, and the reward is
    P(win) - P(loss), to within both ``tolerances``.
    """
    indptr, indices, data, reward = tensor
    of_sum, of_reward = tolerances
    for row in range(begin, end):
        worst = SOUND
        total = 0.0
        expected = 0.0
        before = -1
        for k in range(indptr[row], indptr[row + 1]):
            column = np.int64(indices[k])
            p = data[k]
            if not before < column < n_states + 2:
                worst = max(worst, BAD_COLUMN)
            # Written so that a NaN fails too.
            if not 0.0 <= p <= 1.0:
                worst = max(worst, BAD_PROBABILITY)
            total += p
            if column >= n_states:
                expected += p if column == n_states else -p
            before = column
        if not abs(total - 1.0) <= of_sum:
            worst = max(worst, BAD_SUM)
        if not abs(expected - reward[row]) <= of_reward:
            worst = max(worst, BAD_REWARD)
        flaw[row] = worst

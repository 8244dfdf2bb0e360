"""Mixed-radix codes of information states, and all arithmetic on them.

The code of a state has three digits, most significant first::

    code = (layer * n_cards_codes + cards) * n_statuses + status

``layer`` is the breath less one; the layer after the last breath lies between two measures.

``cards`` has one digit for each kind, guard first. The digit packs the copies ``h`` in the own hand and ``d`` in the
discard pile; with ``t = h + d`` it is ``t (t + 1) / 2 + h``, so a kind with ``c`` copies has
``(c + 1)(c + 2) / 2`` digits and no digit is wasted::

            h=0  1  2  3
    t = 0 :   0                    a card moving from hand to discard keeps t and lowers the digit by one;
    t = 1 :   1  2                 a card joining the discard pile from out of sight raises t by one.
    t = 2 :   3  4  5
    t = 3 :   6  7  8  9

``status`` has, during a measure, the digits ``own_hp - 1, enemy_hp - 1, own_exhausted, own_feinted,
enemy_exhausted, enemy_feinted`` with radices ``hp, hp, 2, feints + 1, 2, feints + 1``. Between two measures the
statuses are cleared and the cards that feints took from the deck are the only other thing to know:
``drawn, own_hp - 1, enemy_hp - 1`` with radices ``2 feints + 1, hp, hp``. A model of information that bears something
in mind from one measure to the next has one more digit during the first breath, in front of all others: ``spent``
(``information.py``). Whatever follows a breath has it cleared.

The enemy's hand size is no digit: it is what is left of all cards after own hand, discard pile and deck.

A *block* is the run of states of one layer that share their cards. Codes are sorted by layer, then cards, then
status, so a block is contiguous, and the cards of a breath and its status can be advanced independently.
Codes are ``uint64`` in storage and statuses ``uint16``; kernels compute with ``int64`` and pack at the very end.
"""

from __future__ import annotations

import numpy as np

from punish_fast.punish._multisets import N_KINDS
from punish_fast.runtime._jit import kernel, routine


@kernel
def pair_digit(in_hand, in_discard):
    """The digit of a kind with so many copies in hand and discard pile."""
    both = in_hand + in_discard
    return both * (both + 1) // 2 + in_hand


@kernel
def cards_code(layout, hand, discard):
    """The cards digit of a hand and a discard pile (five counts each)."""
    code = 0
    for kind in range(N_KINDS):
        code += layout.place[kind] * pair_digit(hand[kind], discard[kind])
    return code


@kernel
def decode_cards(layout, cards, hand, discard):
    """Write the five counts of hand and discard pile; return their sizes."""
    hand_size = 0
    discard_size = 0
    for kind in range(N_KINDS):
        digit = cards // layout.place[kind]
        cards -= digit * layout.place[kind]
        both = 0
        while (both + 1) * (both + 2) // 2 <= digit:
            both += 1
        hand[kind] = digit - both * (both + 1) // 2
        discard[kind] = both - hand[kind]
        hand_size += hand[kind]
        discard_size += discard[kind]
    return hand_size, discard_size


@kernel
def play_status(layout, own_hp, enemy_hp, own_exhausted, own_feinted, enemy_exhausted, enemy_feinted):
    """The status digit during a measure."""
    radix = layout.feints + 1
    status = (own_hp - 1) * layout.hp + enemy_hp - 1
    status = (status * 2 + own_exhausted) * radix + own_feinted
    return (status * 2 + enemy_exhausted) * radix + enemy_feinted


@kernel
def split_status(layout, status):
    """The inverse of `play_status`."""
    radix = layout.feints + 1
    status, enemy_feinted = divmod(np.int64(status), radix)
    status, enemy_exhausted = divmod(status, 2)
    status, own_feinted = divmod(status, radix)
    status, own_exhausted = divmod(status, 2)
    own_hp, enemy_hp = divmod(status, layout.hp)
    # In front of it there may be what is spent.
    own_hp %= layout.hp
    return own_hp + 1, enemy_hp + 1, own_exhausted, own_feinted, enemy_exhausted, enemy_feinted


@routine
def mirror_status(layout, status):
    """The same status as the enemy sees it; what is spent is seen by both."""
    own_hp, enemy_hp, own_exhausted, own_feinted, enemy_exhausted, enemy_feinted = split_status(layout, status)
    spent = np.int64(status) // layout.n_statuses * layout.n_statuses
    return spent + play_status(layout, enemy_hp, own_hp, enemy_exhausted, enemy_feinted, own_exhausted, own_feinted)


@kernel
def between_status(layout, own_hp, enemy_hp, drawn):
    """The status digit between two measures; ``drawn`` cards of the deck went to feints."""
    return (drawn * layout.hp + own_hp - 1) * layout.hp + enemy_hp - 1


@kernel
def split_between_status(layout, status):
    """The inverse of `between_status`: own HP, enemy HP and cards drawn."""
    status, enemy_hp = divmod(np.int64(status), layout.hp)
    drawn, own_hp = divmod(status, layout.hp)
    return own_hp + 1, enemy_hp + 1, drawn


@kernel
def pack(layout, layer, cards, status):
    """The code of a state from its three digits."""
    return np.uint64((layer * layout.n_cards_codes + cards) * layout.n_statuses + status)


@kernel
def unpack(layout, code):
    """Layer, cards and status of a code."""
    rest, status = divmod(np.int64(code), layout.n_statuses)
    layer, cards = divmod(rest, layout.n_cards_codes)
    return layer, cards, status

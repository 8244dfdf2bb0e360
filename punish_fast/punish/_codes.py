"""Mixed-radix codes of information states: digits and arithmetic.

Under the model ``memoryless``, the code of a state has three digits, most significant first::

    code = (layer * n_cards_codes + cards) * n_statuses + status

``layer`` is the number of the breath minus 1. The layer after the last breath stands for the time between two measures.

``cards`` has one digit for each kind of card, guard first. Under ``memoryless``, the digit of a kind with ``h`` copies
in the player's hand and ``d`` in the discard pile is ``t (t + 1) / 2 + h``, where ``t = h + d``. If ``c`` copies are in
play, the digit takes all values below ``(c + 1)(c + 2) / 2``::

            h=0  1  2  3
    t = 0 :   0                    a card moving from the hand to the discard pile lowers the digit by one,
    t = 1 :   1  2                 an unseen card joining the discard pile raises t by one.
    t = 2 :   3  4  5
    t = 3 :   6  7  8  9

A finer model divides the discard pile into *places* for revealed cards, the player's cards and the enemy's cards. A
digit then stands for a tuple of counts ``(hand, place 0, place 1, ...)``. Tuples are numbered by their sum, then
lexicographically. With a single place, the result is the numbering above. A pick or a draw changes one digit. The new
digits are tabulated (`Places`), so the same kernels work for every model.

During a measure, ``status`` has the digits ``own_hp - 1, enemy_hp - 1, own_exhausted, own_feinted, enemy_exhausted,
enemy_feinted`` with radices ``hp, hp, 2, feints + 1, 2, feints + 1``. Between two measures, exhaustion is irrelevant,
and only the total number of feints matters, so the digits are ``drawn, own_hp - 1, enemy_hp - 1`` with radices
``2 feints + 1, hp, hp``, where ``drawn`` is the number of cards that feints drew from the deck.

The size of the enemy's hand is not a digit. It follows from the sizes of the player's hand, the discard pile and the
deck.

A *block* consists of the states in a layer that have the same cards. Codes are sorted by layer, then by cards, then by
status, so the states of a block are contiguous. State codes are stored as ``uint64``, and the statuses of a layer as
``uint16``. Kernels compute with ``int64``.
"""

from typing import Any, NamedTuple

import numpy as np

from punish_fast.punish._multisets import N_KINDS
from punish_fast.runtime._jit import kernel, routine

# Values of the first index of `Places.move`.
OWN_PICK, OWN_DRAW, ENEMY_CARD = range(3)


class Status(NamedTuple):
    """Fields of a status during a measure, as integers or integer arrays."""

    own_hp: Any
    enemy_hp: Any
    own_exhausted: Any
    own_feinted: Any
    enemy_exhausted: Any
    enemy_feinted: Any


class Places(NamedTuple):
    """Tables for the digits of cards codes under an information model. All are int64. Impossible digits are -1.

    In shapes, ``copies`` is the maximum number of copies of a card.
    """

    weight: np.ndarray  # [5], place value of each kind's digit in a cards code
    hand: np.ndarray  # [n_digits], copies in the player's hand
    discard: np.ndarray  # [n_digits], total copies in all places
    move: np.ndarray  # [3, n_digits], digit after `OWN_PICK`, `OWN_DRAW` or `ENEMY_CARD`
    joined: np.ndarray  # [n_digits, 4], digit after 0 to 3 unseen cards have joined (`ENEMY_CARD`)
    mirror: np.ndarray  # [n_digits, copies + 1], digit from the enemy's viewpoint, by copies in the enemy's hand
    dealt: np.ndarray  # [copies + 1, copies + 1], digit after a deal, by copies in hand and copies revealed


@kernel
def pair_digit(in_hand, in_discard):
    """Return a kind's digit under ``memoryless``, given the numbers of copies in hand and in the discard pile."""
    both = in_hand + in_discard
    return both * (both + 1) // 2 + in_hand


@routine
def cards_code(layout, hand, discard):
    """Return the cards code of a hand and a discard pile (five counts each), or of two hands, under ``memoryless``."""
    code = 0
    for kind in range(N_KINDS):
        code += layout.place[kind] * pair_digit(hand[kind], discard[kind])
    return code


@routine
def split_cards(places, cards, digits):
    """Write the five digits of a cards code to ``digits``."""
    weight = places.weight
    for kind in range(N_KINDS):
        digits[kind] = cards // weight[kind]
        cards -= digits[kind] * weight[kind]


@routine
def mirror_cards(places, digits, enemy):
    """Return the cards code from the viewpoint of an enemy with the hand ``enemy`` (five counts)."""
    code = 0
    for kind in range(N_KINDS):
        code += places.weight[kind] * places.mirror[digits[kind], enemy[kind]]
    return code


@routine
def cards_after(weight, move, digits, own_pick, own_draw, enemy_pick, enemy_draw):
    """Return the cards code after the picks and draws of a breath, with 5 for no card."""
    code = 0
    for kind in range(N_KINDS):
        digit = digits[kind]
        if kind == own_pick:
            digit = move[OWN_PICK, digit]
        if kind == own_draw:
            digit = move[OWN_DRAW, digit]
        if kind == enemy_pick:
            digit = move[ENEMY_CARD, digit]
        if kind == enemy_draw:
            digit = move[ENEMY_CARD, digit]
        code += weight[kind] * digit
    return code


@kernel
def play_status(layout, own_hp, enemy_hp, own_exhausted, own_feinted, enemy_exhausted, enemy_feinted):
    """Return the code of a status during a measure."""
    radix = layout.feints + 1
    status = (own_hp - 1) * layout.hp + enemy_hp - 1
    status = (status * 2 + own_exhausted) * radix + own_feinted
    return (status * 2 + enemy_exhausted) * radix + enemy_feinted


@kernel
def split_status(layout, code):
    """Return the `Status` of a code from `play_status`."""
    radix = layout.feints + 1
    code, enemy_feinted = divmod(np.int64(code), radix)
    code, enemy_exhausted = divmod(code, 2)
    code, own_feinted = divmod(code, radix)
    code, own_exhausted = divmod(code, 2)
    own_hp, enemy_hp = divmod(code, layout.hp)
    return Status(own_hp + 1, enemy_hp + 1, own_exhausted, own_feinted, enemy_exhausted, enemy_feinted)


@routine
def mirror_status(layout, status):
    """Return the code of a `Status` from the enemy's viewpoint."""
    own_hp, enemy_hp, own_exhausted, own_feinted, enemy_exhausted, enemy_feinted = status
    return play_status(layout, enemy_hp, own_hp, enemy_exhausted, enemy_feinted, own_exhausted, own_feinted)


@routine
def between_status(layout, own_hp, enemy_hp, drawn):
    """Return the code of a status between two measures. ``drawn`` is the number of cards that feints drew."""
    return (drawn * layout.hp + own_hp - 1) * layout.hp + enemy_hp - 1


@routine
def split_between_status(layout, code):
    """Return the player's HP, the enemy's HP and the number of drawn cards of a code from `between_status`."""
    code, enemy_hp = divmod(np.int64(code), layout.hp)
    drawn, own_hp = divmod(code, layout.hp)
    return own_hp + 1, enemy_hp + 1, drawn

"""Bit encoding of hands, piles and decks of Gwent Lite. ``_game.py`` contains the rules.

Cards are encoded one after another in ascending order. A card of value ``k`` takes ``k`` bits, and only the last of
them is set. Cards 1, 1 and 3 set bits 0, 1 and 4. Each of two words contains 50 bits. The number of set bits is the
number of cards, and the position of the highest set bit, counted from 1, is the sum of the cards.

The compiler reduces the loop in `_count_bits` to one instruction, so counting and finding bits is fast.
"""

import numpy as np

from punish_fast.runtime._jit import routine

HALF = 50
_LOW_BITS = (1 << HALF) - 1


@routine
def _count_bits(bits):
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


@routine
def _place(bits):
    """Return the position of the lowest set bit."""
    return _count_bits((bits & -bits) - 1)


@routine
def count_cards(words, column):
    return _count_bits(words[column] & _LOW_BITS) + _count_bits(words[column + 1] & _LOW_BITS)


@routine
def sum_cards(words, column):
    high = words[column + 1]
    bits, points = (high, HALF) if high else (words[column], 0)
    # If the integer is unsigned, the compiler also reduces this loop to one instruction.
    rest = np.uint64(bits)
    while rest:
        rest >>= np.uint64(1)
        points += 1
    return points


@routine
def list_cards(words, column, cards):
    """Write the cards to ``cards`` in ascending order. Return their number and their sum, at most 100 each."""
    count, begin = 0, 0
    for half in range(2):
        bits = words[column + half] & _LOW_BITS
        while bits:
            end = HALF * half + _place(bits) + 1
            bits &= bits - 1
            cards[count] = end - begin
            count += 1
            begin = end
    return count, begin


@routine
def card_in_slot(words, column, slot):
    """Return the card in a slot, counted from 1, or 0 if the slot is empty."""
    begin, count = 0, 0
    for half in range(2):
        bits = words[column + half]
        while bits:
            end = HALF * half + _place(bits) + 1
            bits &= bits - 1
            count += 1
            if count == slot:
                return end - begin
            begin = end
    return 0


@routine
def _begin_of(words, column, card):
    """Return the sum of all cards lower than ``card``."""
    begin = 0
    for half in range(2):
        bits = words[column + half]
        while bits:
            end = HALF * half + _place(bits) + 1
            if end - begin >= card:
                return begin
            bits &= bits - 1
            begin = end
    return begin


@routine
def _split(words, column, begin):
    """Split both words into the bits below position ``begin`` and the remaining bits."""
    low = _LOW_BITS if begin >= HALF else (1 << begin) - 1
    high = (1 << (begin - HALF)) - 1 if begin >= HALF else 0
    one, other = words[column], words[column + 1]
    return one & low, other & high, one & ~low, other & ~high


@routine
def insert_card(words, column, card):
    """Insert a card in ascending order. The bits of higher cards move up."""
    begin = _begin_of(words, column, card)
    low, high, upper_low, upper_high = _split(words, column, begin)
    if card >= HALF:
        upper_low, upper_high = 0, upper_low << (card - HALF)
    else:
        upper_low, upper_high = (upper_low << card) & _LOW_BITS, upper_high << card | upper_low >> (HALF - card)
    last = begin + card - 1
    words[column] = low | upper_low | (1 << last if last < HALF else 0)
    words[column + 1] = high | (upper_high & _LOW_BITS) | (1 << (last - HALF) if last >= HALF else 0)


@routine
def remove_card(words, column, card):
    """Remove a card that is present. The bits of higher cards move down."""
    end = _begin_of(words, column, card) + card
    low, high, upper_low, upper_high = _split(words, column, end)
    last = end - 1
    if last < HALF:
        low &= ~(1 << last)
    else:
        high &= ~(1 << (last - HALF))
    if card >= HALF:
        upper_low, upper_high = upper_high >> (card - HALF), 0
    else:
        upper_low, upper_high = upper_low >> card | (upper_high << (HALF - card)) & _LOW_BITS, upper_high >> card
    words[column], words[column + 1] = low | upper_low, high | upper_high

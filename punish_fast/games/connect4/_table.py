"""The table of the search of Connect Four: what is known of the scores of boards.

An entry is a word of 64 bits that has everything: 49 bits of the board itself, six for each bound, and two for the work
that it took. The whole board is there, not a digest, so an entry is never taken for another; and one word is read and
written at once, so threads share a table without locks and see only whole entries. Two entries share a place: the first
keeps the larger work, the second the latest.

The 49 bits are ``own + filled + BOTTOM``. A column of height ``h`` adds ``2^h`` and the mover's stones in it, which
are less than ``2^h``; so its seven bits tell the height by their highest one, and the stones by the others.
"""

from __future__ import annotations

import numpy as np

from punish_fast.games.connect4._game import BOTTOM, mirrored
from punish_fast.runtime._jit import routine

# Entries: the board, both bounds, counted from the lowest score, and the work.
_LOWEST, _HIGHEST = -21, 21
_BOUND_BITS, _WORK_BITS = 6, 2
_BOUND, _WORK = (1 << _BOUND_BITS) - 1, (1 << _WORK_BITS) - 1
_LOW_SHIFT = _BOUND_BITS + _WORK_BITS
_KEY_SHIFT = _BOUND_BITS + _LOW_SHIFT
# Work in nodes, by factors of 2^_WORK_SHIFT.
_WORK_SHIFT = 6
# Multipliers of the halves of a board; the products have 61 bits. Their low bits depend on few bits of the board.
_HALF_BITS = 25
_HALF = (1 << _HALF_BITS) - 1
_FACTOR_0, _FACTOR_1 = 0x9E3779B97, 0x1BF58476D1
_DIGEST_SHIFT = 25
# With fewer stones, a board and its mirror image share an entry; later, few positions meet theirs.
_MIRRORED_BELOW = 14


@routine
def board_key(own, filled, n_stones):
    """A board, or of a board and its mirror image the lower one, in 49 bits; never 0."""
    key = own + filled + BOTTOM
    if n_stones < _MIRRORED_BELOW:
        return min(key, mirrored(key))
    return key


@routine
def place_of(table, key):
    """The first of the two places of a board in the table."""
    digest = (key & _HALF) * _FACTOR_0 + (key >> _HALF_BITS) * _FACTOR_1
    return (digest >> _DIGEST_SHIFT) & (len(table) - 2)


@routine
def find_entry(table, key):
    """The entry of a board, or 0."""
    place = np.uint64(place_of(table, key))
    entry = table[place]
    if entry >> _KEY_SHIFT == key:
        return entry
    entry = table[place | np.uint64(1)]
    if entry >> _KEY_SHIFT == key:
        return entry
    return 0


@routine
def lower_bound(entry):
    return ((entry >> _LOW_SHIFT) & _BOUND) + _LOWEST


@routine
def upper_bound(entry):
    return ((entry >> _WORK_BITS) & _BOUND) + _LOWEST


@routine
def store_answer(table, key, score, target, nodes):
    """Add an answer, a score at least or below the target, to what the table knows of a board."""
    old = find_entry(table, key)
    low, high = _LOWEST, _HIGHEST
    if old != 0:
        low, high = lower_bound(old), upper_bound(old)
    if score >= target:
        low = max(low, score)
    else:
        high = min(high, score)
    work = 0
    while work < _WORK and nodes >> (_WORK_SHIFT * (work + 1)):
        work += 1
    entry = (key << _KEY_SHIFT) | ((low - _LOWEST) << _LOW_SHIFT) | ((high - _LOWEST) << _WORK_BITS) | work
    place = np.uint64(place_of(table, key))
    first = table[place]
    if first >> _KEY_SHIFT == key:
        table[place] = entry
    elif work >= first & _WORK:
        table[place], table[place | np.uint64(1)] = entry, first
    else:
        table[place | np.uint64(1)] = entry

"""Transposition table of the Connect Four search. It stores bounds on the scores of boards.

An entry is a 64-bit word: 49 bits for the board, six for each bound, and two for the number of nodes searched. Boards
are never confused, because an entry contains the whole board instead of a hash. Words are read and written atomically,
so threads can share a table without locks. Each bucket has two entries. A new entry replaces the first if its search
took at least as many nodes (on a logarithmic scale), and the first then moves to the second place. Otherwise, the new
entry replaces the second. An entry for the board of the first entry always replaces the first.

The 49 bits are ``own + filled + BOTTOM``. A column of height ``h`` contributes ``2^h`` plus the bits of the mover's
stones in this column, a number less than ``2^h``. The highest set bit among the column's seven bits therefore encodes
the height, and the lower bits encode the mover's stones.
"""

import numpy as np

from punish_fast.games.connect4._game import BOTTOM, mirrored
from punish_fast.runtime._jit import routine

# Fields of an entry: the board, both bounds relative to the lowest score, and the work (number of nodes searched).
_LOWEST, _HIGHEST = -21, 21
_BOUND_BITS, _WORK_BITS = 6, 2
_BOUND, _WORK = (1 << _BOUND_BITS) - 1, (1 << _WORK_BITS) - 1
_LOW_SHIFT = _BOUND_BITS + _WORK_BITS
_KEY_SHIFT = _BOUND_BITS + _LOW_SHIFT
# Work is the number of nodes on a logarithmic scale with base 2^_WORK_SHIFT.
_WORK_SHIFT = 6
# Hash multipliers for the two halves of a key. Low bits of the products depend on few bits of the key and are not used.
_HALF_BITS = 25
_HALF = (1 << _HALF_BITS) - 1
_FACTOR_0, _FACTOR_1 = 0x9E3779B97, 0x1BF58476D1
_DIGEST_SHIFT = 25
# Number of stones below which a board and its mirror image share an entry. With more stones, both rarely occur.
_MIRRORED_BELOW = 14


@routine
def board_key(own, filled, n_stones):
    """Return the 49-bit key of a board, which is never 0. Mirror images with few stones have the same key."""
    key = own + filled + BOTTOM
    if n_stones < _MIRRORED_BELOW:
        return min(key, mirrored(key))
    return key


@routine
def place_of(table, key):
    """Return the index of the first entry in a key's bucket."""
    digest = (key & _HALF) * _FACTOR_0 + (key >> _HALF_BITS) * _FACTOR_1
    return (digest >> _DIGEST_SHIFT) & (len(table) - 2)


@routine
def find_entry(table, key):
    """Return the entry with a key, or 0 if the table does not contain the key."""
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
    """Store ``score`` as a lower bound if it is at least ``target``, and as an upper bound otherwise."""
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

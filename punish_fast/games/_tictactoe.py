"""Tic-tac-toe, many states at once.

A state is one word. Bits 0 to 8 are the stones of the player to move by squares, bits 9 to 17 those of the opponent,

    0 1 2     9 10 11
    3 4 5    12 13 14
    6 7 8    15 16 17

so that a move sets a bit of the lower half and exchanges the halves.
"""

from __future__ import annotations

import numpy as np

from punish_fast.runtime._jit import kernel, routine

SQUARES = 9
_FULL = (1 << SQUARES) - 1
_LINES = (0b000000111, 0b000111000, 0b111000000, 0b001001001, 0b010010010, 0b100100100, 0b100010001, 0b001010100)
# Whether nine bits of stones have a line.
_HAS_LINE = np.array([any(stones & line == line for line in _LINES) for stones in range(_FULL + 1)])
_COUNT = np.array([stones.bit_count() for stones in range(_FULL + 1)], dtype=np.int8)


@routine
def _halves(word):
    """Stones of the mover and of the opponent."""
    bits = np.int64(word)
    return bits & _FULL, bits >> SQUARES


@kernel
def step(states, actions, after, returns, ended):
    """Put a stone in each state.

    Args:
        states: uint64 ``[n, 1]``, none of them terminal.
        actions: Integers ``[n]``, empty squares.
        after: uint64 ``[n, 1]``, filled.
        returns: float32 ``[n, 2]``, filled.
        ended: bool ``[n]``, filled.
    """
    for k in range(len(states)):
        own, other = _halves(states[k, 0])
        mover = _COUNT[own | other] & 1
        own |= 1 << (actions[k] & 15)
        has_line = _HAS_LINE[own & _FULL]
        after[k, 0] = np.uint64(other | (own << SQUARES))
        returns[k, mover] = 1.0 if has_line else 0.0
        returns[k, 1 - mover] = -1.0 if has_line else 0.0
        ended[k] = has_line or own | other == _FULL


@kernel
def find_player(states, player):
    """Fill ``player``, int8 ``[n]``: 0 for X and 1 for O."""
    for k in range(len(states)):
        own, other = _halves(states[k, 0])
        player[k] = _COUNT[own | other] & 1


@kernel
def find_legal(states, legal):
    """Fill ``legal``, bool ``[n, 9]``: empty squares of states that are not terminal."""
    for k in range(len(states)):
        own, other = _halves(states[k, 0])
        empty = 0 if _HAS_LINE[other] else ~(own | other)
        for square in range(SQUARES):
            legal[k, square] = (empty >> square) & 1 != 0


@kernel
def find_features(states, features):
    """Fill ``features``, float32 ``[n, 18]``: the mover's stones, then the opponent's."""
    for k in range(len(states)):
        bits = np.int64(states[k, 0])
        for square in range(2 * SQUARES):
            features[k, square] = (bits >> square) & 1

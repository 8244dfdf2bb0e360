"""States of Gwent Lite, and their encoding in 13 words for kernels.

The first word contains the public fields, from the lowest bit: the totals of both players (7 bits each), the numbers of
rounds won (2 each), flags that are set for players who are out for the round (1 each), the numbers of cards to draw (4
each), the round (2), the player who began the first round (2 bits: 0 if not drawn yet, otherwise 1 or 2) and the player
to move (1). Six words for each player follow: two each for the deck, the pile and the hand, in the encoding of
``_cards.py``.
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from punish_fast.games.gwent._cards import HALF
from punish_fast.games.gwent._game import MASKS, SHIFTS

Cards = tuple[int, ...]

# Action of a player who passes.
PASS = 0


class GwentState(NamedTuple):
    """A state of Gwent Lite. Pairs contain one value for each player."""

    # Initial decks in ascending order. Random decks grow until they are complete.
    decks: tuple[Cards, Cards]
    round: int  # Round, from 1.
    hands: tuple[Cards, Cards]  # Cards in hand, in ascending order.
    piles: tuple[Cards, Cards]  # Cards that have not been drawn, in ascending order.
    due: tuple[int, int]  # Numbers of cards to draw before the round continues.
    totals: tuple[int, int]  # Points in the current round.
    wins: tuple[int, int]  # Numbers of rounds won.
    out: tuple[bool, bool]  # True for players who are out for the round.
    beginner: int  # Player who began the first round, or -1 if not drawn yet.
    turn: int  # Player to move after all draws.


def words_of(state: GwentState) -> np.ndarray:
    """Encode a state in 13 words, int64 ``[13]``."""
    fields = (*state.totals, *state.wins, *map(int, state.out), *state.due, state.round, state.beginner + 1, state.turn)
    table = sum(field << int(shift) for field, shift in zip(fields, SHIFTS, strict=True))
    kinds = [kind[player] for player in range(2) for kind in (state.decks, state.piles, state.hands)]
    return np.array([table, *(half for cards in kinds for half in _cut(cards))], dtype=np.int64)


def state_of_words(words: np.ndarray) -> GwentState:
    """Decode a state from its 13 words."""
    table, *halves = words.tolist()
    fields = [(table >> int(shift)) & int(mask) for shift, mask in zip(SHIFTS, MASKS, strict=True)]
    totals, wins, out, due = ((fields[k], fields[k + 1]) for k in range(0, 8, 2))
    rows = [_cards(low | high << HALF) for low, high in zip(halves[::2], halves[1::2], strict=True)]
    decks, piles, hands = ((rows[k], rows[k + 3]) for k in range(3))
    is_out = (bool(out[0]), bool(out[1]))
    return GwentState(decks, fields[8], hands, piles, due, totals, wins, is_out, fields[9] - 1, fields[10])


def _cut(cards: Sequence[int]) -> tuple[int, int]:
    """Encode cards in two words."""
    bits = sum(1 << (end - 1) for end in accumulate(cards))
    return bits % (1 << HALF), bits >> HALF


def _cards(bits: int) -> Cards:
    ends = [end for end in range(1, 2 * HALF + 1) if bits >> (end - 1) & 1]
    return tuple(end - begin for begin, end in pairwise([0, *ends]))

"""States of Gwent Lite, and the words that kernels take.

The first of the 13 words holds what players see on the table: of both players the totals (7 bits each), rounds won (2),
whether they are out (1) and the cards to draw (4), then the round (2), the player who began the first round (2; 0 for
none, else 1 or 2) and whose turn it is (1). Six words of each player follow: two each for the deck, the pile and the
hand. Cards are bits, a row of 100 points that is cut behind each card.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from punish_fast.games.gwent._cards import HALF
from punish_fast.games.gwent._game import MASKS, SHIFTS

Cards = tuple[int, ...]

# The action of a player who is out for the round.
PASS = 0


class GwentState(NamedTuple):
    """A state; where there are two values, they are of the first and the second player."""

    # The cards that the decks began with, ascending; random decks grow until they have all their cards.
    decks: tuple[Cards, Cards]
    round: int  # The round, from 1.
    hands: tuple[Cards, Cards]  # The cards in hand, ascending.
    piles: tuple[Cards, Cards]  # The cards that are still to be drawn, ascending.
    due: tuple[int, int]  # Cards to be drawn before the round.
    totals: tuple[int, int]  # Points of the round.
    wins: tuple[int, int]  # Rounds won.
    out: tuple[bool, bool]  # True for players who are out for the round.
    beginner: int  # The player who began the first round; -1 before that is drawn.
    turn: int  # The player to move, if no card is to be drawn.


def words_of(state: GwentState) -> np.ndarray:
    """Return the words of a state, int64 ``[13]``."""
    fields = (
        *state.totals,
        *state.wins,
        *map(int, state.out),
        *state.due,
        state.round,
        state.beginner + 1,
        state.turn,
    )
    table = sum(field << int(shift) for field, shift in zip(fields, SHIFTS, strict=True))
    kinds = [kind[player] for player in range(2) for kind in (state.decks, state.piles, state.hands)]
    return np.array([table, *(half for cards in kinds for half in _cut(cards))], dtype=np.int64)


def state_of_words(words: np.ndarray) -> GwentState:
    """Return the state of 13 words."""
    table, *halves = words.tolist()
    fields = [(table >> int(shift)) & int(mask) for shift, mask in zip(SHIFTS, MASKS, strict=True)]
    totals, wins, out, due = ((fields[k], fields[k + 1]) for k in range(0, 8, 2))
    rows = [_cards(low | high << HALF) for low, high in zip(halves[::2], halves[1::2], strict=True)]
    decks, piles, hands = ((rows[k], rows[k + 3]) for k in range(3))
    is_out = (bool(out[0]), bool(out[1]))
    return GwentState(decks, fields[8], hands, piles, due, totals, wins, is_out, fields[9] - 1, fields[10])


def _cut(cards: Sequence[int]) -> tuple[int, int]:
    """Return the two words of some cards."""
    bits = sum(1 << (end - 1) for end in accumulate(cards))
    return bits % (1 << HALF), bits >> HALF


def _cards(bits: int) -> Cards:
    ends = [end for end in range(1, 2 * HALF + 1) if bits >> (end - 1) & 1]
    return tuple(end - begin for begin, end in pairwise([0, *ends]))

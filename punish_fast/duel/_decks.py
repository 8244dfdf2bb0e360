"""Possible decks, and draws from decks for feints.

Decks of all sizes are numbered in lexicographic order of their card counts. `Draws` lists the draws from each deck, in
the same order as the stored successors of full states. `Decks` lists the possible decks in information states. The
list depends only on the block and on the number of cards drawn for feints.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.punish._codes import mirror_cards, split_cards
from punish_fast.punish._multisets import BINOMIAL, N_KINDS, first_subset, next_subset
from punish_fast.punish.states._space import find_block, open_block
from punish_fast.runtime._jit import kernel, routine

# Number of feint combinations (0: none, 1: the player's, 2: the enemy's, 3: both), and maximum number of draws.
N_FEINTS = 4
MOST_DRAWS = N_KINDS * N_KINDS


class Draws(NamedTuple):
    """Distinct draws from each deck, for each combination of feints."""

    copies: np.ndarray  # int64 ``[n_decks, 5]``, card counts of each deck, in lexicographic order
    n: np.ndarray  # int64 ``[n_decks, 4]``, number of distinct draws
    own: np.ndarray  # int64 ``[n_decks, 4, 25]``, kind of card drawn by the player (5 for none)
    enemy: np.ndarray  # int64 ``[n_decks, 4, 25]``, kind of card drawn by the enemy (5 for none)
    left: np.ndarray  # int64 ``[n_decks, 4, 25]``, index of the remaining deck
    p: np.ndarray  # float64 ``[n_decks, 4, 25]``, probability of each draw


class Decks(NamedTuple):
    """Possible decks in a layer. There is one list for each block and number of drawn cards."""

    ptr: np.ndarray  # int64 ``[n_blocks * n_drawn + 1]``, start of each list
    deck: np.ndarray  # int32 ``[n]``, indices of decks, ascending in each list
    block: np.ndarray  # int32 ``[n]``, for each deck, the block of the enemy's information states


@routine
def find_deck(copies, deck):
    """Return the index of a deck in ``copies``, found by bisection, or the index of the next deck if missing."""
    low, high = 0, len(copies)
    while low < high:
        middle = (low + high) // 2
        comes_first = False
        for kind in range(N_KINDS):
            if copies[middle, kind] != deck[kind]:
                comes_first = copies[middle, kind] < deck[kind]
                break
        if comes_first:
            low = middle + 1
        else:
            high = middle
    return low


@routine
def deck_ways(cards, deck):
    """Return the number of ways to choose a deck from ``cards``, or 0 if ``cards`` does not contain the deck."""
    ways = 1.0
    for kind in range(N_KINDS):
        if cards[kind] < deck[kind]:
            return 0.0
        ways *= BINOMIAL[cards[kind], deck[kind]]
    return ways


@routine
def list_decks(layout, places, layer, draws, block, room, decks, ptr):
    """List the possible decks of a block in ``decks``, beginning at index ``ptr[0]``.

    If ``decks.deck`` is empty, only write the number of decks to ``ptr[drawn]``. The deck determines the enemy's hand.
    A deck is possible only if the layer contains the mirrored block for this hand.
    """
    digits, piles, deck, hand = room
    open_block(layout, layer, block, piles)
    split_cards(places, layer.cards[block], digits)
    place = ptr[0]
    for drawn in range(2 * layout.feints + 1):
        n = 0
        more = first_subset(piles[2], layout.deck_size - drawn, deck)
        while more:
            for kind in range(N_KINDS):
                hand[kind] = piles[2, kind] - deck[kind]
            mirrored = find_block(layer, mirror_cards(places, digits, hand))
            if mirrored >= 0:
                if len(decks.deck) > 0:
                    decks.deck[place] = find_deck(draws.copies, deck)
                    decks.block[place] = mirrored
                place += 1
                n += 1
            more = next_subset(piles[2], deck)
        if len(decks.deck) == 0:
            ptr[drawn] = n


@routine
def room_for_decks():
    digits = np.zeros(N_KINDS, dtype=np.int64)
    piles = np.zeros((3, N_KINDS), dtype=np.int64)
    return digits, piles, np.zeros(N_KINDS, dtype=np.int64), np.zeros(N_KINDS, dtype=np.int64)


@kernel
def count_decks(begin, end, layout, places, layer, draws, decks, counts):
    """Set ``counts[block, drawn]`` to the number of possible decks of a block if feints draw ``drawn`` cards.

    ``decks.deck`` must be empty.
    """
    room = room_for_decks()
    for block in range(begin, end):
        list_decks(layout, places, layer, draws, block, room, decks, counts[block])


@kernel
def fill_decks(begin, end, layout, places, layer, draws, decks):
    """List the possible decks of the given blocks in ``decks``."""
    room = room_for_decks()
    n_drawn = 2 * layout.feints + 1
    for block in range(begin, end):
        list_decks(layout, places, layer, draws, block, room, decks, decks.ptr[block * n_drawn : (block + 1) * n_drawn])

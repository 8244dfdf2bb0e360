"""Decks: which there may be, and what feints draw from them.

All multisets of cards that a deck can be are numbered in lexicographic order, across all sizes. What may be drawn from
each is tabulated once, in the order in which successors of full states stand (`Draws`). Which decks are possible in an
information state depends on its block and on how many cards feints have taken (`Decks`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.punish._codes import mirror_cards, split_cards
from punish_fast.punish._multisets import N_KINDS, first_subset, next_subset
from punish_fast.punish._space import find_block, open_block
from punish_fast.runtime._jit import kernel, routine

# Who feints: 0 for none, 1 for the own side, 2 for the enemy, 3 for both; and the most different draws there are.
N_FEINTERS = 4
MOST_DRAWS = N_KINDS * N_KINDS


class Draws(NamedTuple):
    """What is drawn from each deck, by who feints.

    Attributes:
        copies: int64 ``[n_decks, 5]``, the cards of each deck; ascending.
        n: int64 ``[n_decks, 4]``, how many different draws there are.
        own: int64 ``[n_decks, 4, 25]``, the kind that the own side draws, 5 for none.
        enemy: int64 ``[n_decks, 4, 25]``, the kind that the enemy draws.
        left: int64 ``[n_decks, 4, 25]``, the deck that is left.
        p: float64 ``[n_decks, 4, 25]``, the probability of each draw.
    """

    copies: np.ndarray
    n: np.ndarray
    own: np.ndarray
    enemy: np.ndarray
    left: np.ndarray
    p: np.ndarray


class Decks(NamedTuple):
    """The decks of the blocks of a layer, in lists by block and number of cards drawn.

    Attributes:
        ptr: int64 ``[n_blocks * n_drawn + 1]``, where each list begins.
        deck: int32 ``[n]``, decks, ascending in each list.
        block: int32 ``[n]``, the block of the states in which the enemy sees itself.
    """

    ptr: np.ndarray
    deck: np.ndarray
    block: np.ndarray


@routine
def find_deck(copies, deck):
    """The number of a deck, by bisection; that of the first deck behind it if it is none."""
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
def enter_draw(draws, number, feinters, own, enemy, deck, p):
    """Enter one draw, which leaves ``deck``."""
    i = draws.n[number, feinters]
    draws.own[number, feinters, i] = own
    draws.enemy[number, feinters, i] = enemy
    draws.left[number, feinters, i] = find_deck(draws.copies, deck)
    draws.p[number, feinters, i] = p
    draws.n[number, feinters] = i + 1


@kernel
def tabulate_draws(begin, end, draws):
    """List the draws from the given decks; ``draws.n`` must be 0."""
    deck = np.zeros(N_KINDS, dtype=np.int64)
    for number in range(begin, end):
        n_deck = 0
        for kind in range(N_KINDS):
            deck[kind] = draws.copies[number, kind]
            n_deck += deck[kind]
        enter_draw(draws, number, 0, N_KINDS, N_KINDS, deck, 1.0)
        for own in range(N_KINDS):
            if deck[own] == 0:
                continue
            p = deck[own] / n_deck
            deck[own] -= 1
            enter_draw(draws, number, 1, own, N_KINDS, deck, p)
            enter_draw(draws, number, 2, N_KINDS, own, deck, p)
            for enemy in range(N_KINDS):
                if deck[enemy] > 0:
                    both = p * deck[enemy] / (n_deck - 1)
                    deck[enemy] -= 1
                    enter_draw(draws, number, 3, own, enemy, deck, both)
                    deck[enemy] += 1
            deck[own] += 1


@routine
def list_decks(layout, places, layer, draws, block, room, decks, ptr):
    """List the decks of a block from ``ptr[0]`` on, or with an empty ``decks.deck`` only count them: ``ptr[drawn]``.

    A deck that leaves the enemy a hand in which it would see itself nowhere is none.
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
    """Room for `list_decks`."""
    digits = np.zeros(N_KINDS, dtype=np.int64)
    piles = np.zeros((3, N_KINDS), dtype=np.int64)
    return digits, piles, np.zeros(N_KINDS, dtype=np.int64), np.zeros(N_KINDS, dtype=np.int64)


@kernel
def count_decks(begin, end, layout, places, layer, draws, decks, counts):
    """``counts[block, drawn]`` becomes the number of decks for the given blocks; ``decks`` must be empty."""
    room = room_for_decks()
    for block in range(begin, end):
        list_decks(layout, places, layer, draws, block, room, decks, counts[block])


@kernel
def fill_decks(begin, end, layout, places, layer, draws, decks):
    """List the decks of the given blocks."""
    room = room_for_decks()
    n_drawn = 2 * layout.feints + 1
    for block in range(begin, end):
        list_decks(layout, places, layer, draws, block, room, decks, decks.ptr[block * n_drawn : (block + 1) * n_drawn])

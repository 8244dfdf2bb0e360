"""Deals at the beginning of a game or after a measure.

A deal consists of a deck and a block of information states in the first breath. Deals are numbered by block, then by
deck. Deals depend only on cards, so they can be listed before the graph of the game is built.
"""

from itertools import product
from typing import NamedTuple

import numpy as np

from punish_fast.duel import _decks, _graph, _simulator
from punish_fast.duel._decks import MOST_DRAWS, N_FEINTS, Decks, Draws
from punish_fast.duel.breath import CARD
from punish_fast.punish._multisets import N_KINDS
from punish_fast.punish.clash import NOTHING
from punish_fast.punish.codes import Layout, join_pairs
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.information import list_counts
from punish_fast.punish.states.space import StateSpace, empty_space
from punish_fast.runtime.compilation.kernel_files import KernelGroup
from punish_fast.runtime.parallel import cumulated, for_chunks, for_each


class Dealt(NamedTuple):
    """Dealt cards. Each array contains five card counts, int64 ``[5]``."""

    own: np.ndarray
    enemy: np.ndarray
    revealed: np.ndarray  # New discard pile
    deck: int  # Index of the deck in `Draws.copies`


class Dealer:
    """Lists or samples the possible deals after two kept hands."""

    def __init__(self, space: StateSpace, draws: Draws | None = None, decks: Decks | None = None) -> None:
        """Number the deals. By default, compute the ``draws`` from all decks and the ``decks`` of the first breath."""
        self.space = space
        self.draws = tabulate_draws(space.layout) if draws is None else draws
        self._decks = list_decks(space, self.draws, 0) if decks is None else decks
        self._n_drawn = 2 * space.layout.feints + 1
        # int64 ``[n_blocks + 1]``, first deal of each block in the first breath
        self.deal_ptr = cumulated(np.diff(self._decks.ptr)[:: self._n_drawn])

    def deals(self, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """List the possible deals after each pair of kept hands, int64 ``[n, 2, 5]``.

        Return the offset of each pair's deals, int64 ``[n + 1]``, the deal numbers, int32, and the probabilities of the
        deals, float64.
        """
        layer = self.space.layers[0]
        counts = np.zeros(len(kept), dtype=np.int64)
        nothing = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0))
        cards_of_view = join_pairs(self.space.layout, *layer.piles.astype(np.int64).transpose(1, 0, 2))
        args = (self.space.layout, layer, cards_of_view, self.draws.copies, self._decks, self.deal_ptr, kept)
        for_each(_graph.list_deals, len(kept), *args, (counts, *nothing))
        ptr = cumulated(counts)
        deal, p = np.empty(ptr[-1], dtype=np.int32), np.empty(ptr[-1])
        for_chunks(_graph.list_deals, ptr, *args, (counts[:0], ptr, deal, p))
        return ptr, deal, p

    def draw(self, kept: np.ndarray, numbers: tuple[int, int, np.uint64]) -> Dealt:
        """Draw a deal after two kept hands, int64 ``[2, 5]``.

        ``numbers`` contains the game number, the number of past breaths, and the random seed.
        """
        ptr, deal, p = self.deals(kept[np.newaxis])
        until, guide = np.empty(len(p)), np.empty(len(p), dtype=np.int32)
        _simulator.guide_deals(0, 1, ptr, p, until, guide)
        number = int(deal[_simulator.draw_deal(numbers, ptr, until, guide)])
        block = int(np.searchsorted(self.deal_ptr, number, side="right")) - 1
        deck = int(self._decks.deck[self._decks.ptr[block * self._n_drawn] + number - self.deal_ptr[block]])
        own, revealed = self.space.layers[0].piles[block].astype(np.int64)
        return Dealt(own, self.space.layout.copies - own - revealed - self.draws.copies[deck], revealed, deck)


def tabulate_draws(layout: Layout) -> _decks.Draws:
    """Tabulate all decks and all draws from each deck."""
    copies = list_counts(np.minimum(layout.copies, layout.deck_size))
    size = copies.sum(axis=1)
    is_deck = (size >= layout.deck_size - 2 * layout.feints) & (size <= layout.deck_size)
    copies, size, weight = copies[is_deck], size[is_deck], 10 ** np.arange(N_KINDS)[::-1]
    codes = copies @ weight
    n = np.zeros((len(copies), N_FEINTS), dtype=np.int64)
    table = np.zeros((*n.shape, MOST_DRAWS), dtype=np.int64)
    draws = _decks.Draws(copies, n, table, table.copy(), table.copy(), np.zeros(table.shape))
    for own, enemy in product((NOTHING, *range(N_KINDS)), repeat=2):
        feints, drawn = (own != NOTHING) + 2 * (enemy != NOTHING), CARD[own] + CARD[enemy]
        deck = np.flatnonzero((copies >= drawn).all(axis=1))
        place = deck, feints, n[deck, feints]
        draws.own[place], draws.enemy[place] = own, enemy
        draws.left[place] = np.searchsorted(codes, codes[deck] - drawn @ weight)
        p = np.ones(len(deck)) if own == NOTHING else copies[deck, own] / size[deck]
        if enemy != NOTHING:
            p = p * (copies[deck, enemy] - (own == enemy)) / (size[deck] - (own != NOTHING))
        draws.p[place] = p
        n[deck, feints] += 1
    return draws


def cumulate_draws(draws: _decks.Draws) -> np.ndarray:
    """Return the cumulative probabilities of draws for feints, an argument of `_simulator.find_draw`."""
    return np.cumsum(draws.p, axis=2)


def list_decks(space: StateSpace, draws: _decks.Draws, number: int) -> _decks.Decks:
    """List the possible decks for each block in layer ``number``."""
    layout, layer = space.layout, space.layers[number]
    n_blocks = len(layer.cards)
    counts = np.zeros((n_blocks, 2 * layout.feints + 1), dtype=np.int64)
    nothing = np.zeros(0, dtype=np.int32)
    args = (layout, space.places, layer, draws)
    for_each(_decks.count_decks, n_blocks, *args, _decks.Decks(counts.ravel(), nothing, nothing), counts)
    ptr = cumulated(counts.ravel())
    decks = _decks.Decks(ptr, np.empty(ptr[-1], dtype=np.int32), np.empty(ptr[-1], dtype=np.int32))
    for_each(_decks.fill_decks, n_blocks, *args, decks)
    return decks


def compile_deals() -> None:
    """Compile the kernels that list decks and deals."""
    Dealer(empty_space(true_rules(PRESETS["tiny"]))).deals(np.zeros((0, 2, 5), dtype=np.int64))


DEALS = KernelGroup(compile_deals, (_decks.count_decks, _decks.fill_decks, _graph.list_deals))

"""The decks of a game and the draws of feints from them; see ``_decks.py``."""

from __future__ import annotations

import numpy as np

from punish_fast.duel import _decks, _simulator
from punish_fast.duel._decks import MOST_DRAWS, N_FEINTS
from punish_fast.punish.codes import Layout
from punish_fast.punish.states.space import StateSpace
from punish_fast.runtime.parallel import cumulated, for_each


def tabulate_draws(layout: Layout) -> _decks.Draws:
    """All decks, and the draws from them."""
    sizes = range(max(0, layout.deck_size - 2 * layout.feints), layout.deck_size + 1)
    decks = [deck for deck in np.ndindex(*(np.minimum(layout.copies, layout.deck_size) + 1)) if sum(deck) in sizes]
    copies = np.array(decks, dtype=np.int64)
    shape = (len(copies), N_FEINTS)
    table = np.zeros((*shape, MOST_DRAWS), dtype=np.int64)
    draws = _decks.Draws(
        copies, np.zeros(shape, dtype=np.int64), table, table.copy(), table.copy(), np.zeros(table.shape)
    )
    for_each(_decks.tabulate_draws, len(copies), draws)
    return draws


def cumulate_draws(draws: _decks.Draws) -> np.ndarray:
    """Cumulated probabilities of the draws of feints, for `_simulator.find_draw`."""
    until = np.zeros(draws.p.shape)
    for_each(_simulator.cumulate_draws, len(draws.n), draws.n, draws.p, until)
    return until


def list_decks(space: StateSpace, draws: _decks.Draws, number: int) -> _decks.Decks:
    """The decks of the blocks of the breath of layer ``number``."""
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

"""Beliefs at the beginning of a measure, given the enemy's kept hand.

Let the enemy have kept the hand ``k`` over the redeal, and let ``u`` be the cards that the player does not see after
it. The deck ``d`` is drawn from ``u - k`` and the enemy holds the rest, so there are as many equally likely ways to
``d`` as the product of ``C(u_i - k_i, d_i)``. The own kept hand and earlier measures add nothing: there is one
belief for each information state of the first breath and kept hand.
"""

from __future__ import annotations

import numpy as np

from punish_fast.duel._decks import deck_ways
from punish_fast.punish._multisets import N_KINDS
from punish_fast.punish.states._space import open_block
from punish_fast.runtime._jit import kernel


@kernel
def believe_kept(begin, end, layout, layer, full, copies, kept, beliefs):
    """Probabilities of the decks of the given blocks after the kept hand ``kept[k]``: ``beliefs[block, k]``.

    They are 0 if this hand cannot have been kept. ``copies`` holds the cards of every deck.
    """
    piles, rest = np.zeros((3, N_KINDS), dtype=np.int64), np.zeros(N_KINDS, dtype=np.int64)
    for block in range(begin, end):
        open_block(layout, layer, block, piles)
        row = layer.first[block]
        for k in range(len(kept)):
            for kind in range(N_KINDS):
                rest[kind] = piles[2, kind] - kept[k, kind]
            total = 0.0
            for number in range(full.ptr[row], full.ptr[row + 1]):
                ways = deck_ways(rest, copies[full.deck[number]])
                beliefs[block, k, number - full.ptr[row]] = ways
                total += ways
            for i in range(full.ptr[row + 1] - full.ptr[row]):
                beliefs[block, k, i] = beliefs[block, k, i] / total if total > 0.0 else 0.0


@kernel
def back_up_kept(begin, end, redeal, kept_of, row_of, values, out):
    """Values of the given nodes, from those of the deals that follow and the hand that the enemy has kept.

    ``kept_of`` is the kept hand of each pair, ``row_of`` the information state of each deal with the first status of
    its block, and ``values[k, row]`` the value of an information state after the kept hand ``k``.
    """
    for node in range(begin, end):
        pair, status = redeal.node_pair[node], redeal.node_status[node]
        mean = 0.0
        for place in range(redeal.ptr[pair], redeal.ptr[pair + 1]):
            mean += redeal.p[place] * values[kept_of[pair], row_of[redeal.deal[place]] + status]
        out[node] = mean

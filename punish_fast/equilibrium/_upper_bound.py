"""Beliefs at the beginning of a measure if the hand is known that the enemy has kept.

Let the enemy have kept the hand ``k`` over the redeal, and let ``u`` be the cards that a player does not see after it.
The deck ``d`` is then drawn from ``u - k``, and the enemy holds the rest: ``d`` comes about in as many equally likely
ways as the product of ``C(u_i - k_i, d_i)`` says. What the player itself has kept, and how the measures before were
played, says nothing more. So there are as many such beliefs as information states of the first breath and hands that
the enemy may have kept.
"""

from __future__ import annotations

import numpy as np

from punish_fast.punish._multisets import BINOMIAL, N_KINDS
from punish_fast.punish._space import open_block
from punish_fast.runtime._jit import kernel


@kernel
def believe_kept(begin, end, layout, layer, full, copies, kept, beliefs):
    """``beliefs[block, k]`` becomes the probabilities of the decks of the given blocks after the kept hand ``kept[k]``.

    They are 0 if this hand cannot have been kept. ``copies`` are the cards of every deck.
    """
    piles = np.zeros((3, N_KINDS), dtype=np.int64)
    for block in range(begin, end):
        open_block(layout, layer, block, piles)
        row = layer.first[block]
        for k in range(len(kept)):
            total = 0.0
            for number in range(full.ptr[row], full.ptr[row + 1]):
                ways = 1.0
                for kind in range(N_KINDS):
                    left = piles[2, kind] - kept[k, kind]
                    drawn = copies[full.deck[number], kind]
                    ways *= BINOMIAL[left, drawn] if left >= drawn else 0.0
                beliefs[block, k, number - full.ptr[row]] = ways
                total += ways
            for i in range(full.ptr[row + 1] - full.ptr[row]):
                beliefs[block, k, i] = beliefs[block, k, i] / total if total > 0.0 else 0.0


@kernel
def back_up_kept(begin, end, redeal, kept_of, row_of, values, out):
    """Values of the given nodes, from those of the deals that follow and the hand that the enemy has kept.

    ``kept_of`` is the kept hand of each pair, ``row_of`` the information state of each deal with the first status of
    its block, and ``values[k, row]`` what the kept hand ``k`` is worth in an information state.
    """
    for node in range(begin, end):
        pair, status = redeal.node_pair[node], redeal.node_status[node]
        mean = 0.0
        for place in range(redeal.ptr[pair], redeal.ptr[pair + 1]):
            mean += redeal.p[place] * values[kept_of[pair], row_of[redeal.deal[place]] + status]
        out[node] = mean

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.duel.graph import Graph
from punish_fast.equilibrium import _upper_bound
from punish_fast.punish.codes import split_pairs
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.runtime.parallel import for_each


@pytest.mark.parametrize("name", ["view", "memory"])
def test_beliefs_about_kept_hands_follow_from_all_redeals(name):
    graph = Graph(StateSpace(PRESETS["tiny"], name))
    space, redeal, layer = graph.space, graph.redeal, graph.space.layers[0]
    _, kept = split_pairs(space.layout, redeal.pair)
    beliefs = np.zeros((len(layer.cards), len(kept), graph.most_decks))
    args = (space.layout, layer, graph.full, graph.draws.copies, kept, beliefs)
    for_each(_upper_bound.believe_kept, len(layer.cards), *args)
    rows = np.searchsorted(graph.full.ptr, redeal.first, side="right") - 1
    block_of = {row: block for block, row in enumerate(layer.first[:-1].tolist())}
    for pair in range(len(kept)):
        expected = np.zeros((len(layer.cards), graph.most_decks))
        for k in range(*redeal.ptr[pair : pair + 2]):
            deal = redeal.deal[k]
            row = int(rows[deal])
            expected[block_of[row], redeal.first[deal] - graph.full.ptr[row]] = redeal.p[k]
        dealt = expected.sum(axis=1) > 0
        expected[dealt] /= expected[dealt].sum(axis=1, keepdims=True)
        assert beliefs[dealt, pair] == pytest.approx(expected[dealt], abs=1e-14)

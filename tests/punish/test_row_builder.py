from __future__ import annotations

import numpy as np
from houses import house_rules
from hypothesis import given, settings
from hypothesis import strategies as st
from policies import mixed

from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.row_builder import BlockRange, RowBuilder
from punish_fast.punish.transitions.tensor import build_compact


@given(house_rules(), st.booleans(), st.data())
@settings(max_examples=15)
def test_rows_are_those_of_the_compact_tensor_in_any_order(rules, is_uniform, data):
    space = StateSpace(rules)
    policy = None if is_uniform else mixed(space, 3)
    builder, mdp = RowBuilder(space, policy), build_compact(space, policy)
    for _ in range(4):
        # A layer may have no states.
        layer = data.draw(st.sampled_from([k for k, layer in enumerate(space.layers) if len(layer.first) > 1]))
        n_blocks = len(space.layers[layer].first) - 1
        begin = data.draw(st.integers(0, n_blocks - 1))
        blocks = BlockRange(layer, begin, data.draw(st.integers(begin + 1, n_blocks)))
        states, rows, made = builder.make(blocks)
        assert (states, rows) == builder.places(blocks)
        assert slice(*mdp.state_ptr[[states.start, states.stop]]) == rows
        assert np.array_equal(made.reward, mdp.reward[rows])
        first, last = mdp.indptr[[rows.start, rows.stop]]
        assert np.array_equal(made.indptr, mdp.indptr[rows.start : rows.stop + 1] - first)
        assert np.array_equal(made.indices, mdp.indices[first:last])
        for row, length in enumerate(np.diff(made.indptr)):
            own, stored = made.data_ptr[row], mdp.data_ptr[rows.start + row]
            assert np.array_equal(made.data[own : own + length], mdp.data[stored : stored + length])

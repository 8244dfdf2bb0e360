from __future__ import annotations

import numpy as np
import pytest
from policies import mixed

from punish_fast.punish.transitions._tensor import TensorRows
from punish_fast.punish.transitions.row_builder import RowBuilder, RowCounts, count_rows
from punish_fast.punish.transitions.tensor import build_compact


@pytest.mark.parametrize("is_uniform", [True, False])
def test_blocks_have_the_rows_of_the_tensor_from_any_row_on(tiny, is_uniform):
    policy = None if is_uniform else mixed(tiny, 1)
    mdp, builder = build_compact(tiny, policy), RowBuilder(tiny, policy)
    for number, layer in enumerate(tiny.layers):
        begin, end = len(layer.cards) // 3, len(layer.cards) // 2 + 1
        first, last = tiny.state_ptr[layer.first[[begin, end]]].tolist()
        length, owner = np.zeros((2, last - first), dtype=np.int64)
        count_rows(begin, end, tiny, number, RowCounts(first, length, owner))
        assert np.array_equal(length, np.diff(mdp.indptr[first : last + 1]))
        assert (owner <= np.arange(last - first)).all()
        entries = slice(*mdp.indptr[[first, last]])
        indptr, indices = mdp.indptr[first : last + 1] - entries.start, np.zeros_like(mdp.indices[entries])
        data, reward = np.zeros(len(indices)), np.zeros(last - first)
        builder.fill(begin, end, number, TensorRows(tiny.state_ptr, indptr, indices, indptr, data, reward, first))
        assert np.array_equal(indices, mdp.indices[entries])
        shift = np.repeat(mdp.data_ptr[first:last] - indptr[:-1], length)
        assert np.array_equal(data, mdp.data[np.arange(len(data)) + shift])
        assert np.array_equal(reward, mdp.reward[first:last])

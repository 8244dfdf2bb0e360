from __future__ import annotations

import numpy as np
import pytest

from punish_fast.punish.transitions import row_batches
from punish_fast.punish.transitions.row_backups import RowArrays
from punish_fast.punish.transitions.row_batches import RowBatches
from punish_fast.punish.transitions.tensor import build_compact


@pytest.mark.parametrize("n_entries", [1, 200, 1 << 18])
def test_batches_go_through_all_rows_once(tiny, monkeypatch, n_entries):
    monkeypatch.setattr(row_batches, "_BATCH", n_entries)
    mdp, batches = build_compact(tiny), RowBatches(tiny)
    is_made, sizes = np.zeros(mdp.n_rows), []

    def look(made, arrays):
        states, rows, tensor = made
        assert (mdp.state_ptr[states.start], mdp.state_ptr[states.stop]) == (rows.start, rows.stop)
        begin, end = mdp.indptr[[rows.start, rows.stop]]
        assert np.array_equal(tensor.indices, mdp.indices[begin:end])
        assert np.array_equal(np.diff(tensor.indptr), np.diff(mdp.indptr[rows.start : rows.stop + 1]))
        arrays.q[:] += 1
        return end - begin

    for layer in range(len(tiny.layers)):
        sizes += batches.map_blocks(look, layer, RowArrays(q=is_made))
    assert (is_made == 1).all()
    assert (len(sizes) == len(tiny.layers)) == (n_entries == 1 << 18)
    assert batches.nbytes >= 12 * max(sizes)
    assert batches.n_entries == mdp.n_entries == sum(sizes)
    assert [int(n.sum()) for n in batches.n_entries_of] == [
        int(np.diff(mdp.indptr[mdp.state_ptr[mdp.layer_ptr[layer : layer + 2]]])[0]) for layer in range(mdp.n_layers)
    ]
    assert batches.n_probabilities == len(mdp.data)

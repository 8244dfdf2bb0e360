"""Offsets of walks over full states, and prefetch hints."""

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.duel._walk import action_shape, open_full, open_row, prefetch_enemy, prefetch_value, skip_actions

pytestmark = pytest.mark.kernels

STATE_PTR = np.array([0, 2, 5, 6, 10])


def test_successors_are_ordered_by_own_row_enemy_row_and_draw(graph):
    full, draws, ptr, action = graph.full, graph.draws, graph.state_ptr, graph.action
    states = np.repeat(np.arange(len(full.ptr) - 1), np.diff(full.ptr))
    ends = np.append(full.entry[1:], len(full.after))
    for number in np.random.default_rng(1).integers(graph.n_full, size=40):
        entry, (deck, first, last) = open_full(full, ptr, number)
        own_first, n_own, may_feint = action_shape(ptr, action, states[number])
        _, n_enemy, enemy_may_feint = action_shape(ptr, action, full.enemy_row[number])
        assert (last - first, deck) == (n_enemy, full.deck[number])
        for own in range(n_own):
            assert open_row(full, draws, ptr, action, number, own, may_feint)[0] == entry
            for enemy in range(n_enemy):
                skipped = skip_actions(own, may_feint, enemy, n_enemy, enemy_may_feint, draws.n, full.deck[number])
                feints = int(action[own_first + own] & 1) + 2 * int(action[int(first) + enemy] & 1)
                assert skipped == (int(entry) - int(full.entry[number]), feints)
                entry += draws.n[deck, feints]
        assert entry == ends[number]


@pytest.mark.parametrize(("number", "row"), [(0, 6), (1, 0), (11, 2), (12, 5), (19, 5)])
def test_the_enemy_of_a_later_full_state_is_prefetched(graph, number, row):
    enemy_row = np.array([0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2], dtype=np.int32)
    full = graph.full._replace(enemy_row=enemy_row)
    assert prefetch_enemy(full, STATE_PTR, np.zeros(10, dtype=np.uint8), np.ones(10), np.uint64(number)) == row


def test_prefetching_changes_no_value():
    after, v = np.arange(128, dtype=np.int32), np.arange(256.0).reshape(128, 2)
    for entry in (0, 63, 64, 127):
        prefetch_value(after, v, np.uint64(2), np.uint64(entry))
    assert np.array_equal(after, np.arange(128))
    assert np.array_equal(v.ravel(), np.arange(256.0))

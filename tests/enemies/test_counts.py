from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.enemies.counts import FoldsError, count_choices, folds_of
from punish_fast.punish.codes import ACTIONS, decimals_of
from punish_fast.punish.strategy import legal_mask


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 10)), max_size=60))
def test_every_choice_is_counted_or_left_out(space, choices):
    rows = np.array([row for row, _ in choices], dtype=np.int64) * 18
    actions = np.array([ACTIONS[column] for _, column in choices], dtype=np.uint8)
    counts = count_choices(space, decimals_of(space, rows), actions)
    assert counts.count.sum() + counts.n_illegal == len(choices)
    assert counts.n_unknown == 0
    assert counts.state.tolist() == sorted(set(rows.tolist()))
    assert np.array_equal(counts.legal, legal_mask(space)[counts.state])
    for state, count in zip(counts.state, counts.count, strict=True):
        chosen = [ACTIONS.index(action) for row, action in zip(rows, actions, strict=True) if row == state]
        legal = legal_mask(space)[state]
        assert count.tolist() == [chosen.count(column) * legal[column] for column in range(11)]


@pytest.mark.parametrize("action", [0, 12, 91, 266, -246, 10**12])
def test_what_is_no_action_is_illegal(space, action):
    counts = count_choices(space, decimals_of(space, np.array([558 - 1])), [action])
    assert (counts.n_illegal, counts.n_unknown, counts.count.sum()) == (1, 0, 0)
    assert counts.state.tolist() == [557]


def test_states_that_no_game_reaches_are_unknown(space):
    decimal = int(decimals_of(space, np.array([0]))[0])
    counts = count_choices(space, [decimal, -1, -2, 0, 999999999999999999], [space.action[0], 90, 90, 20, 20])
    assert (counts.n_illegal, counts.n_unknown, len(counts.state)) == (0, 4, 1)


@given(st.lists(st.integers(0, 20), min_size=2, max_size=60), st.integers(0, 5), st.integers(2, 7))
def test_groups_stay_whole_and_folds_even(group, seed, n_folds):
    n_groups = len(set(group))
    if n_groups < n_folds:
        with pytest.raises(
            FoldsError,
            match=f"^folds: {n_folds} is not allowed, it needs at least {n_folds} groups; there are {n_groups}",
        ):
            folds_of(np.array(group), n_folds, seed)
        return
    fold = folds_of(np.array(group), n_folds, seed)
    pairs = set(zip(group, fold.tolist(), strict=True))
    assert len(pairs) == n_groups
    sizes = np.bincount([number for _, number in pairs], minlength=n_folds)
    assert len(sizes) == n_folds
    assert sizes.max() - sizes.min() <= 1


def test_the_deal_follows_from_the_seed_and_not_from_the_order():
    group = np.arange(40)
    fold = folds_of(group, 4, seed=7)
    assert np.array_equal(fold, folds_of(group, 4, seed=7))
    assert not np.array_equal(fold, folds_of(group, 4, seed=8))
    assert np.array_equal(fold[::-1], folds_of(group[::-1], 4, seed=7))


def test_too_few_folds_are_refused(n_folds=1):
    with pytest.raises(FoldsError, match=rf"^folds: {n_folds} is not allowed, it must be at least 2$"):
        folds_of(np.arange(3), n_folds)

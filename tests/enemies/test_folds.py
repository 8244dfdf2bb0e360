from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.enemies.counts import FoldsError, folds_of


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


@pytest.mark.parametrize("n_folds", [-1, 0, 1])
def test_too_few_folds_are_refused(n_folds):
    with pytest.raises(FoldsError, match=rf"^folds: {n_folds} is not allowed, it must be at least 2$"):
        folds_of(np.arange(3), n_folds)


@pytest.mark.parametrize(("needed", "least"), [(0, 4), (7, 7)])
def test_too_few_groups_are_counted(needed, least):
    with pytest.raises(FoldsError, match=rf"^folds: 4 is not allowed, it needs at least {least} games; there are 3$"):
        folds_of(np.arange(3), 4, groups="games", needed=needed)


def test_negative_seeds_are_refused():
    with pytest.raises(FoldsError, match=r"^seed: -1 is not allowed"):
        folds_of(np.arange(3), 2, seed=-1)

"""Folds for cross-validation: a random, even split of groups that never divides a group."""

from __future__ import annotations

import numpy as np


class FoldsError(ValueError):
    """An impossible number of folds; the message says what is allowed."""


def folds_of(group: np.ndarray, n_folds: int, seed: int = 0) -> np.ndarray:
    """The fold of each item, int64 ``[n]``, from 0 to ``n_folds - 1``.

    Args:
        group: ``[n]``, the group of each item; items of one group share a fold.
        n_folds: From 2 to the number of groups.
        seed: Random seed; the order of the items does not matter.

    Raises:
        FoldsError: too few or too many folds, or a negative seed.
    """
    if seed < 0:
        raise FoldsError(f"seed: {seed} is not allowed, it must be at least 0")
    groups, place = np.unique(group, return_inverse=True)
    if not 2 <= n_folds <= len(groups):
        raise FoldsError(
            f"folds: {n_folds} is not allowed, it must be at least 2 and at most {len(groups)}, the number of groups"
        )
    fold = np.random.default_rng(seed).permutation(len(groups)) % n_folds
    return np.asarray(fold[place])

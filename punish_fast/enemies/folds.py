"""Folds for cross-validation: a random, even split of groups that never divides a group."""

from __future__ import annotations

import numpy as np

from punish_fast.runtime.errors import PunishFastError


class FoldsError(PunishFastError, ValueError):
    """An impossible number of folds; the message says what is allowed."""


def require_folds(n_folds: int) -> None:
    """Check that there are at least two folds."""
    if n_folds < 2:
        raise FoldsError(f"folds: {n_folds} is not allowed, it must be at least 2")


def folds_of(group: np.ndarray, n_folds: int, seed: int = 0, groups: str = "groups", needed: int = 0) -> np.ndarray:
    """Return the fold of each item, int64 ``[n]``, from 0 to ``n_folds - 1``.

    Args:
        group: ``[n]``, the group of each item; items of one group share a fold.
        n_folds: From 2 to the number of groups.
        seed: Random seed; the order of the items does not matter.
        groups: Name of the groups in messages.
        needed: Smallest number of groups, if it is above ``n_folds``.
    """
    if seed < 0:
        raise FoldsError(f"seed: {seed} is not allowed, it must be at least 0")
    found, place = np.unique(group, return_inverse=True)
    require_folds(n_folds)
    needed = max(needed, n_folds)
    if len(found) < needed:
        raise FoldsError(
            f"folds: {n_folds} is not allowed, it needs at least {needed} {groups}; there are {len(found)}"
        )
    fold = np.random.default_rng(seed).permutation(len(found)) % n_folds
    return np.asarray(fold[place])

"""Recorded choices as counts of actions by state, and folds of games for cross-validation.

Records can contain illegal choices and unreachable states, because the programs that wrote them had bugs. An illegal
choice is not counted, but its state counts as seen. Choices in unreachable states are ignored.
"""

from dataclasses import dataclass

import numpy as np

from punish_fast.punish.codes import ACTIONS, indices_of
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import COLUMN, legal_mask
from punish_fast.runtime.errors import PunishFastError, check_allowed


@dataclass(frozen=True)
class Counts:
    """Counts of recorded choices, by state and action.

    Columns stand for the actions 10, 11, 20, 21, 30, 31, 40, 41, 50, 51, 90.

    Attributes:
        state: int64 ``[k]``, indices of the states that were seen, ascending.
        legal: bool ``[k, 11]``, True if the action is legal in the state.
        count: int64 ``[k, 11]``, how often each action was chosen, 0 for illegal actions.
        n_illegal: Number of choices that were omitted because they are illegal in their state.
        n_unknown: Number of choices that were omitted because their state is unreachable.
    """

    state: np.ndarray
    legal: np.ndarray
    count: np.ndarray
    n_illegal: int
    n_unknown: int


def locate_choices(space: StateSpace, decimals: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the state index of each choice and the column of its action in a table, both int64 ``[n]``.

    The index of an unreachable state is -1. The column is -1 if the choice is illegal or its state is unreachable.

    Args:
        space: The states of the game.
        decimals: int64 ``[n]``, decimal codes of the states.
        actions: ``[n]``, two-digit codes of the actions.
    """
    decimals, actions = np.asarray(decimals, dtype=np.int64), np.asarray(actions, dtype=np.int64)
    state = indices_of(space, decimals)
    column = np.where((actions >= 0) & (actions < len(COLUMN)), COLUMN[actions % len(COLUMN)], -1)
    return state, np.where((state >= 0) & (column >= 0) & legal_mask(space)[state, column], column, -1)


def count_choices(space: StateSpace, decimals: np.ndarray, actions: np.ndarray) -> Counts:
    """Count recorded choices by state and action.

    Args:
        space: States of the game, under the information model ``memoryless``.
        decimals: int64 ``[n]``, decimal code of each choice's state.
        actions: int ``[n]``, two-digit code of each choice's action.

    Returns:
        The counts. Illegal choices and unreachable states are left out and counted separately.

    Examples:
        >>> from punish_fast import StateSpace, count_choices, load_rules
        >>> space = StateSpace(load_rules("tiny"))
        >>> counts = count_choices(space, [100011200220000010] * 3, [40, 40, 10])
        >>> counts.state.tolist(), counts.count.tolist(), counts.n_illegal
        ([0], [[0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]], 1)
    """
    return count_located(space, *locate_choices(space, decimals, actions))


def count_located(space: StateSpace, state: np.ndarray, column: np.ndarray) -> Counts:
    """Count choices, given their states and columns from `locate_choices`, both int64 ``[n]``."""
    is_known = state >= 0
    found, place = np.unique(state[is_known], return_inverse=True)
    column = column[is_known]
    allowed = column >= 0
    count = np.zeros((len(found), len(ACTIONS)), dtype=np.int64)
    np.add.at(count, (place[allowed], column[allowed]), 1)
    n_known = len(column)
    return Counts(found, legal_mask(space)[found], count, n_known - int(allowed.sum()), len(state) - n_known)


class FoldsError(PunishFastError, ValueError):
    """Raised when the number of folds is below 2, or there are too few groups for the folds."""


def require_folds(n_folds: int) -> None:
    """Check that there are at least two folds."""
    check_allowed(n_folds >= 2, FoldsError, "folds", n_folds, "at least 2")


def folds_of(group: np.ndarray, n_folds: int, seed: int = 0, groups: str = "groups", needed: int = 0) -> np.ndarray:
    """Return the fold of each item, int64 ``[n]``, from 0 to ``n_folds - 1``.

    Args:
        group: ``[n]``, the group of each item. Items of the same group share a fold.
        n_folds: From 2 to the number of groups.
        seed: Random seed. The fold of a group does not depend on the order of the items.
        groups: Name of the groups in error messages.
        needed: Minimum number of groups, if it is greater than ``n_folds``.
    """
    found, place = np.unique(group, return_inverse=True)
    require_folds(n_folds)
    needed = max(needed, n_folds)
    if len(found) < needed:
        raise FoldsError(
            f"folds: {n_folds} is not allowed; it needs at least {needed} {groups}, but there are {len(found)}"
        )
    fold = np.random.default_rng(seed).permutation(len(found)) % n_folds
    return np.asarray(fold[place])

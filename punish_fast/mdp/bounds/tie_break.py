"""Tie-breaking in favour of the first row, provided that the policy provably attains the values; see ``policy.py``."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from punish_fast.mdp.bounds.stopping_rule import SolveError
from punish_fast.mdp.graph.row_selection import select_rows, states_of_rows
from punish_fast.mdp.methods.exact_iteration import Exact
from punish_fast.mdp.model import MDP
from punish_fast.mdp.policy import TIE, preferring

# Largest difference that rounding causes between equal values, as a share of the largest value.
_ROUNDING = 1e-15
# Permitted loss from taking tied rows, in multiples of the error bound; rational arithmetic bounds the optimal values,
# but not always the values of the policy.
_MOST_BOUNDS = 4


class TieBreak(NamedTuple):
    """Functions that choose the first of tied rows and evaluate the policy that takes them."""

    # Returns a policy, int64 ``[n_states]``, given a mask of tied rows, bool ``[n_rows]``
    first: Callable[[np.ndarray], np.ndarray]
    # Returns the values of a chain; returns None or raises `SolveError` if none are proved
    evaluate: Callable[[MDP], Exact | None]


def settle_ties(
    mdp: MDP, q: np.ndarray, found: Exact, tolerance: float, break_ties: TieBreak, scale: float = 0.0
) -> tuple[Exact, np.ndarray]:
    """Take the first of tied rows if the proved loss is within the tolerance or four times the error bound.

    Rows tie as in ``policy.py`` or, if the policy then loses too much, if they are within 1e-15 of the largest value.

    Args:
        tolerance: Allowed difference between the values and those earned by the policy.
        scale: Lower bound on the largest absolute value.

    Returns:
        Values and policy, and row values, float64 ``[n_rows]``, for which the policy takes the first best row of each
        state.
    """
    least, n = found.v[states_of_rows(mdp)], mdp.n_states
    largest = max(float(np.abs(found.v).max(initial=0)), scale, np.finfo(np.float64).tiny)
    for tie in (TIE * largest, _ROUNDING * largest):
        first = break_ties.first(q >= least - tie)
        if np.array_equal(first, found.choice):
            break
        selection = select_rows(mdp, first, np.arange(mdp.n_columns, dtype=np.int32))
        rows = {"state_ptr": np.arange(n + 1), "reward": mdp.reward[first], "action": mdp.action[first]}
        try:
            earned = break_ties.evaluate(replace(mdp, **rows, **selection._asdict()))
        except SolveError:
            continue
        if earned is not None:
            loss = float(np.nextafter((found.v - earned.v).max(initial=0) + earned.error_bound, np.inf))
            if loss <= max(tolerance, _MOST_BOUNDS * found.error_bound):
                found = replace(found, choice=first, error_bound=max(found.error_bound, loss))
                break
    return found, preferring(mdp.state_ptr, q, found.choice, found.v)

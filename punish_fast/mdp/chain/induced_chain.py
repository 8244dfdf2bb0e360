"""Evaluation of a policy by its Markov chain, with bounds on the rounding errors of the chain's rewards."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.process import UNIT_ROUNDOFF
from punish_fast.mdp.model.results import bracketed_by, row_probabilities, rows_of
from punish_fast.mdp.model.solution import BoundedValues

Result = TypeVar("Result", bound=BoundedValues)


def reward_rounding(mdp: MDP, policy: np.ndarray) -> np.ndarray:
    """Return bounds on the rounding errors of the rewards of the chain of a policy, float64 ``[n_states]``."""
    policy, begins = row_probabilities(mdp, policy), mdp.state_ptr[:-1]
    terms = np.add.reduceat(policy * np.abs(mdp.reward), begins)
    is_mixed = np.logical_or.reduceat((policy > 0) & (policy != 1), begins)
    return np.where(is_mixed, (np.diff(mdp.state_ptr) + 4) * UNIT_ROUNDOFF * terms, 0.0)


def evaluated(mdp: MDP, policy: Any, solve: Callable[[MDP], Result]) -> Result:
    """Solve the chain of a policy. The bounds include rounding errors of the chain's rewards.

    Their effect on a value is at most the value of the same chain with bounds on the rounding errors as rewards.
    """
    chain, rounding = mdp.under(policy), reward_rounding(mdp, policy)
    found = replace(solve(chain), rows=rows_of(mdp, policy))
    if not rounding.any():
        return found
    paid = replace(chain, reward=rounding, terminal_reward=0 * chain.terminal_reward, terminal_value=None)
    effects = solve(paid).upper
    error = float(effects[np.isfinite(effects)].max(initial=0))
    lower, upper = bracketed_by(found.lower, error)[0], bracketed_by(found.upper, error)[1]
    return replace(found, lower=lower, upper=upper, error_bound=found.error_bound + error)

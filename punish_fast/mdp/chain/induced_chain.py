"""Evaluation of a policy by its Markov chain, with bounds on the rounding errors of the chain's rewards."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.process import UNIT_ROUNDOFF
from punish_fast.mdp.model.results import row_probabilities, rows_of

Result = TypeVar("Result")


def reward_rounding(mdp: MDP, policy: np.ndarray) -> np.ndarray:
    """Return bounds on the rounding errors of the rewards of the chain of a policy, float64 ``[n_states]``."""
    policy, begins = row_probabilities(mdp, policy), mdp.state_ptr[:-1]
    terms = np.add.reduceat(policy * np.abs(mdp.reward), begins)
    is_mixed = np.logical_or.reduceat((policy > 0) & (policy != 1), begins)
    return np.where(is_mixed, (np.diff(mdp.state_ptr) + 4) * UNIT_ROUNDOFF * terms, 0.0)


def evaluated(mdp: MDP, policy: Any, solve: Callable[[MDP], Result]) -> tuple[Result, float]:
    """Solve the chain of a policy. Also bound the effect of the rounding errors of the chain's rewards on its values.

    The effect is at most the value of the same chain with bounds on the rounding errors as rewards.
    """
    chain, rounding = mdp.under(policy), reward_rounding(mdp, policy)
    found: Any = solve(chain)
    found = replace(found, rows=rows_of(mdp, policy))
    if not rounding.any():
        return found, 0.0
    more: Any = solve(replace(chain, reward=rounding, terminal_reward=0 * chain.terminal_reward, terminal_value=None))
    upper = more._columns()[2]
    return found, float(upper[np.isfinite(upper)].max(initial=0))

"""Evaluation of a policy by its Markov chain, with bounds on the rounding errors of the chain's rewards."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.process import UNIT_ROUNDOFF
from punish_fast.mdp.model.results import row_probabilities

Result = TypeVar("Result")


def reward_rounding(mdp: MDP, policy: np.ndarray) -> np.ndarray:
    """Return bounds on the rounding errors of the rewards of the chain of a policy, float64 ``[n_states]``."""
    policy, begins = np.asarray(row_probabilities(mdp, policy), dtype=np.float64), mdp.state_ptr[:-1]
    terms = np.add.reduceat(policy * np.abs(mdp.reward), begins)
    is_mixed = np.logical_or.reduceat((policy > 0) & (policy != 1), begins)
    return np.where(is_mixed, (np.diff(mdp.state_ptr) + 4) * UNIT_ROUNDOFF * terms, 0.0)


def evaluated(mdp: MDP, policy: np.ndarray, solve: Callable[[MDP], Result]) -> tuple[Result, Result | None]:
    """Solve the chain of a policy, and the same chain with its rewards replaced by bounds on their rounding errors.

    The second result is None if all bounds are 0.
    """
    chain, rounding = mdp.under(policy), reward_rounding(mdp, policy)
    found = solve(chain)
    if not rounding.any():
        return found, None
    ends = 0 * chain.terminal_reward
    return found, solve(replace(chain, reward=rounding, terminal_reward=ends, terminal_value=None))

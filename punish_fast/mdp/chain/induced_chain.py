"""The Markov chain of a policy: an MDP with one row in each state."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from punish_fast.mdp.arrays.names import state_name
from punish_fast.mdp.arrays.policy import flaw_of, refuse_mask
from punish_fast.mdp.graph.row_selection import states_of_rows
from punish_fast.mdp.model.limits import SolveError
from punish_fast.mdp.model.mdp import MDP, normalized
from punish_fast.mdp.model.process import UNIT_ROUNDOFF, Process

Result = TypeVar("Result")


def checked_policy(mdp: Process, policy: Any) -> np.ndarray:
    """Convert the probability of each row under a policy to float64 ``[n_rows]``. Raise `SolveError` if invalid."""
    refuse_mask("policy", policy, SolveError)
    given: np.ndarray = np.asarray(policy, dtype=np.float64)
    flaw = flaw_of(mdp.state_ptr, given)
    if flaw is not None:
        raise SolveError(f"policy: {flaw}")
    return given


def induced_chain(mdp: MDP, policy: np.ndarray) -> MDP:
    """Return the chain of ``policy``, float64 ``[n_rows]``.

    Only the probabilities and rewards of states in which the policy mixes rows are rounded.
    """
    from scipy.sparse import csr_array

    policy = checked_policy(mdp, policy)
    begins, lengths = mdp.state_ptr[:-1], np.diff(mdp.state_ptr)
    policy = policy / np.repeat(np.add.reduceat(policy, begins), lengths)
    taken = np.flatnonzero(policy)
    state_of = states_of_rows(mdp)[taken]
    mixture = csr_array((policy[taken], (state_of, taken)), shape=(mdp.n_states, mdp.n_rows))
    rows = csr_array(mixture @ mdp.to_scipy())
    rows.sum_duplicates()
    is_mixed = np.diff(mixture.indptr) > 1
    vanished = (rows.data < np.finfo(np.float64).tiny) & np.repeat(is_mixed, np.diff(rows.indptr))
    if vanished.any():
        state = int(np.searchsorted(rows.indptr, vanished.argmax(), side="right")) - 1
        raise SolveError(
            f"policy: a probability in state {state_name(mdp.names, state)} is too small for floating point; the "
            "product of a row's policy probability and a transition probability must be above 2.3e-308"
        )
    chain = replace(
        mdp,
        state_ptr=np.arange(mdp.n_states + 1),
        indptr=rows.indptr.astype(np.int64),
        indices=rows.indices.astype(np.int32),
        data=rows.data,
        reward=np.asarray(mixture @ mdp.reward),
        action=mdp.action[begins],
        data_ptr=None,
    )
    return normalized(chain)


def reward_rounding(mdp: MDP, policy: np.ndarray) -> np.ndarray:
    """Return bounds on the rounding errors of the rewards of `induced_chain`, float64 ``[n_states]``."""
    policy, begins = np.asarray(policy, dtype=np.float64), mdp.state_ptr[:-1]
    terms = np.add.reduceat(policy * np.abs(mdp.reward), begins)
    is_mixed = np.logical_or.reduceat((policy > 0) & (policy != 1), begins)
    return np.where(is_mixed, (np.diff(mdp.state_ptr) + 4) * UNIT_ROUNDOFF * terms, 0.0)


def evaluated(mdp: MDP, policy: np.ndarray, solve: Callable[[MDP], Result]) -> tuple[Result, Result | None]:
    """Solve the chain of a policy, and the same chain with its rewards replaced by bounds on their rounding errors.

    The second result is None if all bounds are 0.
    """
    chain, rounding = induced_chain(mdp, policy), reward_rounding(mdp, policy)
    found = solve(chain)
    if not rounding.any():
        return found, None
    ends = 0 * chain.terminal_reward
    return found, solve(replace(chain, reward=rounding, terminal_reward=ends, terminal_value=None))

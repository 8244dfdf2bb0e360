"""Strategies: policies over information states, and their tables by action.

A *policy* is float64 ``[n_rows]`` along `StateSpace.action`: the probability of each legal action in its state. Every
player, enemy or agent, is one. Two players meet in mirrored states: the enemy looks up the state that it sees, in which
its own hand and statuses come first.

A *table* is float64 ``[k, 11]``, the probabilities of the actions 10, 11, 20, 21, ..., 51, 90 in ``k`` states, legal or
not. Files, recorded choices and networks have tables; a state without an entry is played uniformly.
"""

from __future__ import annotations

import numpy as np

from punish_fast.mdp.policy import SUM_TOLERANCE, check_policy
from punish_fast.punish.codes import ACTIONS, to_decimal
from punish_fast.punish.states.space import StateSpace
from punish_fast.runtime.errors import PunishFastError

# From a two-digit action code to its column in a table; -1 for a number that is no action.
COLUMN = np.full(256, -1, dtype=np.int64)
COLUMN[list(ACTIONS)] = np.arange(len(ACTIONS))

_ROUNDING = float(np.finfo(np.float64).eps)


class StrategyError(PunishFastError, ValueError):
    """A table that is no strategy; the message names the state and the value."""


def uniform_policy(space: StateSpace) -> np.ndarray:
    """The policy of the player *random*: all legal actions are equally likely, float64 ``[n_rows]``."""
    lengths = np.diff(space.state_ptr)
    return np.repeat(1 / lengths, lengths)


def checked_policy(space: StateSpace, policy: np.ndarray) -> np.ndarray:
    """A checked policy whose probabilities add up to 1 in every state, to within rounding."""
    policy = check_policy(space.state_ptr, policy)
    sums = np.add.reduceat(policy, space.state_ptr[:-1])
    # Rounding alone is left as it is, so that a policy that was normalised before keeps its bits.
    is_off = np.abs(sums - 1) > 32 * _ROUNDING
    if not is_off.any():
        return policy
    return np.asarray(policy / np.repeat(np.where(is_off, sums, 1.0), np.diff(space.state_ptr)))


def policy_of_table(space: StateSpace, state: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The policy of a table, float64 ``[n_rows]``, checked; states without an entry are played uniformly.

    Args:
        space: The states of the game.
        state: ``[k]`` distinct rows of states, in any order.
        p: ``[k, 11]`` probabilities of the actions 10, 11, 20, 21, ..., 51, 90.

    Raises:
        StrategyError: wrong shapes, rows that are no states or repeated, or probabilities that are negative, not
            finite, do not add up to 1, or belong to illegal actions.
    """
    state, p = np.asarray(state), np.asarray(p, dtype=np.float64)
    if state.ndim != 1 or p.shape != (len(state), len(ACTIONS)):
        raise StrategyError(f"strategy: shapes are {state.shape} and {p.shape}, allowed are (k,) and (k, 11)")
    policy = uniform_policy(space)
    if len(state) == 0:
        return policy
    if not np.issubdtype(state.dtype, np.integer) or state.min() < 0 or state.max() >= space.n_states:
        raise StrategyError(f"strategy: states must be rows from 0 to {space.n_states - 1}")
    place = np.full(space.n_states, -1)
    place[state] = np.arange(len(state))
    repeated = np.flatnonzero(place[state] != np.arange(len(state)))
    if len(repeated):
        raise StrategyError(f"strategy: state {to_decimal(space.state(int(state[repeated[0]])))} is listed twice")
    _check_table(space, state, p)
    sums = p.sum(axis=1, keepdims=True)
    p = np.where(np.abs(sums - 1) > _ROUNDING, p / sums, p)
    place = np.repeat(place, np.diff(space.state_ptr))
    return np.where(place >= 0, p[place, COLUMN[space.action]], policy)


def table_of_policy(space: StateSpace, policy: np.ndarray, state: np.ndarray) -> np.ndarray:
    """The table of a policy in the given states, float64 ``[k, 11]``.

    Args:
        space: The states of the game.
        policy: float64 ``[n_rows]``.
        state: int ``[k]``, rows of states.
    """
    begins, lengths = space.state_ptr[state], np.diff(space.state_ptr)[state]
    entry = np.repeat(np.arange(len(state)), lengths)
    rows = np.arange(len(entry)) + np.repeat(begins - (np.cumsum(lengths) - lengths), lengths)
    p = np.zeros((len(state), len(ACTIONS)))
    p[entry, COLUMN[space.action[rows]]] = policy[rows]
    return p


def legal_mask(space: StateSpace) -> np.ndarray:
    """Whether the actions 10, 11, 20, 21, ..., 51, 90 are legal in each state, bool ``[n_states, 11]``."""
    mask = np.zeros((space.n_states, len(ACTIONS)), dtype=np.bool_)
    mask[np.repeat(np.arange(space.n_states), np.diff(space.state_ptr)), COLUMN[space.action]] = True
    return mask


def _check_table(space: StateSpace, state: np.ndarray, p: np.ndarray) -> None:
    def name(i: int) -> int:
        return to_decimal(space.state(int(state[i])))

    wrong = np.flatnonzero(~np.isfinite(p).all(axis=1) | (p < 0).any(axis=1))
    if len(wrong):
        raise StrategyError(f"strategy: state {name(wrong[0])} has a probability below 0 or not finite")
    sums = p.sum(axis=1)
    wrong = np.flatnonzero(np.abs(sums - 1) > SUM_TOLERANCE)
    if len(wrong):
        raise StrategyError(
            f"strategy: state {name(wrong[0])} has probabilities that add up to {sums[wrong[0]]}, not 1"
        )
    illegal = (p > 0) & ~legal_mask(space)[state]
    wrong = np.flatnonzero(illegal.any(axis=1))
    if len(wrong):
        action = ACTIONS[int(np.argmax(illegal[wrong[0]]))]
        raise StrategyError(f"strategy: state {name(wrong[0])} plays {action}, which is not legal there")

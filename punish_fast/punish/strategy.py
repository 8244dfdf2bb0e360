"""Enemy strategies: tables from information states to distributions over actions.

An enemy plays a state of its own view: the mirror image of ours. A state that a table says nothing about is played
uniformly over the legal actions; the naive enemy's table is empty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from punish_fast.punish.codes import ACTIONS, to_decimal
from punish_fast.punish.space import StateSpace

# From a two-digit action code to its column in a table; -1 for a number that is none.
COLUMN = np.full(256, -1, dtype=np.int64)
COLUMN[list(ACTIONS)] = np.arange(len(ACTIONS))

# Probabilities of a state may add up to 1 only as well as float64 sums do.
_SUM_TOLERANCE = 1e-9
_ROUNDING = float(np.finfo(np.float64).eps)


class StrategyError(ValueError):
    """A table that is no strategy; the message names the state and the value."""


@dataclass(frozen=True)
class StrategyTable:
    """A strategy over information states.

    Attributes:
        state: int32 ``[k]``, rows of the states covered, ascending.
        p: float64 ``[k, 11]``, probabilities of the actions 10, 11, 20, 21, ..., 51, 90.
        name: What to call the enemy.
        rules_digest: Digest of the rules it was made for; None for the naive enemy, who plays any game.
    """

    state: np.ndarray
    p: np.ndarray
    name: str = "table"
    rules_digest: str | None = None

    @property
    def is_naive(self) -> bool:
        """Whether every state is played uniformly because the table is empty."""
        return len(self.state) == 0


def naive() -> StrategyTable:
    """The enemy that plays every legal action alike in every state."""
    return StrategyTable(np.zeros(0, dtype=np.int32), np.zeros((0, len(ACTIONS))), name="naive")


def from_policy(space: StateSpace, weight: np.ndarray, name: str = "policy") -> StrategyTable:
    """The strategy of a policy.

    Args:
        space: The states of the game.
        weight: float64 ``[n_rows]``, the probability of each row of `StateSpace.action` in its state.
        name: What to call the enemy.

    Raises:
        StrategyError: ``weight`` is no policy.
    """
    weight = np.asarray(weight, dtype=np.float64)
    if weight.shape != space.action.shape:
        raise StrategyError(f"strategy: shape of the policy is {weight.shape}, allowed is {space.action.shape}")
    p = np.zeros((space.n_states, len(ACTIONS)))
    p[_state_of_row(space), COLUMN[space.action]] = weight
    return strategy_table(space, np.arange(space.n_states), p, name)


def policy_of(space: StateSpace, table: StrategyTable) -> np.ndarray:
    """The policy of a strategy, float64 ``[n_rows]``: the probability of each row of `StateSpace.action` in its state.

    States that the table says nothing about are played uniformly.

    Raises:
        StrategyError: the strategy was made for other rules.
    """
    if table.rules_digest not in (None, space.rules.digest):
        raise StrategyError(f"strategy: made for rules {table.rules_digest}, but the game's are {space.rules.digest}")
    lengths = np.diff(space.state_ptr)
    weight = np.repeat(1 / lengths, lengths)
    if table.is_naive:
        return weight
    place = np.full(space.n_states, -1)
    place[table.state] = np.arange(len(table.state))
    place = np.repeat(place, lengths)
    return np.where(place >= 0, table.p[place, COLUMN[space.action]], weight)


def strategy_table(space: StateSpace, state: np.ndarray, p: np.ndarray, name: str = "table") -> StrategyTable:
    """A checked strategy table.

    Args:
        space: The states of the game.
        state: ``[k]`` rows of the states covered, each at most once, in any order.
        p: ``[k, 11]`` probabilities of the actions 10, 11, 20, 21, ..., 51, 90.
        name: What to call the enemy.

    Raises:
        StrategyError: wrong shapes, rows that are no states or stand twice, probabilities that are negative, not
            finite, do not add up to one, or fall on illegal actions.
    """
    state = np.asarray(state)
    p = np.asarray(p, dtype=np.float64)
    if state.ndim != 1 or p.shape != (len(state), len(ACTIONS)):
        raise StrategyError(f"strategy: shapes are {state.shape} and {p.shape}, allowed are (k,) and (k, 11)")
    if len(state) == 0:
        return StrategyTable(np.zeros(0, dtype=np.int32), p, name, space.rules.digest)
    if not np.issubdtype(state.dtype, np.integer) or state.min() < 0 or state.max() >= space.n_states:
        raise StrategyError(f"strategy: states must be rows from 0 to {space.n_states - 1}")
    order = np.argsort(state, kind="stable")
    state, p = state[order].astype(np.int32), np.ascontiguousarray(p[order])
    twice = np.flatnonzero(np.diff(state) == 0)
    if len(twice):
        raise StrategyError(f"strategy: state {to_decimal(space.state(int(state[twice[0]])))} stands twice")
    _check_probabilities(space, state, p)
    # Sums that are off by more than rounding would make rows of a tensor that are.
    sums = p.sum(axis=1, keepdims=True)
    p = np.where(np.abs(sums - 1) > _ROUNDING, p / sums, p)
    return StrategyTable(state, p, name, space.rules.digest)


def _state_of_row(space: StateSpace) -> np.ndarray:
    return np.repeat(np.arange(space.n_states), np.diff(space.state_ptr))


def legal_mask(space: StateSpace) -> np.ndarray:
    """Whether the actions 10, 11, 20, 21, ..., 51, 90 are legal in each state, bool ``[n_states, 11]``."""
    mask = np.zeros((space.n_states, len(ACTIONS)), dtype=np.bool_)
    mask[_state_of_row(space), COLUMN[space.action]] = True
    return mask


def _check_probabilities(space: StateSpace, state: np.ndarray, p: np.ndarray) -> None:
    def name(i: int) -> int:
        return to_decimal(space.state(int(state[i])))

    wrong = np.flatnonzero(~np.isfinite(p).all(axis=1) | (p < 0).any(axis=1))
    if len(wrong):
        raise StrategyError(f"strategy: state {name(wrong[0])} has a probability below 0 or not finite")
    sums = p.sum(axis=1)
    wrong = np.flatnonzero(np.abs(sums - 1) > _SUM_TOLERANCE)
    if len(wrong):
        raise StrategyError(
            f"strategy: state {name(wrong[0])} has probabilities that add up to {sums[wrong[0]]}, not 1"
        )
    illegal = (p > 0) & ~legal_mask(space)[state]
    wrong = np.flatnonzero(illegal.any(axis=1))
    if len(wrong):
        action = ACTIONS[int(np.argmax(illegal[wrong[0]]))]
        raise StrategyError(f"strategy: state {name(wrong[0])} plays {action}, which is not legal there")

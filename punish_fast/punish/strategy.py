"""Enemy strategies: tables from information states to distributions over actions.

An enemy plays a state of its own view: the mirror image of ours. A state that a table says nothing about is played
uniformly over the legal actions; the naive enemy's table is empty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from punish_fast.punish.codes import ACTIONS, REST_ACTION, StateError, to_decimal
from punish_fast.punish.space import StateSpace

# Probabilities of a state may add up to 1 only as well as float64 sums do.
_SUM_TOLERANCE = 1e-9


class StrategyError(ValueError):
    """A table that is no strategy; the message names the state and the value."""


@dataclass(frozen=True)
class StrategyTable:
    """A strategy over information states.

    Attributes:
        state: int32 ``[k]``, rows of the states covered, ascending.
        p: float64 ``[k, 11]``, probabilities of the actions 10, 11, 20, 21, ..., 51, 90.
        name: What to call the enemy.
    """

    state: np.ndarray
    p: np.ndarray
    name: str = "table"

    @property
    def is_naive(self) -> bool:
        """Whether every state is played uniformly because the table is empty."""
        return len(self.state) == 0


def naive() -> StrategyTable:
    """The enemy that plays every legal action alike in every state."""
    return StrategyTable(np.zeros(0, dtype=np.int32), np.zeros((0, len(ACTIONS))), name="naive")


def legal_actions(space: StateSpace, row: int) -> list[int]:
    """Two-digit codes of the legal actions of a state, ascending."""
    state = space.state(row)
    if state.breath > space.rules.breaths or state.own_exhausted or sum(state.hand) == 0:
        return [REST_ACTION]
    feints = (0, 1) if state.own_feinted < space.rules.feints else (0,)
    return [10 * (k + 1) + feint for k in range(5) if state.hand[k] for feint in feints]


def strategy_table(space: StateSpace, state: np.ndarray, p: np.ndarray, name: str = "table") -> StrategyTable:
    """A checked strategy table.

    Args:
        space: The states of the game.
        state: ``[k]`` rows of the states covered, each at most once, in any order.
        p: ``[k, 11]`` probabilities of the actions 10, 11, 20, 21, ..., 51, 90.
        name: What to call the enemy.

    Raises:
        StrategyError: wrong shapes, rows that are no states or stand twice, probabilities that are negative, not finite,
            do not add up to one, or fall on illegal actions.
    """
    state = np.asarray(state)
    p = np.asarray(p, dtype=np.float64)
    if state.ndim != 1 or p.shape != (len(state), len(ACTIONS)):
        raise StrategyError(f"strategy: shapes are {state.shape} and {p.shape}, allowed are (k,) and (k, 11)")
    if len(state) == 0:
        return StrategyTable(np.zeros(0, dtype=np.int32), p, name)
    if not np.issubdtype(state.dtype, np.integer) or state.min() < 0 or state.max() >= space.n_states:
        raise StrategyError(f"strategy: states must be rows from 0 to {space.n_states - 1}")
    order = np.argsort(state, kind="stable")
    state, p = state[order].astype(np.int32), np.ascontiguousarray(p[order])
    twice = np.flatnonzero(np.diff(state) == 0)
    if len(twice):
        raise StrategyError(f"strategy: state {_name(space, state[twice[0]])} stands twice")
    _check_probabilities(space, state, p)
    return StrategyTable(state, p, name)


def _name(space: StateSpace, row: int) -> str:
    try:
        return str(to_decimal(space.state(int(row))))
    except StateError:  # pragma: no cover - every row of a space has a state
        return f"in row {row}"


def _check_probabilities(space: StateSpace, state: np.ndarray, p: np.ndarray) -> None:
    wrong = np.flatnonzero(~np.isfinite(p).all(axis=1) | (p < 0).any(axis=1))
    if len(wrong):
        raise StrategyError(f"strategy: state {_name(space, state[wrong[0]])} has a probability below 0 or not finite")
    wrong = np.flatnonzero(np.abs(p.sum(axis=1) - 1) > _SUM_TOLERANCE)
    if len(wrong):
        total = p[wrong[0]].sum()
        raise StrategyError(f"strategy: state {_name(space, state[wrong[0]])} has probabilities that add up to {total}")
    legal = legal_mask(space)[state]
    wrong = np.flatnonzero(((p > 0) & ~legal).any(axis=1))
    if len(wrong):
        action = ACTIONS[int(np.argmax((p[wrong[0]] > 0) & ~legal[wrong[0]]))]
        raise StrategyError(f"strategy: state {_name(space, state[wrong[0]])} plays {action}, which is not legal there")

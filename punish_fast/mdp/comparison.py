"""Differences between two solutions of processes with the same states and actions.

Let ``q`` and ``q'`` be the values of rows, ``v`` and ``v'`` those of states, and ``a`` and ``a'`` the greedy choices in
a state. If the choices differ, each solution values the other's choice by its *regret*: ``v - q(a')`` and ``v' -
q'(a)``, neither below 0. Their sum is the *disagreement* in the state. It is 0 where the choices are the same, and tiny
where rounding broke a tie in one of the solutions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from punish_fast.mdp.policy import first_best
from punish_fast.runtime.errors import PunishFastError

# Disagreements up to this share of the largest value are ties.
_TIE = 1e-9


class ComparisonError(PunishFastError, ValueError):
    """Values that cannot be compared; the message says why."""


@dataclass(frozen=True)
class Differences:
    """Statistics of the differences ``second - first`` between two arrays of values.

    Attributes:
        largest: The largest absolute difference.
        mean: The mean absolute difference.
        rms: The root of the mean squared difference.
        bias: The mean difference.
    """

    largest: float
    mean: float
    rms: float
    bias: float


@dataclass(frozen=True)
class Comparison:
    """Differences between two solutions.

    Attributes:
        q: Differences of the values of rows.
        v: Differences of the values of states.
        choices: int64 ``[2, n_states]``, the greedy rows of each solution.
        disagreement: float64 ``[n_states]``, sums of both regrets.
        n_states: int64 ``[n_layers]``, states of each layer.
        n_changed: int64 ``[n_layers]``, states whose greedy choices differ.
        n_clear: int64 ``[n_layers]``, states whose greedy choices differ by more than a tie broken by rounding.
    """

    q: Differences
    v: Differences
    choices: np.ndarray
    disagreement: np.ndarray
    n_states: np.ndarray
    n_changed: np.ndarray
    n_clear: np.ndarray

    def largest(self, count: int) -> np.ndarray:
        """The states with the largest disagreements, largest first, without ties: int64 ``[k]``, k <= ``count``."""
        order = np.argsort(-self.disagreement, kind="stable")[: min(count, int(self.n_clear.sum()))]
        return np.asarray(order)


def compare(state_ptr: np.ndarray, layer_ptr: np.ndarray, first: np.ndarray, second: np.ndarray) -> Comparison:
    """Compare two solutions.

    Args:
        state_ptr: int64 ``[n_states + 1]``, where the rows of each state begin.
        layer_ptr: int64 ``[n_layers + 1]``, where the states of each layer begin.
        first: float64 ``[n_rows]``, values of rows in one solution.
        second: float64 ``[n_rows]``, values of rows in the other.

    Raises:
        ComparisonError: there are not as many values as rows, or one is not finite.
    """
    for values in (first, second):
        if values.shape != (int(state_ptr[-1]),) or not np.isfinite(values).all():
            raise ComparisonError(f"compare: shape of the values is {values.shape}, allowed are {state_ptr[-1]} finite")
    choices = np.stack([first_best(state_ptr, values) for values in (first, second)])
    disagreement = _regret(first, *choices) + _regret(second, *choices[::-1])
    changed = choices[0] != choices[1]
    scale = max(float(np.abs(first).max(initial=0)), float(np.abs(second).max(initial=0)))
    clear = changed & (disagreement > _TIE * scale)
    return Comparison(
        q=_differences(first, second),
        v=_differences(first[choices[0]], second[choices[1]]),
        choices=choices,
        disagreement=disagreement,
        n_states=np.diff(layer_ptr),
        n_changed=_per_layer(layer_ptr, changed),
        n_clear=_per_layer(layer_ptr, clear),
    )


def _regret(values: np.ndarray, own: np.ndarray, others: np.ndarray) -> np.ndarray:
    return np.asarray(values[own] - values[others])


def _per_layer(layer_ptr: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """How many states of each layer are marked."""
    return np.diff(np.concatenate([[0], np.cumsum(marks)])[layer_ptr])


def _differences(first: np.ndarray, second: np.ndarray) -> Differences:
    difference = second - first
    if len(difference) == 0:
        return Differences(0.0, 0.0, 0.0, 0.0)
    absolute = np.abs(difference)
    return Differences(
        largest=float(absolute.max()),
        mean=float(absolute.mean()),
        rms=float(np.sqrt(np.mean(difference**2))),
        bias=float(difference.mean()),
    )

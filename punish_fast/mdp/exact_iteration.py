"""Policy iteration with certified values, for play that ends but may last for billions of steps.

Without a discount, the error bound of value iteration (``stopping_rule.py``, ``interval_iteration.py``) costs sweeps in
proportion to the length of play, and rounding as well. Here neither does. The optimal values are the only ``v`` with

    max_a  g(a)  =  0,        g(a)  =  r(s, a) + sum_t P(t | s, a) (v(t) - v(s))

where ``g`` is the *gain* of a row; that the probabilities of a row add up to one is put in, and a state that leads to
itself drops out. In long games ``v`` hardly differs between states that lead to each other, so values are kept as sums
of two floats, and their differences, hence gains, are known to nearly all digits of a float. Policy iteration
[Howard 1960] evaluates a policy (``elimination.py``), refines that, and changes it where a gain exceeds its rounding
error, until there is no such row.

**Certificate.** Let ``e`` bound the rounding error of gains as in ``value_iteration.py``: ``(n + 12) u`` times the sum
of ``P |v(t) - v(s)|`` and ``|r|``. If play ends under every policy,

    g + e <= 0 in all rows, at v + c   =>   v* <= v + c
    g - e >= 0 in one row of each state, at v - c   =>   v* >= v - c

since backing up leads from there to ``v*`` without ever turning back. Candidates ``c`` are what the policy earns with
twice the rounding errors for rewards; if some row still gains, the policy changes there. Nothing rests on how ``v`` and
``c`` were found: both conditions are checked at the end, and a bound that could not be proved is infinite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from punish_fast.mdp.elimination import LARGEST_COMPONENT, Elimination
from punish_fast.mdp.model import MDP
from punish_fast.mdp.row_selection import states_of_rows
from punish_fast.mdp.topological_order import components_of

_UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2
_MOST_ROUNDS = 100
_MOST_SAME = 3
_MOST_REFINEMENTS = 8
_MOST_CANDIDATES = 12
# How many times its rounding error a row's reward is raised or lowered to find a bound.
_ALLOWANCE = 4.0
# Of a sum of two floats, with some to spare.
_LEAST_DIGIT = 2.0**-100
# Roundings of a gain besides its sum: a stored probability (4), a difference (3), products, and those of the bound.
_FURTHER_ROUNDINGS = 12


@dataclass(frozen=True, eq=False)
class Exact:
    """The best policy and its values.

    Attributes:
        v: float64 ``[n_states]``, values.
        choice: int64 ``[n_states]``, the row that the policy takes in each state.
        error_bound: Upper bound on the error of ``v``; infinite if none could be proved.
        rounds: Number of policies evaluated.
    """

    v: np.ndarray
    choice: np.ndarray
    error_bound: float
    rounds: int


class _Double(NamedTuple):
    """Values of all columns, ``high + low``."""

    high: np.ndarray
    low: np.ndarray

    def plus(self, change: np.ndarray) -> _Double:
        """These values with those of the first columns changed."""
        high, low = self.high.copy(), self.low.copy()
        n = len(change)
        high[:n], rest = _two_sum(high[:n], change)
        high[:n], low[:n] = _two_sum(high[:n], low[:n] + rest)
        return _Double(high, low)

    def distance(self, other: _Double, n: int) -> float:
        """At least the largest distance of the first ``n`` values from those of ``other`` without its lower parts."""
        distances = np.abs(self.high[:n] - other.high[:n]) + np.abs(self.low[:n])
        return float(distances.max(initial=0)) * (1 + 8 * _UNIT_ROUNDOFF)


def _two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rounded sum and what rounding took from it [Knuth 1969]."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


class _Rows:
    """The rows of a process, and their gains."""

    def __init__(self, mdp: MDP, reward: np.ndarray) -> None:
        self.matrix = mdp.to_scipy()
        self.state_ptr, self.reward = mdp.state_ptr, reward
        counts = np.diff(self.matrix.indptr)
        self.state = states_of_rows(mdp)
        self._from = np.repeat(self.state, counts)
        self._roundings = (counts + _FURTHER_ROUNDINGS) * _UNIT_ROUNDOFF

    def gains(self, v: _Double) -> tuple[np.ndarray, np.ndarray]:
        """The gain of each row, and a bound on its rounding error, float64 ``[n_rows]``."""
        to, matrix = self.matrix.indices, self.matrix
        high, low = v.high[to] - v.high[self._from], v.low[to] - v.low[self._from]
        begins = matrix.indptr[:-1]
        gain = self.reward + np.add.reduceat(matrix.data * (high + low), begins)
        size = np.abs(self.reward) + np.add.reduceat(matrix.data * (np.abs(high) + np.abs(low)), begins)
        return gain, self._roundings * size

    def best(self, values: np.ndarray) -> np.ndarray:
        """The first row of each state with its largest value."""
        begins = self.state_ptr[:-1]
        is_best = np.flatnonzero(values == np.maximum.reduceat(values, begins)[self.state])
        return is_best[np.searchsorted(is_best, begins)]


def is_small_enough(mdp: MDP) -> bool:
    """Whether no strongly connected component is too large for `solve_exactly`."""
    return mdp.n_states <= LARGEST_COMPONENT or int(np.bincount(components_of(mdp)).max()) <= LARGEST_COMPONENT


def solve_exactly(
    mdp: MDP,
    reward: np.ndarray,
    worth: np.ndarray,
    choice: np.ndarray,
    progress: Callable[[int], None] | None = None,
) -> Exact:
    """Find the largest expected total reward and worth of the terminal reached.

    Args:
        mdp: The process; play must end under every policy. Its own rewards are ignored.
        reward: float64 ``[n_rows]``.
        worth: float64 ``[n_terminals]``.
        choice: int64 ``[n_states]``, the rows of the first policy.
        progress: Called as ``progress(rounds)`` for every policy before it is evaluated.
    """
    rows, n = _Rows(mdp, reward), mdp.n_states
    v = _Double(np.concatenate([np.zeros(n), worth]), np.zeros(mdp.n_columns))
    n_same = 0
    for rounds in range(1, _MOST_ROUNDS + 1):
        if progress is not None:
            progress(rounds)
        before = v.high
        chain = Elimination(rows.matrix[choice])
        v = _evaluated(rows, chain, choice, v, np.zeros(n))
        gain, error = rows.gains(v)
        best = rows.best(gain - error)
        better = (gain - error)[best] > np.maximum(gain + error, 0)[choice] + _floor(v)
        # Where rounding decides ties, choices may change for ever, but values do not.
        is_same = np.abs(v.high - before).max(initial=0) <= 8 * _UNIT_ROUNDOFF * np.abs(v.high).max(initial=0)
        n_same = n_same + 1 if is_same else 0
        if n_same == _MOST_SAME or not better.any():
            break
        choice = np.where(better, best, choice)
    bounds = _below(rows, chain, choice, v), _above(rows, chain, choice, v)
    error_bound = max(np.inf if bound is None else bound.distance(v, n) for bound in bounds)
    return Exact(v.high[:n], choice, error_bound, rounds)


def _evaluated(rows: _Rows, chain: Elimination, choice: np.ndarray, v: _Double, extra: np.ndarray) -> _Double:
    """The values of a policy whose rewards are higher by ``extra``, refined until at most half of it is missing."""
    for _ in range(_MOST_REFINEMENTS):
        gain, error = (values[choice] for values in rows.gains(v))
        if (np.abs(gain + extra) <= np.maximum(np.abs(extra) / 2, error + _floor(v))).all():
            break
        change = chain.solve(gain + extra)
        if not np.isfinite(change).all():
            break
        v = v.plus(change)
    return v


def _floor(v: _Double) -> float:
    """More than differences of values are off by for want of digits."""
    return _LEAST_DIGIT * float(np.abs(v.high).max(initial=0))


def _above(rows: _Rows, chain: Elimination, choice: np.ndarray, v: _Double) -> _Double | None:
    """Values that no policy exceeds, or None if none could be proved."""
    _, error = rows.gains(v)
    for _ in range(_MOST_CANDIDATES):
        candidate = _evaluated(rows, chain, choice, v, _ALLOWANCE * (error[choice] + _floor(v)))
        gain, rounding = rows.gains(candidate)
        if (gain + rounding <= 0).all():
            return candidate
        error = np.maximum(error, rounding)
        best = rows.best(gain + rounding)
        better = (gain + rounding)[best] > np.maximum(gain + rounding, 0)[choice]
        if better.any():
            choice = np.where(better, best, choice)
            chain = Elimination(rows.matrix[choice])
    return None


def _below(rows: _Rows, chain: Elimination, choice: np.ndarray, v: _Double) -> _Double | None:
    """Values that the policy reaches or exceeds, or None if none could be proved."""
    error = rows.gains(v)[1][choice]
    for _ in range(_MOST_CANDIDATES):
        candidate = _evaluated(rows, chain, choice, v, -_ALLOWANCE * (error + _floor(v)))
        gain, rounding = (values[choice] for values in rows.gains(candidate))
        if (gain - rounding >= 0).all():
            return candidate
        error = np.maximum(error, rounding)
    return None

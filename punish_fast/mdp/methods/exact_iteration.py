"""Policy iteration with certified values, for play that ends but may last for billions of steps.

Value iteration needs sweeps in proportion to the length of play (``stopping_rule.py``, ``interval_iteration.py``), and
its rounding errors also grow with the length. Policy iteration avoids both. A discount ``b`` is replaced by a terminal
of worth 0 that every row reaches with probability ``1 - b``. The optimal values are the only ``v`` with

    max_a  g(a)  =  0,        g(a)  =  r(s, a) + sum_t P(t | s, a) (v(t) - v(s))

where ``g`` is the *gain* of a row. This form uses that the probabilities of a row add up to 1, and transitions of a
state to itself cancel. In long games ``v`` hardly differs between states that lead to each other, so values are kept as
sums of two floats, and their differences, hence gains, are known to nearly all digits of a float. Policy iteration
[Howard 1960] evaluates a policy (``elimination.py``), refines its values, and changes the policy in states with a gain
above its rounding error, until no such row is left.

**Certificate.** Let ``e`` bound the rounding error of gains as in ``value_iteration.py``: ``(n + 12) u`` times the sum
of ``P |v(t) - v(s)|`` and ``|r|``. If play ends under every policy,

    g + e <= 0 in all rows, at v + c   =>   v* <= v + c
    g - e >= 0 in one row of each state, at v - c   =>   v* >= v - c

because backups are monotone and converge to ``v*``. States where a bound is the largest or smallest possible value need
no condition. Candidates ``c`` are the values of the policy if each row pays four times its rounding error; if some row
still gains, the policy changes there. Nothing rests on how ``v`` and ``c`` were found: both conditions are checked at
the end, and a bound that could not be proved is infinite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from punish_fast.mdp.bounds._component_brackets import ValueRange
from punish_fast.mdp.bounds.rounding import SMALLEST, UNIT_ROUNDOFF
from punish_fast.mdp.chain import _elimination
from punish_fast.mdp.chain.elimination import Elimination
from punish_fast.mdp.graph.row_selection import first_marked, states_of_rows
from punish_fast.mdp.model import MDP
from punish_fast.mdp.process import Payment, RowChoices
from punish_fast.runtime.parallel import for_chunks

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_MOST_ROUNDS = 100
# Change of values, as a share of the tolerance, after which bounds are tried.
_SHARE = 1e-3
_MOST_REFINEMENTS = 8
_MOST_CANDIDATES = 12
# How many times its rounding error a row's reward is raised or lowered to find a bound.
_ALLOWANCE = 4.0
# Last digit of a sum of two floats, with some to spare.
_LEAST_DIGIT = 2.0**-100
# Roundings of a gain except in its sum: a stored probability (4), its discount, a difference (3), products, and the
# bound.
_FURTHER_ROUNDINGS = 13
# Entries that one thread reads in the time in which others start.
_LEAST_WORK = 100_000


ANY = ValueRange(-np.inf, np.inf)
PROBABILITY = ValueRange(0.0, 1.0)


class Payoff(NamedTuple):
    """The rewards of rows and terminals, and the limits of their total.

    Attributes:
        row: float64 ``[n_rows]``, rewards on the way.
        end: float64 ``[n_terminals]``, rewards at the end.
        limits: The smallest and the largest possible total.
        scale: The largest value, for ties, is at least this.
    """

    row: np.ndarray
    end: np.ndarray
    limits: ValueRange = ANY
    scale: float = 0.0


@dataclass(frozen=True, eq=False)
class Exact:
    """The optimal values and a policy.

    Attributes:
        v: float64 ``[n_states]``, values.
        choice: int64 ``[n_states]``, the row that the policy takes in each state.
        error_bound: Upper bound on the error of ``v``, and on ``v`` less the values of the policy; infinite if none
            could be proved.
        rounds: Number of sweeps, or of policies evaluated.
        policies: Number of policies evaluated; 0 if sweeps were enough.
    """

    v: np.ndarray
    choice: np.ndarray
    error_bound: float
    rounds: int
    policies: int = 0


def values_of_rows(mdp: MDP, payoff: Payoff, found: Exact, discount: float = 1.0) -> np.ndarray:
    """Return the values of rows, float64 ``[n_rows]``; the rows of the policy have the largest one of their state.

    Args:
        mdp: The process, whose own rewards are ignored.
    """
    v = np.concatenate([found.v, payoff.end])
    choices = RowChoices(np.zeros(mdp.n_rows), found.choice.copy())
    for layer in range(mdp.n_layers):
        mdp.backups.close(layer, Payment(payoff.row, discount), choices, v, v.copy())
    q: np.ndarray = np.minimum(choices.q, found.v[states_of_rows(mdp)])
    q[found.choice] = found.v
    return q


class Double(NamedTuple):
    """Values of all columns, ``high + low``."""

    high: np.ndarray
    low: np.ndarray

    def plus(self, change: np.ndarray) -> Double:
        """These values with those of the first columns changed."""
        high, low = self.high.copy(), self.low.copy()
        n = len(change)
        high[:n], rest = _two_sum(high[:n], change)
        high[:n], low[:n] = _two_sum(high[:n], low[:n] + rest)
        return Double(high, low)

    def limited(self, least: float, most: float) -> tuple[Double, np.ndarray]:
        """Replace values beyond limits by these; return also which ones they are, bool ``[n_columns]``."""
        is_limit = (self.high - least + self.low <= 0) | (self.high - most + self.low >= 0)
        return Double(np.clip(self.high, least, most), np.where(is_limit, 0.0, self.low)), is_limit

    def distance(self, other: Double, n: int) -> float:
        """At least the largest distance of the first ``n`` values from those of ``other`` without its lower parts."""
        distances = np.abs(self.high[:n] - other.high[:n]) + np.abs(self.low[:n])
        return float(np.nextafter(distances.max(initial=0) * (1 + 8 * UNIT_ROUNDOFF), np.inf))


def _two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rounded sum and what rounding took from it [Knuth 1969]."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


class Rows:
    """The rows of a process, and their gains.

    Attributes:
        matrix: The transitions; with a discount, a last column is the end that it leads to.
        state_ptr: int64 ``[n_states + 1]``.
        state: int32 ``[n_rows]``, the state of each row.
        reward: float64 ``[n_rows]``.
    """

    def __init__(self, matrix: csr_array, state_ptr: np.ndarray, state: np.ndarray, reward: np.ndarray) -> None:
        self.matrix, self.state_ptr, self.state, self.reward = matrix, state_ptr, state, reward
        self._entries = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data

    @classmethod
    def of(cls, mdp: MDP, reward: np.ndarray, discount: float = 1.0) -> Rows:
        """The rows of a process, with rewards float64 ``[n_rows]`` instead of its own."""
        from scipy.sparse import csr_array, hstack

        matrix = mdp.to_scipy()
        if discount < 1:
            ends = csr_array(np.full((mdp.n_rows, 1), 1 - discount))
            matrix = csr_array(hstack([discount * matrix, ends], format="csr"))
        return cls(matrix, mdp.state_ptr, states_of_rows(mdp), reward)

    def taken(self, choice: np.ndarray) -> Rows:
        """The rows of a policy, int64 ``[n_states]``."""
        state = np.arange(len(choice), dtype=np.int32)
        return Rows(self.matrix[choice], np.arange(len(choice) + 1), state, self.reward[choice])

    def gains(self, v: Double) -> tuple[np.ndarray, np.ndarray]:
        """The gain of each row, and a bound on its rounding error, float64 ``[n_rows]``."""
        gain, error = np.empty(len(self.reward)), np.empty(len(self.reward))
        rows, constants = (self.state, self.reward), (_FURTHER_ROUNDINGS, UNIT_ROUNDOFF, SMALLEST)
        args = self._entries, rows, tuple(v), constants, gain, error
        for_chunks(_elimination.find_gains, self._entries[0], *args, alone=self.matrix.nnz < _LEAST_WORK)
        return gain, error

    def best(self, values: np.ndarray) -> np.ndarray:
        """The first row of each state with its largest value."""
        largest = np.maximum.reduceat(values, self.state_ptr[:-1])
        return first_marked(self.state_ptr, values >= largest[self.state])


def solve_exactly(
    mdp: MDP,
    payoff: Payoff,
    choice: np.ndarray,
    tolerance: float,
    discount: float = 1.0,
    progress: Callable[[int], None] | None = None,
) -> Exact | None:
    """Find the largest expected total reward and worth of the terminal reached.

    Args:
        mdp: The process, not compact, whose own rewards are ignored. If the discount is 1, play must end under every
            policy, or policies that do not end it must lose without limit and ``choice`` must end it.
        progress: Called as ``progress(rounds)`` for every policy before it is evaluated.

    Returns:
        Values and policy; None if a policy's chain is too large for an elimination.
    """
    n = mdp.n_states
    rows = Rows.of(mdp, payoff.row, discount)
    ends = np.zeros(rows.matrix.shape[1] - n)
    ends[: len(payoff.end)] = payoff.end
    v = Double(np.concatenate([np.zeros(n), ends]), np.zeros(n + len(ends)))
    elimination: Elimination | None = None
    with np.errstate(all="ignore"):
        for rounds in range(1, _MOST_ROUNDS + 1):
            if progress is not None:
                progress(rounds)
            before = v.high
            chain = _Chain(rows, choice, np.abs(ends), elimination)
            elimination = chain.elimination
            if not elimination.is_affordable:
                return None
            v = chain.evaluated(v)
            gain, error = rows.gains(v)
            best = rows.best(gain - error)
            better = (gain - error)[best] > np.maximum(gain + error, 0)[choice]
            # If rounding decides ties, choices might never stop changing, but values do.
            unchanged = max(_SHARE * tolerance, 8 * UNIT_ROUNDOFF * float(np.abs(v.high).max(initial=0)))
            is_same = np.abs(v.high - before).max(initial=0) <= unchanged
            if is_same or not better.any():
                break
            choice = np.where(better, best, choice)
        bounds = _below(chain, v, payoff.limits.least), _above(rows, chain, v, payoff.limits.most)
        error_bound = max(np.inf if bound is None else bound.distance(v, n) for bound in bounds)
    return Exact(v.high[:n], choice, error_bound, rounds, rounds)


class _Chain:
    """The rows of a policy, and their elimination.

    Attributes:
        rows: The rows.
        choice: int64 ``[n_states]``, their numbers in the process.
        elimination: Their elimination.
        floor: float64 ``[n_states]``, bounds on the digits that values lose as sums of two floats. Values can be much
            smaller than their terms, so these are shares of the values with absolute rewards.
    """

    def __init__(self, rows: Rows, choice: np.ndarray, worth: np.ndarray, before: Elimination | None = None) -> None:
        """Eliminate.

        Args:
            rows: The rows of all policies.
            choice: int64 ``[n_states]``, the rows of this one.
            worth: float64, absolute values of columns that are not states.
            before: The elimination of another policy.
        """
        self.rows, self.choice, self._worth = rows.taken(choice), choice, worth
        self.elimination = Elimination(self.rows.matrix, before)
        paid = np.abs(self.rows.reward) + self.rows.matrix[:, len(choice) :] @ worth
        self.floor = np.nan_to_num(_LEAST_DIGIT * self.elimination.solve(paid))

    def changed(self, rows: Rows, choice: np.ndarray) -> _Chain:
        """Return the chain of another policy."""
        return _Chain(rows, choice, self._worth, self.elimination)

    def evaluated(self, v: Double, extra: np.ndarray | float = 0.0) -> Double:
        """The values if rewards are higher by ``extra``, refined until at most half of it is missing."""
        for _ in range(_MOST_REFINEMENTS):
            gain, error = self.rows.gains(v)
            if (np.abs(gain + extra) <= np.maximum(np.abs(extra) / 2, error)).all():
                break
            change = self.elimination.solve(gain + extra)
            if not np.isfinite(change).all():
                break
            v = v.plus(change)
        return v


def _above(rows: Rows, chain: _Chain, v: Double, most: float) -> Double | None:
    """Values that no policy exceeds, or None if none could be proved."""
    _, error = rows.gains(v)
    for _ in range(_MOST_CANDIDATES):
        choice = chain.choice
        candidate, is_limit = chain.evaluated(v, _ALLOWANCE * (error[choice] + chain.floor)).limited(-np.inf, most)
        gain, rounding = rows.gains(candidate)
        if ((gain + rounding <= 0) | is_limit[rows.state]).all():
            return candidate
        error = np.maximum(error, rounding)
        best = rows.best(gain + rounding)
        better = ((gain + rounding)[best] > np.maximum(gain + rounding, 0)[choice]) & ~is_limit[: len(choice)]
        if better.any():
            chain = chain.changed(rows, np.where(better, best, choice))
    return None


def _below(chain: _Chain, v: Double, least: float) -> Double | None:
    """Values that the policy reaches or exceeds, or None if none could be proved."""
    _, error = chain.rows.gains(v)
    for _ in range(_MOST_CANDIDATES):
        candidate, is_limit = chain.evaluated(v, -_ALLOWANCE * (error + chain.floor)).limited(least, np.inf)
        gain, rounding = chain.rows.gains(candidate)
        if ((gain - rounding >= 0) | is_limit[: len(gain)]).all():
            return candidate
        error = np.maximum(error, rounding)
    return None

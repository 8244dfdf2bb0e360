"""Policy iteration with certified values, for episodes that end but may last for billions of steps.

Value iteration needs a number of sweeps proportional to the length of episodes (``stopping_rule.py``), and its rounding
errors grow with the length, too. Policy iteration avoids both problems. A discount ``b`` is replaced by a terminal with
value 0 that every row reaches with probability ``1 - b``. The optimal values are the only ``v`` with

    max_a  g(a)  =  0,        g(a)  =  r(s, a) + sum_t P(t | s, a) (v(t) - v(s))

where ``g`` is the *gain* of a row. In this form, which requires that the probabilities of each row add up to 1,
self-loops cancel. In long episodes, ``v`` is nearly constant over states that lead to each other. Values are therefore
stored as sums of two floats, so that differences of values, and hence gains, are accurate to nearly full floating-point
precision. If episodes last for more than about 1e25 steps, decimal numbers replace these sums (``decimals.py``). Policy
iteration [Howard 1960] evaluates a policy (``elimination.py``), refines its values, and changes the policy in every
state in which another row is better by more than rounding errors. The iteration ends if no state has a better row or
the values stop changing.

**Certificate.** For a row of ``n`` entries and unit roundoff ``u``, let ``e`` be ``(n + 13) u`` times
``|r| + sum_t P |v(t) - v(s)|``, a bound on the rounding error of the gain. If every policy terminates, then for
any vector ``c``,

    g + e <= 0 in all rows, at v + c   =>   v* <= v + c
    g - e >= 0 in one row of each state, at v - c   =>   v* >= v - c

because backups are monotone and converge to ``v*``. The conditions are not required in states whose bound is the
largest or smallest possible value. Candidates for ``c`` are the values of the policy if each row pays four times its
rounding error. If another row still has a positive gain, the policy of the upper bound switches to it. The proof does
not depend on how ``v`` and ``c`` were found: both conditions are checked at the end, and a bound that cannot be proved
is infinite.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from punish_fast.mdp.chain import _elimination
from punish_fast.mdp.chain.decimals import Decimals, decimals, find_gains, many_digits
from punish_fast.mdp.chain.elimination import UNLIMITED, Elimination, affordable
from punish_fast.mdp.graph.qualitative import approaching_choice, ending_choice
from punish_fast.mdp.graph.row_selection import first_marked, states_of_rows
from punish_fast.mdp.methods.totals import Total
from punish_fast.mdp.model.limits import SolveError, SolverOptions
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.process import SMALLEST, UNIT_ROUNDOFF, Payment, RowChoices
from punish_fast.mdp.model.solution import Exact, Payoff, Unsolved
from punish_fast.runtime.lazy_modules import sparse
from punish_fast.runtime.parallel import for_chunks

_MOST_ROUNDS = 100
# Policy iteration stops if no value changes by more than this fraction of the tolerance.
_SHARE = 1e-3
# Discount used to find an initial policy, because undiscounted episodes might be too long for floating point.
LARGEST_DISCOUNT = 1 - 1e-11
_MOST_CANDIDATES = 12
# Number of digits beyond the logarithm of the episodes' length, and maximum number of digits times entries.
_LEAST_DIGITS, _MOST_DIGITS = 40, 50_000_000
# Change of rewards in the search for bounds, in multiples of each row's rounding error.
_ALLOWANCE = 4
# Relative precision of a sum of two floats, with some margin.
_LEAST_DIGIT = 2.0**-100
# Roundings of a gain in addition to its sum: stored probability (4), discount, difference (3), products, bound.
_FURTHER_ROUNDINGS = 13
# Number of entries that one thread can read while other threads start.
_LEAST_WORK = 100_000


def values_of_rows(mdp: MDP, payoff: Payoff, found: Exact, discount: float = 1.0) -> np.ndarray:
    """Return row values, float64 ``[n_rows]``, at most ``found.v``, and equal to ``found.v`` in rows of the policy."""
    v = np.concatenate([found.v, payoff.end])
    choices = RowChoices(np.zeros(mdp.n_rows), found.choice.copy())
    with np.errstate(all="ignore"):
        for layer in range(mdp.n_layers):
            mdp.backups.close(layer, Payment(payoff.row, discount), choices, v, v.copy())
    q: np.ndarray = np.minimum(choices.q, found.v[states_of_rows(mdp)])
    q[found.choice] = found.v
    return q


class Double(NamedTuple):
    """Values of all columns, each the sum of two floats, ``high + low``."""

    high: np.ndarray
    low: np.ndarray
    refinements: int = 8  # maximum number of refinements

    def plus(self, change: np.ndarray) -> Double:
        """Return the values with ``change`` added to the first ``len(change)`` columns."""
        high, low = self.high.copy(), self.low.copy()
        n = len(change)
        high[:n], rest = _two_sum(high[:n], change)
        high[:n], low[:n] = _two_sum(high[:n], low[:n] + rest)
        return Double(high, low)

    def limited(self, least: float, most: float) -> tuple[Double, np.ndarray]:
        """Return the values clipped to the limits, and a mask of the values at a limit, bool ``[n_columns]``."""
        is_limit = (self.high - least + self.low <= 0) | (self.high - most + self.low >= 0)
        return Double(np.clip(self.high, least, most), np.where(is_limit, 0.0, self.low)), is_limit

    def distance(self, other: np.ndarray) -> float:
        """Return an upper bound on the differences between the first values and ``other``, float64 ``[n]``."""
        n = len(other)
        distances = np.abs(self.high[:n] - other) + np.abs(self.low[:n])
        return float(np.nextafter(distances.max(initial=0) * (1 + 8 * UNIT_ROUNDOFF), np.inf))

    def resolution(self, solved: np.ndarray) -> np.ndarray:
        """Return bounds on the errors of storing values of at most ``solved``, float64 ``[n_states]``."""
        return np.asarray(np.nan_to_num(_LEAST_DIGIT * solved))


Numbers = Double | Decimals


def _two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rounded sum ``a + b`` and its rounding error [Knuth 1969]."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


class Rows:
    """Rows of an MDP, and their gains."""

    def __init__(self, matrix: sparse.csr_array, state_ptr: np.ndarray, state: np.ndarray, reward: np.ndarray) -> None:
        # `state_ptr`: int64 [n_states + 1]. `state`: int32 [n_rows], state of each row. `reward`: float64 [n_rows].
        # If there is a discount, the last column of `matrix` is the terminal that replaces it.
        self.matrix, self.state_ptr, self.state, self.reward = matrix, state_ptr, state, reward
        self._entries = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data

    @classmethod
    def of(cls, mdp: MDP, reward: np.ndarray, discount: float = 1.0) -> Rows:
        """Build the rows of an MDP. ``reward``, float64 ``[n_rows]``, replaces its rewards."""
        matrix = mdp.to_scipy()
        if discount < 1:
            ends = sparse.csr_array(np.full((mdp.n_rows, 1), 1 - discount))
            matrix = sparse.csr_array(sparse.hstack([discount * matrix, ends], format="csr"))
        return cls(matrix, mdp.state_ptr, states_of_rows(mdp), reward)

    def taken(self, choice: np.ndarray) -> Rows:
        """Return only the rows ``choice`` of a policy, int64 ``[n_states]``."""
        state = np.arange(len(choice), dtype=np.int32)
        return Rows(self.matrix[choice], np.arange(len(choice) + 1), state, self.reward[choice])

    def gains(self, v: Numbers) -> tuple[np.ndarray, np.ndarray]:
        """Return the gains of all rows and bounds on their rounding errors, ``[n_rows]`` each."""
        if isinstance(v, Decimals):
            return find_gains(self._decimals, self.state, v.values, _FURTHER_ROUNDINGS)
        gain, error = np.empty(len(self.reward)), np.empty(len(self.reward))
        rows, constants = (self.state, self.reward), (_FURTHER_ROUNDINGS, UNIT_ROUNDOFF, SMALLEST)
        args = self._entries, rows, v[:2], constants, gain, error
        for_chunks(_elimination.find_gains, self._entries[0], *args, alone=self.matrix.nnz < _LEAST_WORK)
        return gain, error

    @cached_property
    def _decimals(self) -> tuple[np.ndarray, ...]:
        return *self._entries[:2], decimals(self.matrix.data), decimals(self.reward)

    def best(self, values: np.ndarray) -> np.ndarray:
        """Return the row with the largest of ``values`` in each state, or the first of several such rows."""
        # If a value is NaN, all rows of its state are marked.
        return first_marked(self.state_ptr, ~(values < np.maximum.reduceat(values, self.state_ptr[:-1])[self.state]))


def eliminate(problem: Total) -> Exact | Unsolved:
    """Solve by policy iteration, starting with the policy of sweeps. Fail if the chain of a policy is too large."""
    mdp, choice = problem.mdp, problem.found.choice
    if problem.may_not_end:
        choice = ending_choice(mdp, choice)
        problem.found = replace(problem.found, choice=choice)
    found = _improved(problem, choice, problem.discount)
    # Try other initial policies, because trajectories under the first one might be too long for floating point.
    if problem.discount == 1 and _is_unproved(found):
        found = _improved(problem, approaching_choice(mdp), 1.0)
        if _is_unproved(found) and isinstance(limited := _improved(problem, choice, LARGEST_DISCOUNT), Exact):
            found = _improved(problem, limited.choice, 1.0)
    return problem.accepted(found)


def _is_unproved(found: Exact | Unsolved) -> bool:
    return isinstance(found, Exact) and found.error_bound == np.inf


def use_decimals(problem: Total) -> Exact | Unsolved:
    """Solve by policy iteration with decimal numbers (``decimals.py``), starting with the policy of sweeps.

    The number of digits follows from the expected length of episodes. Rewards of both signs might cancel, and the
    optimal policy might take longer than the initial policy, so a second attempt uses more digits.
    """
    rows, choice = Rows.of(problem.mdp, problem.payoff.row, problem.discount), problem.found.choice
    outcome: Exact | Unsolved = Unsolved("the process is too large or its episodes are too long")
    for factor in (1, 2):
        elimination = Elimination(rows.taken(choice).matrix, limits=problem.limits)
        size = elimination.nnz + problem.mdp.nnz
        if not elimination.is_affordable or _LEAST_DIGITS * size > _MOST_DIGITS:
            break
        with many_digits(_LEAST_DIGITS):
            steps = elimination.solve(decimals(np.ones(problem.mdp.n_states))).max()
        digits = _LEAST_DIGITS + factor * max(steps.adjusted(), 0)
        if not steps.is_finite() or digits * size > _MOST_DIGITS:
            break
        with many_digits(digits):
            found = _improved(problem, choice, problem.discount, digits)
        outcome = problem.accepted(found)
        if isinstance(found, Unsolved) or isinstance(outcome, Exact):
            break
        choice = found.choice
    return outcome


def _improved(problem: Total, choice: np.ndarray, discount: float, digits: int = 0) -> Exact | Unsolved:
    """Improve ``choice`` until no state has a better row or the values settle, and prove an error bound for them.

    Values are sums of two floats, or decimal numbers if a number of ``digits`` is given.
    """
    (paid, worth, value_range, _), limits, n = problem.payoff, problem.limits, problem.mdp.n_states
    rows = Rows.of(problem.mdp, paid, discount)
    ends = np.zeros(rows.matrix.shape[1])
    ends[n : n + len(worth)] = worth
    v: Numbers = Decimals(decimals(ends), digits) if digits else Double(ends, np.zeros(len(ends)))
    elimination, before = None, problem.found.rounds
    with np.errstate(all="ignore"):
        for rounds in range(1, _MOST_ROUNDS + 1):
            limits.progress(before + rounds, np.inf)
            if limits.is_over:
                return Unsolved(f"the time was over before policy {rounds}")
            last = v.high
            chain = _Chain(rows, choice, v, elimination, limits)
            elimination = chain.elimination
            if not elimination.is_affordable:
                told = "too little time" if affordable(limits) < affordable(UNLIMITED) else "the chain is too large"
                return Unsolved(f"{told} in policy {rounds}")
            v = chain.evaluated(v)
            gain, error = rows.gains(v)
            best = rows.best(gain - error)
            better = (gain - error)[best] > np.maximum(gain + error, 0)[choice]
            # If rounding decides ties, the choices might change forever, but the values settle.
            unchanged = max(_SHARE * problem.goal, 8 * UNIT_ROUNDOFF * float(np.abs(v.high).max(initial=0)))
            if np.abs(v.high - last).max(initial=0) <= unchanged or not better.any():
                break
            choice = np.where(better, best, choice)
        below = _bounds(chain.rows, chain, np.arange(n), v, -1, (value_range.least, np.inf))
        bounds = below, _bounds(rows, chain, choice, v, 1, (-np.inf, value_range.most))
        if digits and None not in bounds and np.isinf(v.high[:n]).any():
            raise SolveError("reward: a value is too large for floating point")
        error_bound = max(np.inf if bound is None else bound.distance(v.high[:n]) for bound in bounds)
    # Values of terminals were rounded if there is a discount.
    error_bound += 4 * float(np.spacing(np.abs(worth).max(initial=0))) if discount < 1 else 0.0
    return Exact(np.clip(v.high[:n], *value_range), choice, error_bound, before + rounds, rounds)


class _Chain:
    """Rows of a policy, and the elimination of its chain."""

    def __init__(
        self, rows: Rows, choice: np.ndarray, v: Numbers, before: Elimination | None, limits: SolverOptions = UNLIMITED
    ) -> None:
        # `choice`: int64 [n_states], the policy. `v`: any values, but with the right values of terminals. `before`:
        # elimination of another policy, whose order is reused if possible, and whose limits replace `limits`.
        self.rows, n = rows.taken(choice), len(choice)
        self.elimination = Elimination(self.rows.matrix, before, limits)
        paid = np.abs(self.rows.reward) + self.rows.matrix[:, n:] @ np.abs(v.high[n:])
        # Bounds on the errors of storing values, [n_states]. Values can be much smaller than their terms, so the
        # bounds are fractions of the values that absolute rewards would give.
        self.floor = v.resolution(self.elimination.solve(decimals(paid) if isinstance(v, Decimals) else paid))

    def evaluated(self, v: Numbers, extra: np.ndarray | int = 0) -> Numbers:
        """Return the values of the policy if rewards are raised by ``extra``.

        The values ``v`` are refined until the residual of each row is at most ``abs(extra) / 2`` or at most its
        rounding error. The number of refinements is limited.
        """
        for _ in range(v.refinements):
            gain, error = self.rows.gains(v)
            if (np.abs(gain + extra) <= np.maximum(np.abs(extra) / 2, error)).all():
                break
            change = self.elimination.solve(gain + extra)
            if not (np.abs(change) < np.inf).all():
                break
            v = v.plus(change)
        return v


def _bounds(
    rows: Rows, chain: _Chain, choice: np.ndarray, v: Numbers, sign: int, limits: tuple[float, float]
) -> Numbers | None:
    """Return upper (``sign`` 1) or lower (-1) bounds on values, or None if no bounds could be proved.

    The bounds hold for all policies that take ``rows``. ``choice`` contains the indices of the chain's rows. All values
    must be within ``limits``.
    """
    _, error = rows.gains(v)
    for _ in range(_MOST_CANDIDATES):
        raised = chain.evaluated(v, sign * _ALLOWANCE * (error[choice] + chain.floor))
        candidate, is_limit = raised.limited(*limits)
        gain, rounding = rows.gains(candidate)
        gain = sign * gain + rounding
        if ((gain <= 0) | is_limit[rows.state]).all():
            return candidate
        error, best = np.maximum(error, rounding), rows.best(gain)
        better = (gain[best] > np.maximum(gain, 0)[choice]) & ~is_limit[: len(choice)]
        if better.any():
            choice = np.where(better, best, choice)
            chain = _Chain(rows, choice, v, chain.elimination)
    return None

"""Values that approach the optimum, and the backup that certifies them.

Policy evaluation (``policy_evaluation.py``) alternates two steps: *advance* the values toward the optimum by any means,
then *improve* them by one backup of all states to find the greedy policy and prove an error bound. The bound depends
only on the backup, so an advance needs no proof.

**Bounds of a backup.** Let ``d = T v - v`` for the Bellman operator ``T`` with discount ``g``, and ``low <= d <= high``
in every column. The value of a terminal never changes, so ``low <= 0 <= high`` if there are terminals. Rows sum to one,
so adding a constant to ``v`` adds ``g`` times the constant to ``T v``, and repeated backups give [MacQueen 1966;
Puterman 1994, sec. 6.6]

    T v + g low / (1 - g)   <=   v*   <=   T v + g high / (1 - g).

The midpoint of these bounds has an error of at most ``g (high - low) / (2 (1 - g))``. Only the *span* ``high - low``
matters. If the chain mixes fast, all changes soon become nearly equal, and the span decreases by far more than a factor
of ``g`` per sweep, while the largest change does not. If the policy never reaches a terminal, the span eventually
shrinks by a factor of ``g |lambda|`` per sweep, where ``lambda`` is the second eigenvalue of the policy's transition
matrix. Every row that is worse than the best row of its state by more than

    (g (high - low) + 2 e) / (1 - g)

is suboptimal and can be eliminated permanently. ``e`` bounds the rounding error of a backup (``value_iteration.py``).

The lower bound also holds for the values of the greedy policy, since its proof uses only that policy's backups. A
policy whose rows are worse than the best ones by up to ``t`` has values of at least ``T v + (g low - t) / (1 - g)``.

**Chains of policies.** The rows of a policy are copied to separate arrays, because a sweep over scattered rows would
read nearly all memory of the MDP. Each state has room for its longest row, so only rows that the previous policy did
not take are copied.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from punish_fast.mdp.arrays.policy import first_best
from punish_fast.mdp.bounds import _improvement
from punish_fast.mdp.bounds._improvement import NO_ROW, Candidates, Chain
from punish_fast.mdp.bounds.stopping_rule import discounted, terminal_values
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.process import FURTHER_TERMS, SMALLEST, UNIT_ROUNDOFF, Payment, RowChoices
from punish_fast.mdp.model.solution import Exact
from punish_fast.mdp.model.stored_process import rounding_of_backup, tensor_of
from punish_fast.runtime.parallel import balanced_chunks, cumulated, for_chunks, for_each

# Sweeps with less work run on one thread. Work is the number of entries plus ten for each state. This much takes two to
# four times as long as starting threads (0.1 ms).
_LEAST_WORK, _STATE_WORK = 900_000, 10
# Maximum number of blocks updated in parallel, and number of states per block if there are fewer blocks. Larger blocks
# propagate values further.
_MOST_BLOCKS, _BLOCK_STATES = 16, 1024


class PolicyChain:
    """The Markov chain of a policy. `Improvement.greedy_chain` copies its rows."""

    def __init__(self, mdp: MDP, discount: float) -> None:
        """Allocate memory for rows."""
        n = mdp.n_states
        self.ptr = cumulated(np.maximum.reduceat(np.diff(mdp.indptr), mdp.state_ptr[:-1]))
        self.nnz = int(self.ptr[-1])  # Maximum number of entries
        rows = np.empty(n, dtype=np.uint32), np.full(n, NO_ROW)
        entries = np.empty(self.nnz, dtype=np.uint32), np.empty(self.nnz)
        self.arrays = Chain(self.ptr.view(np.uint64), *rows, *entries, np.empty(n), np.empty(n))
        self._discount, self._n_columns = discount, mdp.n_columns
        self._is_small = self.nnz + _STATE_WORK * n < _LEAST_WORK
        self._nothing = np.zeros(n)
        self._chunks = balanced_chunks(self.ptr).view(np.uint64)
        n_blocks = min(_MOST_BLOCKS, 1 + len(self.ptr) // _BLOCK_STATES)
        self._blocks = balanced_chunks(self.ptr, n_blocks).view(np.uint64)

    def back_up(self, v: np.ndarray, out: np.ndarray, reward: np.ndarray | None = None) -> tuple[float, float]:
        """Back up all states from ``v`` into ``out``. Return the smallest and the largest change of a state value.

        If given, ``reward``, float64 ``[n_states]``, replaces the rewards.
        """
        chain = self.arrays if reward is None else self.arrays._replace(reward=reward)
        extremes = np.empty((len(self._chunks) - 1, 2))
        args = self._chunks, chain, self._discount, v, out, extremes
        for_each(_improvement.back_up_chain, len(extremes), *args, alone=self._is_small)
        return float(extremes[:, 0].min()), float(extremes[:, 1].max())

    def discounted_successors(self, x: np.ndarray) -> np.ndarray:
        """Return ``discount * P x``, float64 ``[n_states]``, for ``x``, float64 ``[n_columns]``."""
        out = np.empty(len(self._nothing))
        self.back_up(x, out, self._nothing)
        return out

    def relaxed(self, residual: np.ndarray) -> np.ndarray:
        """Solve ``x - discount * P x = residual``, with 0 at terminals, approximately by two Gauss-Seidel sweeps."""
        chain = self.arrays._replace(reward=residual)
        x, out = np.zeros(self._n_columns), np.zeros(self._n_columns)
        for is_descending in (True, False):
            args = self._blocks, is_descending, chain, self._discount, x, out
            for_each(_improvement.relax_chain, len(self._blocks) - 1, *args, alone=self._is_small)
            x[:] = out
        return x


class SpanBound(NamedTuple):
    """Bounds on the optimal values, derived from the changes in a backup."""

    low: float  # Smallest change of a column's value
    high: float  # Largest change of a column's value
    discount: float  # Discount factor, below 1
    rounding: float  # Upper bound on the rounding error of the backup

    @property
    def span(self) -> float:
        """Difference between the largest and the smallest change."""
        return self.high - self.low

    @property
    def error(self) -> float:
        """Upper bound, including rounding, on the error of backed-up values shifted to the midpoint of their bounds."""
        return (self.discount * self.span / 2 + 2 * self.rounding) / (1 - self.discount)

    @property
    def error_from_above(self) -> float:
        """Bound on the amount by which optimal values exceed backed-up values."""
        return (self.discount * self.high + 2 * self.rounding) / (1 - self.discount)

    def error_from_below(self, tie: float) -> float:
        """Bound the amount by which backed-up values exceed the values of a policy.

        The rows of the policy are worse than the best rows by up to ``tie``.
        """
        return (tie - self.discount * self.low + 2 * self.rounding) / (1 - self.discount)

    def tie_within(self, allowed: float) -> float:
        """Return the largest ``tie`` for which `error_from_below` is at most ``allowed``, or 0."""
        return max(allowed * (1 - self.discount) + self.discount * self.low - 2 * self.rounding, 0.0)

    @property
    def slack(self) -> float:
        """Largest amount by which an optimal row can be worse than the best row of its state."""
        return (self.discount * self.span + 2 * self.rounding) / (1 - self.discount)

    @property
    def is_at_floor(self) -> bool:
        """True if rounding errors could cause a span this large."""
        return self.discount * self.span <= 4 * self.rounding


class Improvement:
    """Values, their greedy policy, and a bound on the distance of the values from the optimum."""

    def __init__(self, mdp: MDP, discount: float, goal: float, initial_values: np.ndarray | None = None) -> None:
        """Start with ``initial_values`` (float64 ``[n_states]``), or with zeros."""
        # The MDP must have one layer and must not be compact. The discount must be below 1. The goal is the error bound
        # to reach.
        self.mdp, self.discount, self.goal = mdp, discount, goal
        n = mdp.n_states
        self.tensor = tensor_of(mdp)
        self.v = np.zeros(mdp.n_columns)  # float64 ``[n_columns]``, values of columns, exact for terminals
        self.v[n:] = terminal_values(mdp, discount)
        # int64 ``[n_states]``, the best candidate of each state in the last backup
        self.choice = mdp.state_ptr[:-1].copy()
        self.candidates = Candidates(np.arange(mdp.n_rows, dtype=np.uint32), np.diff(mdp.state_ptr).astype(np.uint32))
        # Smallest bound so far, and the values with this bound. Updated only if the time is limited.
        self.best = np.inf, self.v
        self.bound: SpanBound | None = None  # Bound proved by the last backup. None until the first backup
        self.n_changed = n  # Number of states whose choice changed in the last backup
        self.work = 0  # Number of entries read so far
        self._q = np.empty(0)
        self._out = self.v.copy()
        self._largest = discounted(mdp, discount, n_steps=1).largest_value
        self._chunks = balanced_chunks(mdp.indptr[mdp.state_ptr]).view(np.uint64)
        if initial_values is not None:
            self.v[:n] = np.clip(initial_values, -self._largest, self._largest)

    def greedy_chain(self) -> PolicyChain:
        """Return the Markov chain of the policy `choice`. Every call updates and returns the same object."""
        chain = self._chain
        args = self.tensor, self.discount, self.choice.view(np.uint64), chain.arrays
        for_chunks(_improvement.gather_policy, chain.ptr, *args)
        return chain

    @cached_property
    def _chain(self) -> PolicyChain:
        return PolicyChain(self.mdp, self.discount)

    @property
    def rounding(self) -> float:
        """Upper bound on the rounding error of a backup."""
        return (self.mdp.longest_row + FURTHER_TERMS) * (UNIT_ROUNDOFF * self._largest + SMALLEST)

    @property
    def is_done(self) -> bool:
        """True if the goal is reached, or if rounding makes it unreachable."""
        return self.bound is not None and (self.bound.error <= self.goal or self.bound.is_at_floor)

    @property
    def goal_of_changes(self) -> float:
        """Half of the largest span of changes that reaches the goal."""
        return self.goal * (1 - self.discount) / max(self.discount, 1 - self.discount)

    def improve(self) -> np.ndarray:
        """Back up all states, and return the previous `v`, float64 ``[n_columns]``."""
        before = self.v
        statistics = np.empty((len(self._chunks) - 1, 4))
        slack = np.inf if self.bound is None else self.bound.slack
        greedy = self._row_values(), self._out, self.choice.view(np.uint64)
        args = self._chunks, self.tensor, self.discount, slack, self.candidates, before, greedy, statistics
        for_each(_improvement.improve, len(statistics), *args)
        self.v, self._out = self._out, before
        limits = self.with_terminals(float(statistics[:, 0].min()), float(statistics[:, 1].max()))
        self.bound = self._bound_of(*limits, before)
        self.n_changed, n_read = (int(total) for total in statistics[:, 2:].sum(axis=0))
        self.work += n_read
        return before

    def with_terminals(self, low: float, high: float) -> tuple[float, float]:
        """Extend the range of changes from states to all columns. The values of terminals do not change."""
        return (min(low, 0.0), max(high, 0.0)) if len(self.mdp.terminal_reward) else (low, high)

    def _row_values(self) -> np.ndarray:
        """Return the array for row values. Allocate a new array if `close` has returned the last one."""
        if len(self._q) < self.mdp.n_rows:
            self._q = np.zeros(self.mdp.n_rows)
        return self._q

    def _bound_of(self, low: float, high: float, before: np.ndarray) -> SpanBound:
        """Return the bound proved by changes from ``low`` to ``high``.

        If rounding errors keep the bound above the goal, read all rows to estimate these errors more tightly.
        """
        bound = SpanBound(low, high, self.discount, self.rounding)
        if bound.error <= self.goal or not bound.is_at_floor:
            return bound
        return bound._replace(rounding=min(self.rounding, rounding_of_backup(self.mdp, before, self.discount)))

    def close(self) -> Exact:
        """Back up all rows once more. If the error exceeds the goal, shift the values to the midpoint of their bounds.

        The policy takes the first of tied rows (``policy.py``) that keep its loss within the goal, or within the loss
        of the best rows plus rounding.
        """
        before, self.v, self._out, n = self.v, self._out, self.v, self.mdp.n_states
        payment, choices = Payment(self.mdp.reward, self.discount), RowChoices(self._row_values(), self.choice)
        self.mdp.backups.close(0, payment, choices, before, self.v)
        change = self.v[:n] - before[:n]
        bound = self._bound_of(*self.with_terminals(float(change.min()), float(change.max())), before)
        v, q, self._q = self.v[:n], self._q, np.empty(0)
        above, below, shift = bound.error_from_above, bound.error_from_below(0.0), 0.0
        if max(above, below) > self.goal:
            shift = (above - below) / 2
        allowed = max(self.goal - shift, below + 2 * bound.rounding / (1 - self.discount))
        choice = first_best(self.mdp.state_ptr, q, v, bound.tie_within(allowed))
        loss = bound.error_from_below(float((v - q[choice]).max()))
        v = v + shift
        if shift:
            q += shift
            rounding = UNIT_ROUNDOFF * float(np.abs(v).max()) + SMALLEST
            above, loss = above + rounding, loss + rounding
        return Exact(v, choice, max(above - shift, loss + shift), rounds=0, q=q)

    def clip(self) -> None:
        """Clip state values to their possible range after an advance, and replace NaN with 0."""
        values = self.v[: self.mdp.n_states]
        np.clip(values, -self._largest, self._largest, out=values)
        values[np.isnan(values)] = 0.0

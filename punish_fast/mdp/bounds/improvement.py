"""A point on the way to the optimal values, and the backup that certifies it.

Every method for processes without layers alternates two steps: *advance* the values in any way that may bring them
nearer to the optimal ones, then *improve* them by one backup of all states, which finds the greedy policy and proves a
bound on the error. The bound rests on the backup alone, so an advance needs no proof.

**Bounds of a backup.** Let ``d = T v - v`` for the Bellman operator ``T`` with discount ``g``, and ``low <= d <= high``
in every column; a terminal never changes, so if there are terminals, 0 lies between them. Rows add up to one, so a
constant added to ``v`` comes back ``g`` times, and repeated backups give [MacQueen 1966; Puterman 1994, sec. 6.6]

    T v + g low / (1 - g)   <=   v*   <=   T v + g high / (1 - g).

The middle of the two is off by at most ``g (high - low) / (2 (1 - g))``. Only the *span* ``high - low`` counts: where
play forgets quickly where it began, all changes soon become alike, and the span falls by far more than ``g`` a sweep,
while the largest change does not. In a process that never gets to a terminal the modulus of the span is ``g`` times the
second eigenvalue. Every row that is worse than the best one of its state by more than

    (g (high - low) + 2 e) / (1 - g)

is not optimal and can be left out for good; ``e`` bounds the rounding error of a backup (``value_iteration.py``).

The lower bound is one on the values of the greedy policy, since it is all that the policy's own backups use. A policy
whose rows are worse than the best ones by up to ``t`` earns at least ``T v + (g low - t) / (1 - g)``.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from punish_fast.mdp.bounds import _improvement
from punish_fast.mdp.bounds._improvement import Candidates, Greedy
from punish_fast.mdp.bounds.rounding import FURTHER_TERMS, SMALLEST, UNIT_ROUNDOFF, rounding_of_backup
from punish_fast.mdp.bounds.stopping_rule import discounted
from punish_fast.mdp.chain.policy_chain import PolicyChain
from punish_fast.mdp.model import MDP
from punish_fast.mdp.policy import first_best, preferring
from punish_fast.mdp.process import Payment, RowChoices, tensor_of
from punish_fast.runtime.parallel import balanced_chunks, for_each


class SpanBound(NamedTuple):
    """Bounds on the optimal values from the changes of a backup.

    Attributes:
        low: The smallest change of a column.
        high: The largest change.
        discount: Below 1.
        rounding: The largest rounding error of the backup.
    """

    low: float
    high: float
    discount: float
    rounding: float

    @property
    def span(self) -> float:
        """The distance of the smallest and the largest change."""
        return self.high - self.low

    @property
    def error(self) -> float:
        """Upper bound on the error of backed up values moved to the middle of their bounds, rounding included."""
        return (self.discount * self.span / 2 + 2 * self.rounding) / (1 - self.discount)

    @property
    def error_from_above(self) -> float:
        """Bound on how much optimal values exceed backed up values."""
        return (self.discount * self.high + 2 * self.rounding) / (1 - self.discount)

    def error_from_below(self, tie: float) -> float:
        """Bound the loss, against backed up values, of a policy whose rows are worse than the best by up to ``tie``."""
        return (tie - self.discount * self.low + 2 * self.rounding) / (1 - self.discount)

    def tie_within(self, allowed: float) -> float:
        """Return the largest ``tie`` for which `error_from_below` is at most ``allowed``, or 0."""
        return max(allowed * (1 - self.discount) + self.discount * self.low - 2 * self.rounding, 0.0)

    @property
    def slack(self) -> float:
        """How much worse than the best row of its state an optimal row can be at most."""
        return (self.discount * self.span + 2 * self.rounding) / (1 - self.discount)

    @property
    def is_at_floor(self) -> bool:
        """Whether the changes differ by no more than rounding can make them."""
        return self.discount * self.span <= 4 * self.rounding


class Closed(NamedTuple):
    """Values and a policy.

    Attributes:
        v: float64 ``[n_states]``, values.
        q: float64 ``[n_rows]``, values of rows, of which ``v`` has the best of each state.
        rows_taken: int64 ``[n_states]``, the rows of the policy.
        error_bound: Upper bound on the error of ``v``, and on ``v`` less the values of the policy.
        policies: Number of policies that exact policy iteration evaluated.
    """

    v: np.ndarray
    q: np.ndarray
    rows_taken: np.ndarray
    error_bound: float
    policies: int = 0


class Improvement:
    """Values, the policy that is greedy for them, and how far they are from optimal.

    Attributes:
        mdp: The process, not compact.
        tensor: Its arrays for kernels.
        discount: Below 1.
        goal: The error bound to reach.
        v: float64 ``[n_columns]``, values; of terminals the exact ones.
        choice: int64 ``[n_states]``, the best candidate of each state in the last backup.
        candidates: The rows that may be optimal.
        bound: The bounds that the last backup proved, None before the first.
        n_changed: States whose choice changed in the last backup.
        work: Entries read so far.
        most_work: Entries that an evaluation may read, those before it included; at least one step is made.
        contraction: The contraction of a backup.
    """

    def __init__(self, mdp: MDP, discount: float, goal: float, start: np.ndarray | None = None) -> None:
        """Start with the values ``start`` (float64 ``[n_states]``), or with zeros."""
        self.mdp, self.discount, self.goal = mdp, discount, goal
        n = mdp.n_states
        self.tensor = tensor_of(mdp)
        self.v = np.zeros(mdp.n_columns)
        self.v[n:] = mdp.terminal_reward / (1 - discount)
        self.choice = mdp.state_ptr[:-1].copy()
        self.candidates = Candidates(np.arange(mdp.n_rows, dtype=np.uint32), np.diff(mdp.state_ptr).astype(np.uint32))
        self.bound: SpanBound | None = None
        self.n_changed = n
        self.work, self.most_work = 0, np.inf
        self._q = np.empty(0)
        self._out = self.v.copy()
        self.contraction = discounted(mdp, discount, n_steps=1)
        self._largest = self.contraction.largest_value
        self._chunks = balanced_chunks(mdp.indptr[mdp.state_ptr]).view(np.uint64)
        if start is not None:
            self.v[:n] = np.clip(start, -self._largest, self._largest)

    def greedy_chain(self) -> PolicyChain:
        """The chain of the policy `choice`, one and the same object that follows it."""
        self._chain.follow(self.choice)
        return self._chain

    @cached_property
    def _chain(self) -> PolicyChain:
        return PolicyChain(self.mdp, self.tensor, self.discount)

    @property
    def rounding(self) -> float:
        """The largest rounding error of a backup."""
        return (self.mdp.longest_row + FURTHER_TERMS) * (UNIT_ROUNDOFF * self._largest + SMALLEST)

    @property
    def error(self) -> float:
        """Upper bound on the error of `v` after `improve`, moved to the middle of its bounds."""
        return np.inf if self.bound is None else self.bound.error

    @property
    def is_done(self) -> bool:
        """Whether the goal is reached, or rounding keeps it out of reach."""
        return self.bound is not None and (self.bound.error <= self.goal or self.bound.is_at_floor)

    @property
    def goal_of_changes(self) -> float:
        """Half the span of changes that would reach the goal."""
        return self.goal * (1 - self.discount) / max(self.discount, 1 - self.discount)

    def improve(self) -> np.ndarray:
        """Back up all states; return `v` from before, ``[n_columns]``."""
        before = self.v
        chunks = self._chunks
        statistics = np.empty((len(chunks) - 1, 4))
        slack = np.inf if self.bound is None else self.bound.slack
        greedy = Greedy(self._row_values(), self._out, self.choice.view(np.uint64))
        args = chunks, self.tensor, self.discount, slack, self.candidates, before, greedy, statistics
        for_each(_improvement.improve, len(chunks) - 1, *args)
        self.v, self._out = self._out, before
        limits = self.with_terminals(float(statistics[:, 0].min()), float(statistics[:, 1].max()))
        self.bound = self._bound_of(*limits, before)
        self.n_changed, n_read = (int(total) for total in statistics[:, 2:].sum(axis=0))
        self.work += n_read
        return before

    def with_terminals(self, low: float, high: float) -> tuple[float, float]:
        """Return the smallest and the largest change of a column, from those of states; terminals do not change."""
        return (min(low, 0.0), max(high, 0.0)) if len(self.mdp.terminal_reward) else (low, high)

    def _row_values(self) -> np.ndarray:
        """Return the array for values of rows, a new one if `close` gave the last one away."""
        if len(self._q) < self.mdp.n_rows:
            self._q = np.zeros(self.mdp.n_rows)
        return self._q

    def _bound_of(self, low: float, high: float, before: np.ndarray) -> SpanBound:
        """Return what changes from ``low`` to ``high`` prove; near the limit of rounding, look at each row."""
        bound = SpanBound(low, high, self.discount, self.rounding)
        if bound.error <= self.goal or not bound.is_at_floor:
            return bound
        return bound._replace(rounding=min(self.rounding, rounding_of_backup(self.mdp, before, self.discount)))

    def close(self) -> Closed:
        """Back up all rows once more, and return values in the middle of their bounds, unless they are near.

        The policy takes the first of tied rows (``policy.py``) that keep its loss within the goal, or within the loss
        of the best rows and rounding.
        """
        backups, n = self.mdp.backups, self.mdp.n_states
        before, self.v, self._out = self.v, self._out, self.v
        payment, choices = Payment(self.mdp.reward, self.discount), RowChoices(self._row_values(), self.choice)
        for layer in range(self.mdp.n_layers):
            backups.close(layer, payment, choices, before, self.v)
        change = self.v[:n] - before[:n]
        bound = self._bound_of(*self.with_terminals(float(change.min()), float(change.max())), before)
        v, q, self._q = self.v[:n], self._q, np.empty(0)
        above, below, shift = bound.error_from_above, bound.error_from_below(0.0), 0.0
        if max(above, below) > self.goal:
            shift = (above - below) / 2
        allowed = max(self.goal - shift, below + 2 * bound.rounding / (1 - self.discount))
        choice = first_best(self.mdp.state_ptr, q, v, bound.tie_within(allowed))
        loss = bound.error_from_below(float((v - q[choice]).max()))
        preferring(self.mdp.state_ptr, q, choice, v, out=q)
        v = v + shift
        if shift:
            q += shift
            rounding = UNIT_ROUNDOFF * float(np.abs(v).max()) + SMALLEST
            above, loss = above + rounding, loss + rounding
        return Closed(v, q, choice, max(above - shift, loss + shift))

    def clip(self) -> None:
        """Keep values of states within what is possible, wherever an advance took them."""
        values = self.v[: self.mdp.n_states]
        np.clip(values, -self._largest, self._largest, out=values)
        values[np.isnan(values)] = 0.0

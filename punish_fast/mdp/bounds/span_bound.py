"""Bounds on the optimal values from the smallest and the largest change of one backup.

Let ``d = T v - v`` for the Bellman operator ``T`` with discount ``g``, and ``low <= d <= high`` in every column; a
terminal never changes, so where there are terminals, 0 lies between them. Rows add up to one, so a constant added to
``v`` comes back ``g`` times, and backing up again and again gives [MacQueen 1966; Puterman 1994, sec. 6.6]

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

from typing import NamedTuple


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

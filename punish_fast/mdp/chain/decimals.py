"""Values of a chain as decimal numbers of many digits, for episodes too long for sums of two floats.

If episodes last for ``N`` steps, an error of ``e`` in the gain of a row can change values by ``N e``, so values need
about ``log10 N`` more digits than results. The factors of a policy's equations remain floats (``elimination.py``).
State reduction subtracts nothing, so each step changes the probabilities ``p`` of the reduced chain by a relative error
of a few units, and all steps together have the same effect as a relative error ``d`` of at most the sum of these errors
[O'Cinneide 1993]. Each pivot must be the sum of the probabilities of leaving. In floats, this sum is rounded, and the
rounding error acts like an additional probability of termination that might exceed the true one. Pivots are therefore
added up again as decimal numbers. Then the solution ``x`` of the equations with these factors has gains of at most

    d (|r(s)| + sum_t p(s, t) |x(t) - x(s)|)

in every reduced chain. Solving the equations for the gains and adding the solution therefore reduces the error by a
factor of about ``n d``. This gains nearly all digits of a float in episodes of any length. The proof of error bounds in
``exact_iteration.py`` does not depend on this argument: it checks the gains of decimal numbers, whose rounding errors
are far below the allowance for rounded probabilities.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from functools import cached_property
from typing import Any

import numpy as np

from punish_fast.mdp.model.process import UNIT_ROUNDOFF

# Minimum number of digits gained by one refinement.
_GAINED = 8
# Digits lost to rounding in the sums of a row.
_LOST = 8

_decimal: Any = np.frompyfunc(Decimal, 1, 1)


def many_digits(digits: int) -> AbstractContextManager[Context]:
    """Compute with ``digits`` digits in the current thread. Invalid operations return NaN."""
    return localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[]))


class Decimals:
    """Values of all columns as decimal numbers, with the methods of `Double` in ``exact_iteration.py``."""

    def __init__(self, values: np.ndarray, digits: int) -> None:
        # `values`: object [n_columns], decimal numbers. `digits`: number of digits.
        self.values, self.digits = values, digits
        self.refinements = digits // _GAINED

    @cached_property
    def high(self) -> np.ndarray:
        """The nearest floats, float64 ``[n_columns]``."""
        return self.values.astype(np.float64)

    def plus(self, change: np.ndarray) -> Decimals:
        """Return the values with ``change`` added to the first ``len(change)`` columns."""
        values = self.values.copy()
        values[: len(change)] += change
        return Decimals(values, self.digits)

    def limited(self, least: float, most: float) -> tuple[Decimals, np.ndarray]:
        """Return the values clipped to the limits, and a mask of the values at a limit, bool ``[n_columns]``."""
        low, high = self.values <= least, self.values >= most
        values = self.values.copy()
        values[low], values[high] = Decimal(least), Decimal(most)
        return Decimals(values, self.digits), np.asarray(low | high, dtype=bool)

    def distance(self, other: np.ndarray) -> float:
        """Return an upper bound on the differences between the first values and ``other``, float64 ``[n]``."""
        largest = float(np.abs(self.values[: len(other)] - decimals(other)).max(initial=Decimal(0)))
        return float(np.nextafter(largest * (1 + 8 * UNIT_ROUNDOFF), np.inf))

    def resolution(self, solved: np.ndarray) -> np.ndarray:
        """Return bounds on the errors of storing values of at most ``solved``, object ``[n_states]``."""
        return np.asarray(solved * Decimal(10) ** (_LOST - self.digits))


def decimals(x: np.ndarray) -> np.ndarray:
    """Convert floats to decimal numbers, object ``[n]``, without rounding."""
    return np.asarray(_decimal(x), dtype=object)


def find_gains(chain: Any, state: np.ndarray, v: np.ndarray, roundings: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the gains of rows and bounds on their rounding errors, object ``[n_rows]`` each.

    Args:
        chain: ``indptr``, ``indices``, probabilities ``[n_entries]`` and rewards ``[n_rows]``, the last two as decimal
            numbers.
        state: State of each row, int32 ``[n_rows]``.
        v: Values of columns, decimal numbers ``[n_columns]``.
        roundings: Number of roundings of a gain, in units of floats, in addition to one per entry.
    """
    indptr, indices, data, reward = chain
    lengths = np.diff(indptr)
    terms = data * (v[indices] - np.repeat(v[state], lengths))
    size = np.abs(reward) + np.add.reduceat(np.abs(terms), indptr[:-1])
    share = (lengths + roundings).astype(object) * Decimal(UNIT_ROUNDOFF)
    return reward + np.add.reduceat(terms, indptr[:-1]), share * size

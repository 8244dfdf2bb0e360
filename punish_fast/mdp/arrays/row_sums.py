"""Sums of rows, and error messages for invalid rows."""

from typing import Any

import numpy as np

from punish_fast.mdp.arrays import _probabilities
from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.parallel import for_chunks

# Largest accepted difference between 1 and the sum of a row.
SUM_TOLERANCE = 1e-12
# Rows whose sum differs from 1 by more than this are divided by their sum. The two roundings of the division leave a
# difference of at most half this value.
ROUNDING = 2.0**-51
# One thread can sum this many entries before other threads have started.
_LEAST_WORK = 100_000
# Sums of larger numbers might overflow.
_LARGEST_COUNT = 1e300


class ModelError(PunishFastError, ValueError):
    """Raised if the input is not a valid Markov decision process.

    The message begins with the invalid array or argument.
    """


def row_sums(indptr: np.ndarray, data: np.ndarray, data_ptr: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's rounded sum and its exact sum minus 1, float64 ``[n_rows]``, not finite after an overflow."""
    indptr = indptr.astype(np.int64, copy=False)
    total, deviation = np.empty(len(indptr) - 1), np.empty(len(indptr) - 1)
    first = indptr[:-1] if data_ptr is None else data_ptr
    args = first, np.diff(indptr), data, total, deviation
    for_chunks(_probabilities.sum_rows, indptr, *args, alone=indptr[-1] < _LEAST_WORK)
    return total, deviation


def largest_entry(normalize: bool) -> float:
    """Return the largest accepted entry of a row."""
    return _LARGEST_COUNT if normalize else 1 + SUM_TOLERANCE


def accepted(total: Any, deviation: Any, normalize: bool) -> Any:
    """Return True if the sum of a row is accepted. The arguments are scalars or arrays.

    ``total`` is the rounded sum, and ``deviation`` is the exact sum minus 1.
    """
    return (total > 0) & (total < np.inf) if normalize else np.abs(deviation) <= SUM_TOLERANCE


def refused_entry(place: str, entry: str, p: float, normalize: bool) -> str:
    """Return the error message for an invalid entry. ``entry`` is a phrase that identifies it (see `entry_name`)."""
    wanted = f"number from 0 to {_LARGEST_COUNT:g}" if normalize else "probability from 0 to 1"
    return f"{place} has {float(p)!r} {entry}; it must be a {wanted}"


def refused_sum(place: str, total: float, deviation: float, normalize: bool) -> str:
    """Return the error message for a row that `accepted` rejects."""
    if normalize:
        return f"the probabilities of {place} add up to {float(total)!r}; the sum must be positive and finite"
    return f"{describe_sum(place, total, deviation)}; the option normalize divides them by their sum"


def describe_sum(place: str, total: float, deviation: float) -> str:
    """Return the error message for a row whose sum is not 1."""
    limit = f"{abs(deviation):.3g} {'above' if deviation > 0 else 'below'} 1 (limit: {SUM_TOLERANCE:g})"
    return f"the probabilities of {place} add up to {float(total)!r}, {limit}"

"""Validation of rows: sums of probabilities other than 1, and other flaws."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np

from punish_fast.mdp import _probabilities
from punish_fast.runtime.parallel import balanced_chunks, for_each

if TYPE_CHECKING:
    from punish_fast.mdp.model import MDP

# Largest accepted difference between 1 and the sum of a row.
SUM_TOLERANCE = 1e-12
# Rows are only divided above this difference. Dividing by a rounded sum rounds twice and leaves at most half of it.
ROUNDING = 2.0**-51
# Sums of larger numbers might overflow.
_LARGEST_COUNT = 1e300


def largest_deviation(mdp: MDP) -> float:
    """Return the largest absolute difference between 1 and the exact sum of a row.

    This takes about as long as one sweep. The result is below 4.5e-16 for MDPs built by the constructors ``from_*``.
    """
    chunks = balanced_chunks(mdp.indptr)
    largest = np.zeros(len(chunks) - 1)
    args = (chunks, mdp.indptr, mdp.data_ptr, mdp.data, largest)
    for_each(_probabilities.find_deviations, len(chunks) - 1, *args)
    return float(largest.max(initial=0))


def row_name(state_ptr: np.ndarray, row: int) -> str:
    """Return the name of a row for messages."""
    return f"row {row} (of state {np.searchsorted(state_ptr, row, side='right') - 1})"


def largest_entry(normalize: bool) -> float:
    """Return the largest accepted entry."""
    return _LARGEST_COUNT if normalize else 1 + SUM_TOLERANCE


def is_accepted(total: Any, deviation: Any, normalize: bool) -> Any:
    """Return True, bool or bool ``[n]``, if a row may be divided by its sum ``total``, exactly 1 plus ``deviation``."""
    return (total > 0) & (total < np.inf) if normalize else np.abs(deviation) <= SUM_TOLERANCE


def refused_entry(place: str, column: int, p: float, normalize: bool) -> str:
    """Return the error message for an entry of a row that is not a probability."""
    allowed = f"numbers from 0 to {_LARGEST_COUNT:g}" if normalize else "probabilities from 0 to 1"
    return f"{place} has {float(p)!r} in column {column}, allowed are {allowed}"


def refused_sum(place: str, total: float, deviation: float, normalize: bool) -> str:
    """Return the error message for a row that `is_accepted` rejects."""
    if normalize:
        return f"the probabilities of {place} add up to {float(total)!r}, allowed are positive numbers"
    return f"{_describe_sum(place, total, deviation)}; the option normalize divides them by their sum"


def describe_flaw(mdp: MDP, row: int, flaw: int) -> str:
    """Return the error message for a flaw found by `_probabilities.find_flaws`."""
    place, begin, end = row_name(mdp.state_ptr, row), mdp.indptr[row], mdp.indptr[row + 1]
    first = begin if mdp.data_ptr is None else mdp.data_ptr[row]
    columns, p = mdp.indices[begin:end].tolist(), mdp.data[first : first + end - begin].tolist()
    if flaw == _probabilities.BAD_COLUMN:
        column = next(column for column in columns if not 0 <= column < mdp.n_columns)
        return f"indices: {place} leads to column {column}, allowed are 0 to {mdp.n_columns - 1}"
    if flaw == _probabilities.BAD_PROBABILITY:
        wrong = next(k for k in range(len(p)) if not 0 <= p[k] <= 1)
        return f"data: {refused_entry(place, columns[wrong], p[wrong], False)}"
    return f"data: {_describe_sum(place, fsum(p), fsum([*p, -1.0]))}"


def _describe_sum(place: str, total: float, deviation: float) -> str:
    limit = f"{abs(deviation):.3g} {'above' if deviation > 0 else 'below'} 1, allowed is {SUM_TOLERANCE:g}"
    return f"the probabilities of {place} add up to {float(total)!r}, {limit}"

"""Sums of rows, and the error for invalid processes."""

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

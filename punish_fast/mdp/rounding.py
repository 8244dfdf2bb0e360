"""Bounds on the rounding error of a Bellman backup, from the terms of each row.

A row of ``n`` entries is off by at most ``(n + 8) u`` times the sum of its absolute terms, ``|r| + g sum P |v|``, with
unit roundoff ``u`` [Higham 2002, ch. 3]. This allows for stored probabilities that are off by up to four roundings. The
best value of a state lies between the largest ends of its rows, so a row that is far worse than the best one does not
count. The largest reward and value of a process bound the terms of all rows without reading them, but then one large
reward limits the digits of all values. `rounding_of_backup` reads all rows, and is used if that bound is too large.
"""

from __future__ import annotations

import numpy as np

from punish_fast.mdp.model import MDP

UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2
# Largest error of a product that underflows.
SMALLEST = float(np.finfo(np.float64).smallest_subnormal)
# Terms of a backup in addition to the entries of its row, and roundings of a stored probability.
FURTHER_TERMS = 8


def rounding_of_backup(mdp: MDP, v: np.ndarray, discount: float) -> float:
    """Return a bound on the largest rounding error of a backup of all states.

    Args:
        mdp: The process.
        v: float64 ``[n_columns]``, the values that are backed up.
        discount: From 0 to 1.
    """
    matrix, begins = mdp.to_scipy(), mdp.state_ptr[:-1]
    q = mdp.reward + discount * (matrix @ v)
    terms = np.abs(mdp.reward) + discount * (matrix @ np.abs(v))
    error = (np.diff(matrix.indptr) + FURTHER_TERMS) * (UNIT_ROUNDOFF * terms + SMALLEST)
    best = np.maximum.reduceat(q, begins)
    above, below = np.maximum.reduceat(q + error, begins) - best, best - np.maximum.reduceat(q - error, begins)
    return 2 * float(np.maximum(above, below).max(initial=0))

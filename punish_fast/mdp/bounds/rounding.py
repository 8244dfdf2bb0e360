"""Bounds on the rounding error of a Bellman backup, computed from the terms of each row.

The value of a row of ``n`` entries has an error of at most ``(n + 8) u`` times the sum of its absolute terms, ``|r| + g
sum P |v|``, with unit roundoff ``u`` [Higham 2002, ch. 3]. This bound includes up to four roundings of stored
probabilities. The best value of a state lies between the largest lower bound and the largest upper bound on the values
of its rows, so a row that is far worse than the best one does not matter. The largest reward and value of an MDP bound
the terms of all rows without reading them, but then one large reward loosens the bound for all values. If the resulting
bound is too large, `rounding_of_backup` reads all rows for a tighter bound.
"""

import numpy as np

from punish_fast.mdp.bounds import _improvement
from punish_fast.mdp.model import MDP
from punish_fast.mdp.process import tensor_of
from punish_fast.runtime.parallel import balanced_chunks, for_each

UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2
# Largest error of a product that underflows.
SMALLEST = float(np.finfo(np.float64).smallest_subnormal)
# Roundings of a backup in addition to one per entry, including roundings of stored probabilities.
FURTHER_TERMS = 8


def rounding_of_backup(mdp: MDP, v: np.ndarray, discount: float) -> float:
    """Return a bound on the rounding error of backing up all states from ``v``, float64 ``[n_columns]``.

    The bound is infinite if values overflow.
    """
    chunks = balanced_chunks(mdp.indptr[mdp.state_ptr]).view(np.uint64)
    errors = np.zeros(len(chunks) - 1)
    constants = np.uint64(FURTHER_TERMS), UNIT_ROUNDOFF, SMALLEST
    for_each(_improvement.measure_rounding, len(errors), chunks, tensor_of(mdp), discount, v, *constants, errors)
    return 2 * float(errors.max(initial=0))

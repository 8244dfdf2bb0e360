"""Stationary weights of Markov chains, with bounds on their relative errors.

**Stationary weights.** State reduction (``elimination.py``) eliminates one state after another without subtractions.
When a state ``k`` is restored, its weight is

    w(k)  =  sum_i w(i) p(i, k) / p(k, other states),        i later than k in the elimination order.

**Error bound.** If the probabilities of ``t`` rows have a relative error of ``e``, the ratios of stationary weights
have a relative error of at most about ``2 t e`` [Markov chain tree theorem; O'Cinneide 1993]. Eliminating a state that
is connected with ``m`` later states causes roundings of at most ``m + 3`` units in ``m`` rows, and restoring it causes
``2 m + 2`` more. Stored probabilities might be off by four units in every row, and equal columns are added with one
rounding each.
"""

import numpy as np

from punish_fast.mdp.chain.elimination import Elimination
from punish_fast.mdp.model.process import UNIT_ROUNDOFF
from punish_fast.runtime.lazy_modules import sparse

# If all numbers are within these limits, products neither overflow nor lose digits.
_SMALLEST_FACTOR, _LARGEST_FACTOR = 1e-145, 1e145
_SMALLEST_WEIGHT = 1e-290
# Roundings of stored probabilities: twice four units, and a margin.
_STORED = 9
# Largest relative error for which second-order terms are negligible.
LARGEST_SHARE = 1e-3


def stationary_weights(chain: sparse.csr_array) -> tuple[np.ndarray, float]:
    """Return weights in proportion to the stationary distribution of an irreducible chain, float64 ``[n]``.

    Also return a bound on the relative error of the ratios of weights. It is infinite if the chain is too large or a
    number is out of range.
    """
    n = chain.shape[0]
    elimination = Elimination(chain)
    if not elimination.is_affordable:
        return np.ones(n), np.inf
    weight, factors, connected = elimination.weights()
    factors = factors[factors != 0]
    if not (
        (factors >= _SMALLEST_FACTOR).all()
        and (factors <= _LARGEST_FACTOR).all()
        and (weight >= _SMALLEST_WEIGHT).all()
        and np.isfinite(weight.sum())
    ):
        return weight, np.inf
    roundings = 2 * connected * (connected + 3) + 2 * connected + 2
    # The number of entries is an upper bound on the number of roundings when equal columns are added.
    return weight, float(roundings.sum() + 2 * chain.nnz + _STORED * (n + 1)) * UNIT_ROUNDOFF

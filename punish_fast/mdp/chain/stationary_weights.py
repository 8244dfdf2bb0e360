"""The average reward of an irreducible chain, computed from its stationary weights without subtraction.

If a chain seldom moves between groups of states, its bias is many orders of magnitude larger than its rewards, and a
bias computed in floating point proves nothing. Stationary weights can still be computed to almost full precision: state
reduction (``elimination.py``) eliminates one state after another, and when a state ``k`` is restored, its weight is

    w(k)  =  sum_i w(i) p(i, k) / p(k, other states),        i later than k in the elimination order.

**Error bound.** If the probabilities of ``t`` rows have a relative error of ``e``, the ratios of stationary weights
have a relative error of at most about ``2 t e`` [Markov chain tree theorem; O'Cinneide 1993]. Eliminating a state that
is connected with ``m`` later states causes roundings of at most ``m + 3`` units in ``m`` rows, and restoring it causes
``2 m + 2`` more. Stored probabilities might be off by four units in every row, and equal columns are added with one
rounding each. If ``d`` is the sum of all these errors, the error of the gain ``g`` is at most ``d`` times the average
of ``|r - g|``.
"""

from math import fsum

import numpy as np

from punish_fast.mdp.bounds.rounding import SMALLEST, UNIT_ROUNDOFF
from punish_fast.mdp.chain.elimination import Elimination
from punish_fast.mdp.model import MDP

# If all numbers are within these limits, products neither overflow nor lose digits.
_SMALLEST_FACTOR, _LARGEST_FACTOR = 1e-145, 1e145
_SMALLEST_WEIGHT = 1e-290
# Roundings of stored probabilities: twice four units, and a margin.
_STORED = 9
_LARGEST_SHARE = 1e-3


def gain_of_chain(mdp: MDP) -> tuple[float, float] | None:
    """Return bounds on the average reward of an irreducible chain without terminals or stored zeros.

    Return None if the chain or the rounding errors are too large.
    """
    weight, share = _weights(mdp)
    if not share <= _LARGEST_SHARE:
        return None
    total = fsum(weight)
    with np.errstate(over="ignore", invalid="ignore"):
        gain = _mean(weight / total, mdp.reward)
        error = 1.01 * share * _mean(weight / total, np.abs(mdp.reward - gain))
        error += 8 * UNIT_ROUNDOFF * _mean(weight / total, np.abs(mdp.reward)) + len(weight) * SMALLEST
    return (gain - error, gain + error) if np.isfinite(error) else None


def _mean(weight: np.ndarray, reward: np.ndarray) -> float:
    products = weight * reward
    return fsum(products) if np.isfinite(products).all() else np.inf


def _weights(mdp: MDP) -> tuple[np.ndarray, float]:
    """Return weights, float64 ``[n_states]``, and a bound on the relative error of their ratios; it may be infinite."""
    chain, n = mdp.to_scipy(), mdp.n_states
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

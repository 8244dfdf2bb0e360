"""Hedge: multiplicative weights in all information states at once, each with its own learning rate.

Every iteration multiplies the weight of an action by its regret (``_regret_matching.py``)::

    z(s, a) ~ z(s, a) exp(h(s) r(s, a))

The strategy played lies halfway between that and the mean ``m`` of all ``z`` so far, weighted towards later ones::

    x(s, a) = (z(s, a) + m(s, a)) / 2

The result is the mean. Regrets are thus those of a strategy near it, while ``z`` is free to move. This replaces steps
that shrink towards an end known in advance (A. Defazio et al., "The Road Less Scheduled", NeurIPS 2024).

The rate of a state falls with the root of the summed variance of its regrets under the strategies played::

    h(s) = min(c / sqrt(V(s)), 1 / max_a |r(s, a)|)        V(s) = sum over iterations and a of x(s, a) r(s, a)^2

Such rates lose nothing by not knowing the number of iterations or the size of regrets (N. Cesa-Bianchi, Y. Mansour and
G. Stoltz, "Improved second-order bounds for prediction with expert advice", Machine Learning 66, 2007). Choices in the
last breath decide games, those in the first hardly do: one rate for all would be too high or too low.

Regrets in states seldom reached and of actions hardly played may be updated seldom, and then count several times.

The tables are the sums of all ``z`` and the logarithms of the last, up to a constant per state.
"""

from __future__ import annotations

import numpy as np

from punish_fast.equilibrium._reach import OTHERS
from punish_fast.equilibrium._restricted_game import INSIDE
from punish_fast.runtime._jit import inlined_routine, kernel

# Smallest regret that a step is divided by.
LEAST_REGRET = 1e-100
# Keeps rare actions from vanishing for good.
LEAST_LOGIT = -20.0


@inlined_routine
def play_state(first, last, logit, total, strategy):
    """Play halfway between the softmax of the logits and the mean ``total``, in the rows from ``first`` to ``last``.

    Where nothing was added up, play the softmax.
    """
    mass = 0.0
    mass_of_all = 0.0
    for row in range(first, last):
        strategy[row] = np.exp(logit[row])
        mass += strategy[row]
        mass_of_all += total[row]
    of_last, of_all = 1.0 / mass, 0.0
    if mass_of_all > 0.0:
        of_last, of_all = 0.5 / mass, 0.5 / mass_of_all
    for row in range(first, last):
        strategy[row] = of_last * strategy[row] + of_all * total[row]


@kernel
def follow_regrets(begin, end, state_ptr, steps, marks, regret, state_reach, strategy, tables):
    """Add the softmax of the given information states to the total, move the logits, and play.

    ``steps`` are c, the weight of the iteration, and how often it counts for rows whose ``marks`` are not `INSIDE` the
    last restricted game; ``tables`` are V, which must be positive, the logits and the total.

    Within a restricted game ``marks`` is None. States not reached keep their logits, which are not shifted to a maximum
    of 0 there, so that rows outside stay comparable.
    """
    (rate, weight, times), (variance, logit, total) = steps, tables
    for state in range(begin, end):
        first, last = np.uint64(state_ptr[state]), np.uint64(state_ptr[state + 1])
        if marks is None and state_reach[state, OTHERS] <= 0.0:
            continue
        mass = 0.0
        for row in range(first, last):
            mass += np.exp(logit[row])
        most = LEAST_REGRET
        for row in range(first, last):
            often = 1.0 if marks is None or marks[row] == INSIDE else times
            total[row] += often * weight / mass * np.exp(logit[row])
            variance[state] += often * strategy[row] * regret[row] ** 2
            most = max(most, often * abs(regret[row]))
        step = min(rate / np.sqrt(variance[state]), 1 / most)
        largest = -np.inf
        for row in range(first, last):
            often = 1.0 if marks is None or marks[row] == INSIDE else times
            logit[row] += step * often * regret[row]
            largest = max(largest, logit[row])
        if marks is not None:
            for row in range(first, last):
                logit[row] = max(logit[row] - largest, LEAST_LOGIT)
        play_state(first, last, logit, total, strategy)


@kernel
def play_logits(begin, end, state_ptr, logit, total, strategy):
    """Play from the logits and the total, as `follow_regrets` does, in the given information states."""
    for state in range(begin, end):
        play_state(np.uint64(state_ptr[state]), np.uint64(state_ptr[state + 1]), logit, total, strategy)

"""Multiplicative weights in all information states at once, each at a rate of its own.

Every iteration multiplies the weight of an action by what it regrets (``_regret.py``)::

    z(s, a) ~ z(s, a) exp(h(s) r(s, a))

Played is what lies halfway between that and the mean ``m`` of all ``z`` so far, in which later ones count more::

    x(s, a) = (z(s, a) + m(s, a)) / 2

The mean is what is learned. So regrets are those of somebody who is near it, and yet ``z`` is free to go on. That is
meant to come as near as steps that become ever shorter towards an end which is known from the beginning, without
knowing it (A. Defazio et al., "The Road Less Scheduled", NeurIPS 2024).

A state's rate falls with the root of the sum, over all iterations, of how much its actions differed in worth, which is
the variance of the regrets among the actions as they were played::

    h(s) = min(c / sqrt(V(s)), 1 / max_a |r(s, a)|)        V(s) = sum over iterations and a of x(s, a) r(s, a)^2

N. Cesa-Bianchi, Y. Mansour and G. Stoltz ("Improved second-order bounds for prediction with expert advice", Machine
Learning 66, 2007) show that such rates need to know neither the number of iterations nor how large regrets are, and
lose nothing by it. What decides a game in its last breath is worth more than what is played in its first: one rate for
all would be too high for the one or too low for the other.

What is regretted where one seldom comes to, and by actions that are hardly played, may be worked out seldom, and counts
for several iterations then.

What is kept are the sums of all ``z`` and the logarithms of the last, up to a number that those of a state have in
common.
"""

from __future__ import annotations

import numpy as np

from punish_fast.equilibrium._regret_matching import OTHERS
from punish_fast.equilibrium._restricted_game import INSIDE
from punish_fast.runtime._jit import inlined_routine, kernel

# Of which steps still know the size.
LEAST_REGRET = 1e-100
# Keeps what is hardly ever played from being lost for ever.
LEAST_LOGIT = -20.0


@inlined_routine
def play_state(first, last, logit, total, strategy):
    """Play what is halfway between what the logits say and the mean that ``total`` is, in the rows from ``first`` on.

    Where nothing was added up, what the logits say. ``last`` is behind the last row.
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
def follow_regrets(begin, end, state_ptr, rate, weight, marks, times, regret, seen, strategy, variance, logit, total):
    """Add what the logits of the given information states say to ``total``, move them, and play what follows.

    ``rate`` is c, ``weight`` that of the iteration, ``variance[state]`` is V and must be positive. For rows that were
    not `INSIDE` the last excerpt by ``marks``, the iteration counts so many ``times``.

    The rows of an excerpt itself have no ``marks``. What its plays do not come to stays as it is. Logits are not
    brought back to a largest one of 0, lest those of rows outside move along.
    """
    for state in range(begin, end):
        first, last = np.uint64(state_ptr[state]), np.uint64(state_ptr[state + 1])
        if marks is None and seen[state, OTHERS] <= 0.0:
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
    """Play what follows from the logits and ``total``, as `follow_regrets` does, in the given information states."""
    for state in range(begin, end):
        play_state(np.uint64(state_ptr[state]), np.uint64(state_ptr[state + 1]), logit, total, strategy)

"""Multiplicative weights in all information states at once, each at a rate of its own.

Every iteration multiplies the chance of an action by what it regrets (``_regret.py``), and makes the chances of a state
a distribution again::

    x(s, a) ~ x(s, a) exp(h(s) r(s, a))

A state's rate falls with the root of the sum, over all iterations, of how much its actions differed in worth, which is
the variance of the regrets among the actions as they were played::

    h(s) = min(c / sqrt(V(s)), 1 / max_a |r(s, a)|)        V(s) = sum over iterations and a of x(s, a) r(s, a)^2

N. Cesa-Bianchi, Y. Mansour and G. Stoltz ("Improved second-order bounds for prediction with expert advice", Machine
Learning 66, 2007) show that such rates need to know neither the number of iterations nor how large regrets are, and
lose nothing by it. What decides a game in its last breath is worth more than what is played in its first: one rate for
all would be too high for the one or too low for the other.

What is regretted in a state that is seldom come to may be worked out seldom, and counts for several iterations then.

What is kept are the logarithms, of which the largest of each state is 0.
"""

from __future__ import annotations

import numpy as np

from punish_fast._jit import inlined_routine, kernel
from punish_fast.punish._regret import OTHERS

# Of which steps still know the size.
LEAST_REGRET = 1e-100
# Keeps what is hardly ever played from being lost for ever.
LEAST_LOGIT = -20.0


@inlined_routine
def play_state(first, last, logit, strategy):
    """Play in proportion to the exponentials of the logits, in the rows from ``first`` to ``last``."""
    total = 0.0
    for row in range(first, last):
        strategy[row] = np.exp(logit[row])
        total += strategy[row]
    for row in range(first, last):
        strategy[row] /= total


@kernel
def follow_regrets(begin, end, state_ptr, rate, weight, least, times, regret, seen, strategy, variance, logit, average):
    """Add ``weight`` times the strategies of the given information states to ``average``, and move them and the logits.

    ``rate`` is c, ``variance[state]`` is V and must be positive. Where C, in ``seen`` from `_regret.regret_full`, is
    below ``least``, regrets count so many ``times``: with 0 nothing is moved.
    """
    for state in range(begin, end):
        first, last = np.uint64(state_ptr[state]), np.uint64(state_ptr[state + 1])
        often = times if seen[state, OTHERS] < least else 1.0
        for row in range(first, last):
            average[row] += weight * strategy[row]
        if often == 0.0:
            continue
        most = LEAST_REGRET
        for row in range(first, last):
            variance[state] += often * strategy[row] * regret[row] ** 2
            most = max(most, often * abs(regret[row]))
        step = often * min(rate / np.sqrt(variance[state]), 1 / most)
        largest = -np.inf
        for row in range(first, last):
            logit[row] += step * regret[row]
            largest = max(largest, logit[row])
        for row in range(first, last):
            logit[row] = max(logit[row] - largest, LEAST_LOGIT)
        play_state(first, last, logit, strategy)


@kernel
def play_logits(begin, end, state_ptr, logit, strategy):
    """Play in proportion to the exponentials of the logits, in the given information states."""
    for state in range(begin, end):
        play_state(np.uint64(state_ptr[state]), np.uint64(state_ptr[state + 1]), logit, strategy)

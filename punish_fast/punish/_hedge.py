"""Multiplicative weights in all information states at once.

With a rate ``h``, every iteration multiplies the chance of an action by what it regrets (``_regret.py``), and makes the
chances of a state a distribution again::

    x(s, a) ~ x(s, a) exp(h r(s, a))

What is kept are the logarithms, of which the largest of each state is 0.
"""

from __future__ import annotations

import numpy as np

from punish_fast._jit import kernel

# Keeps what is hardly ever played from being lost for ever.
LEAST_LOGIT = -20.0


@kernel
def follow_regrets(begin, end, state_ptr, rate, weight, regret, strategy, logit, average):
    """Move the logits of the given information states, and add ``weight`` times their strategies to ``average``."""
    for state in range(begin, end):
        first, last = state_ptr[state], state_ptr[state + 1]
        largest = -np.inf
        for row in range(first, last):
            average[row] += weight * strategy[row]
            logit[row] += rate * regret[row]
            largest = max(largest, logit[row])
        for row in range(first, last):
            logit[row] = max(logit[row] - largest, LEAST_LOGIT)


@kernel
def play_logits(begin, end, state_ptr, logit, strategy):
    """Play in proportion to the exponentials of the logits, in the given information states."""
    for state in range(begin, end):
        first, last = state_ptr[state], state_ptr[state + 1]
        total = 0.0
        for row in range(first, last):
            strategy[row] = np.exp(logit[row])
            total += strategy[row]
        for row in range(first, last):
            strategy[row] /= total

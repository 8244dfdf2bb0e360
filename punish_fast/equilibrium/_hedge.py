"""Hedge: multiplicative weights in every information state, each with its own learning rate.

Every iteration multiplies the weight of an action by an exponential function of its regret (``_regret_matching.py``)::

    z(s, a) ~ z(s, a) exp(h(s) r(s, a))

The strategy played is halfway between ``z`` and the weighted mean ``m`` of all ``z`` so far. Later ``z`` have more
weight in ``m``::

    x(s, a) = (z(s, a) + m(s, a)) / 2

The result is the mean ``m``. Regrets are therefore computed near ``m``, while ``z`` can change quickly. With this
method, step sizes do not have to decrease to 0 at a known last iteration (A. Defazio et al., "The Road Less Scheduled",
NeurIPS 2024).

The learning rate of a state is the rate ``c`` of the iteration, divided by the square root of the summed variance of
the state's regrets, and limited so that no logarithm of ``z`` changes by more than 1::

    h(s) = min(c / sqrt(V(s)), 1 / max_a |r(s, a)|)        V(s) = sum over iterations and a of x(s, a) r(s, a)^2

These rates can be computed without knowing the number of iterations or the size of regrets in advance (N. Cesa-Bianchi,
Y. Mansour and G. Stoltz, "Improved second-order bounds for prediction with expert advice", Machine Learning 66, 2007).
A single rate would be too high in the last breath, where choices decide games, or too low in the first, where they
hardly matter.

In rarely reached states and for rarely played actions, regrets can be computed less often. Each computed regret then
counts several times.

The tables contain ``V``, the weighted sum of all ``z``, and the logarithms of the last ``z`` up to a constant for each
state.
"""

import numpy as np

from punish_fast.equilibrium._reach import OTHERS
from punish_fast.equilibrium._restricted_game import INSIDE
from punish_fast.runtime._jit import inlined_routine, kernel

# Minimum of the largest regret, which is the denominator of a learning rate.
LEAST_REGRET = 1e-100
# Minimum of logits after an iteration on the whole graph, so that rare actions can become probable again.
LEAST_LOGIT = -20.0


@inlined_routine
def play_state(first, last, logit, total, strategy):
    """Set rows ``first`` to ``last`` of ``strategy`` to the mean of the logits' softmax and the normalized ``total``.

    If ``total`` is 0 in all of these rows, use only the softmax.
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
    """Add the softmax of the given states' logits to the total, update the logits, and compute the next strategy.

    ``steps`` contains c, the weight of the iteration, and the number of times that the iteration counts for rows that
    were not `INSIDE` the last restricted game. ``tables`` contains V (which must be positive), the logits and the
    total.

    Within a restricted game, ``marks`` is None. States that are not reached then keep their logits. Logits are not
    shifted to a maximum of 0, so that they remain comparable with the logits of rows outside the game.
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
    """Compute the strategy from the logits and the total, in the same way as `follow_regrets`."""
    for state in range(begin, end):
        play_state(np.uint64(state_ptr[state]), np.uint64(state_ptr[state + 1]), logit, total, strategy)

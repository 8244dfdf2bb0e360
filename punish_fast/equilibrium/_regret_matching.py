"""Counterfactual regrets on the graph of the real game, one measure at a time, and predictive regret matching+.

The player plays the strategy ``x`` over information states and the enemy plays ``y``, which is ``x`` or a mixture of
``x`` and a best response. Let ``R`` and ``C`` be the reaches of full states (``_reach.py``), and ``q(s, e, a)`` the win
probability after action ``a`` if ``x`` and ``y`` are played from then on. The counterfactual values ``Q`` and the
regrets ``r`` of the actions in an information state are

    Q(s, a) = sum over e of C(s, e) q(s, e, a) / C(s)        C(s) = sum over e of C(s, e)
    r(s, a) = Q(s, a) - sum over b of x(s, b) Q(s, b)

Predictive regret matching+ (G. Farina, C. Kroer and T. Sandholm, "Faster Game Solving via Predictive Blackwell
Approachability: Connecting Regret Matching and Mirror Descent", AAAI 2021) sums regrets, clipped at zero. Action
probabilities are proportional to this sum plus the last regret, which is a prediction of the next regret::

    z(s, a) = max(0, z(s, a) + r(s, a))            x(s, a) ~ max(0, z(s, a) + r(s, a))

The result is the average strategy, weighted by ``R(s) / C(s)``, the player's contribution to the reach of ``s``, and by
the square of the iteration number.
"""

import numpy as np

from punish_fast.duel._walk import ONE, ZERO, open_full, prefetch_enemy, prefetch_value, walk_row
from punish_fast.equilibrium._reach import OTHERS, OWN
from punish_fast.punish._actions import N_ACTIONS
from punish_fast.runtime._jit import inlined_routine, kernel


@inlined_routine
def add_every_value(total, enemy_row, entry, n, draw, args):
    """Visitor: add the value of the successors, weighted by the enemy's policy.

    `_walk.add_value` takes 1.1 times as long, because strategies contain hardly any zeros to skip.
    """
    full, draws, enemy_policy, v = args
    prefetch_value(full.after, v, ONE, entry)
    value = v[np.uint64(full.after[entry])]
    # Without a feint, there is one successor and no draw.
    if n > ONE:
        deck, feints = draw
        value *= draws.p[deck, feints, ZERO]
        for i in range(ONE, n):
            value += draws.p[deck, feints, i] * v[np.uint64(full.after[entry + i])]
    return total + enemy_policy[enemy_row] * value


@kernel
def regret_full(begin, end, full, draws, rows, strategies, reach, v, regret, state_reach):
    """Compute the regrets in the given information states, and the values ``v`` of their full states.

    ``strategies`` contains the player's and the enemy's strategy. ``state_reach[state]`` receives R and C of the state.
    Regrets are 0 in states with C = 0.
    """
    (state_ptr, action), (strategy, enemy_strategy) = rows, strategies
    args = full, draws, enemy_strategy, v
    total = np.zeros(N_ACTIONS)
    for row in range(begin, end):
        first_row = np.uint64(state_ptr[row])
        n_own = np.uint64(state_ptr[row + 1]) - first_row
        total[:] = 0.0
        here = 0.0
        others = 0.0
        for number in range(np.uint64(full.ptr[row]), np.uint64(full.ptr[row + 1])):
            prefetch_enemy(full, state_ptr, action, enemy_strategy, number)
            entry, enemy = open_full(full, state_ptr, number)
            belief = reach[number, OTHERS]
            here += reach[number, OWN]
            others += belief
            mean = 0.0
            for a in range(n_own):
                value, entry = walk_row(add_every_value, 0.0, entry, enemy, first_row + a, action, draws, args)
                mean += strategy[first_row + a] * value
                total[a] += belief * value
            v[number] = mean
        state_reach[row, OWN], state_reach[row, OTHERS] = here, others
        mean = 0.0
        for a in range(n_own):
            mean += strategy[first_row + a] * total[a]
        for a in range(n_own):
            regret[first_row + a] = (total[a] - mean) / others if others > 0.0 else 0.0


@kernel
def sum_regrets(begin, end, state_ptr, weight, last_regret, state_reach, strategy, regret, average):
    """Add ``last_regret`` to ``regret``, clipped at 0. Add ``strategy``, times ``weight * R / C``, to ``average``."""
    for state in range(begin, end):
        own, others = state_reach[state, OWN], state_reach[state, OTHERS]
        share = weight * own / others if others > 0.0 else 0.0
        for row in range(state_ptr[state], state_ptr[state + 1]):
            regret[row] = max(0.0, regret[row] + last_regret[row])
            average[row] += share * strategy[row]


@kernel
def match_regrets(begin, end, state_ptr, regret, last_regret, strategy):
    """Set ``strategy`` in proportion to the positive predicted regrets, or uniformly if none is positive."""
    for state in range(begin, end):
        first, last = state_ptr[state], state_ptr[state + 1]
        total = 0.0
        for row in range(first, last):
            strategy[row] = max(0.0, regret[row] + last_regret[row])
            total += strategy[row]
        for row in range(first, last):
            strategy[row] = strategy[row] / total if total > 0.0 else 1.0 / (last - first)

"""Reaches of full states, passed forward through a measure.

For a full state ``(s, e)``, where ``s`` is an information state and ``e`` the enemy's hand, let

    R(s, e)   be the expected number of visits to (s, e) per game,
    C(s, e)   be this number if each of the player's choices since the deal has a weight of at least off_policy.

If ``off_policy`` is 1, the player's choices do not count, and ``C`` is the counterfactual reach: the contribution of
chance and the enemy. If ``off_policy`` is less than 1, each choice of the player is weighted by its probability, or by
``off_policy`` if the probability is lower.

States after an action that the enemy never plays would have ``C = 0``, but they still need a strategy, since the
response to that action deters the enemy from it. The forward pass therefore gives every enemy action a probability of
at least 1e-30, so that ``R(s) / C(s)`` is defined in every state that chance allows. In states that the enemy's
strategy reaches, the effect is negligible.
"""

import numpy as np

from punish_fast.duel._walk import ONE, open_full, prefetch_enemy, walk_row
from punish_fast.runtime._jit import inlined_routine, kernel
from punish_fast.runtime._prefetch import prefetch

# Columns of reach: R and C of the player, then R and C of a best response to the player.
OWN, OTHERS, RESPONSE_OWN, RESPONSE_OTHERS = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
# Minimum probability of an enemy action. A measure has at most eight breaths, and the eighth power of this constant is
# a normal floating-point number.
LEAST_PROBABILITY = 1e-30


@inlined_routine
def pass_reaches(total, enemy_row, entry, n, draw, args):
    """Visitor: add the reaches in ``total`` to the successors.

    The response's reaches are added unless ``choice`` is None.
    """
    full, draws, strategies, choice, targets, into = args
    own, others, response_own, response_others = total
    deck, feints = draw
    enemy = max(strategies[1][enemy_row], LEAST_PROBABILITY)
    met = max(strategies[0][enemy_row], LEAST_PROBABILITY)
    for i in range(n):
        target = np.uint64(full.after[entry + i])
        if target < targets[1]:
            # Without a feint, there is one successor and no draw.
            p = draws.p[deck, feints, i] if n > ONE else 1.0
            place = target - targets[0]
            into[place, OWN] += own * enemy * p
            into[place, OTHERS] += others * enemy * p
            if choice is not None:
                into[place, RESPONSE_OWN] += response_own * met * p
                into[place, RESPONSE_OTHERS] += response_others * met * p
    return total


@kernel
def propagate_reach(begin, end, parts, full, draws, rows, strategies, choice, weights, tables):
    """Add the reach of the full states in the given parts to the reach of their successors.

    ``strategies`` contains the player's and the enemy's strategy, ``parts`` is an entry of `LayeredGraph.parts`, and
    ``weights`` contains ``off_policy`` and the minimum C, below which a full state is skipped. ``tables`` contains the
    reach, the range of successor numbers, and ``out``. Each ``out[buffer]`` begins with the first number of that range.

    ``choice`` contains the rows of a response to the player, whose reach is stored in two more columns. If it is None,
    only the player's reach is propagated. One walk handles both, because finding successors takes longer than passing
    on reach.
    """
    (state_ptr, action), (off_policy, least), (reach, bounds, out) = rows, weights, tables
    strategy, enemy_strategy = strategies
    targets = np.uint64(bounds[0]), np.uint64(bounds[1])
    for part in range(begin, end):
        args = full, draws, strategies, choice, targets, out[parts.buffer[part]]
        for span in range(parts.ptr[part], parts.ptr[part + 1]):
            for row in range(parts.spans[span, 0], parts.spans[span, 1]):
                own_first, own_last = np.uint64(state_ptr[row]), np.uint64(state_ptr[row + 1])
                for number in range(np.uint64(full.ptr[row]), np.uint64(full.ptr[row + 1])):
                    soon = prefetch_enemy(full, state_ptr, action, enemy_strategy, number)
                    if choice is not None:
                        prefetch(strategy, soon)
                    if reach[number, OTHERS] < least:
                        continue
                    entry, enemy = open_full(full, state_ptr, number)
                    for own_row in range(own_first, own_last):
                        total = row_reach(reach, number, strategy, own_row, choice, row, off_policy)
                        _, entry = walk_row(pass_reaches, total, entry, enemy, own_row, action, draws, args)


@inlined_routine
def row_reach(reach, number, strategy, own_row, choice, row, off_policy):
    """Return the four reach values of a full state, one for each column, after the player takes a row."""
    own = reach[number, OWN] * strategy[own_row]
    others = reach[number, OTHERS] * max(strategy[own_row], off_policy)
    response_own, response_others = 0.0, 0.0
    if choice is not None:
        chosen = 1.0 if own_row == np.uint64(choice[row]) else 0.0
        response_own = reach[number, RESPONSE_OWN] * chosen
        response_others = reach[number, RESPONSE_OTHERS] * max(chosen, off_policy)
    return own, others, response_own, response_others


@kernel
def sum_buffers(begin, end, out, into):
    """Set the given rows of ``into`` to the sums of the buffers ``out``, added in order, and clear the buffers.

    With zero buffers, set the rows to 0.
    """
    for k in range(begin, end):
        into[k] = 0.0
        for buffer in range(out.shape[0]):
            for column in range(out.shape[2]):
                into[k, column] += out[buffer, k, column]
                out[buffer, k, column] = 0.0

"""Walk through the successors of a full state, in stored order.

The player chooses row ``a``, the enemy chooses row ``b``, and feints draw ``d`` from the deck. The successors of a full
state are sorted by ``a``, ``b`` and ``d``, so a walk finds them by counting. `walk_row` visits the successors of one
row of the player. For each row of the enemy, it calls a *visitor*, an inlined function::

    total = visit(total, enemy_row, entry, n, draw, args)

The ``n`` successors of the two rows begin at ``entry``. The ``i``-th successor has probability ``draws.p[draw][i]``.
Each call of the visitor returns the ``total`` of the next call, a number or a tuple, such as sums, a reach probability
or an index of an output array.

Every pass through the graph uses this walk. With the rules ``tabletop`` and the information model ``memoryless``,
passes take 0.84 to 1.03 times as long as with explicit loops (medians of alternating runs on one core). Two
alternatives were slower: a generator of indices (7.5 times as long), and a branch around array reads in a visitor (7 to
20 times as long). With a branch, Numba counts references in the innermost loop. Therefore, visitors skip successors by
a loop over an empty range.

A pass reads full states in order, but the enemy's rows and the values of successors are at unpredictable addresses.
Therefore, passes that compute values prefetch them.

Numba tests whether signed indices are negative. Indices in walks are unsigned to avoid this test.
"""

import numpy as np

from punish_fast.runtime._jit import inlined_routine, routine
from punish_fast.runtime._prefetch import prefetch

# Unsigned constants. In Numba, the sum of an unsigned and a signed integer is a float.
ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)

# Prefetch distances, in full states, for the enemy's information state and for the enemy's rows.
_STATES_AHEAD, _ROWS_AHEAD = np.uint64(16), np.uint64(8)
# Prefetch distance for values, in successors.
_SUCCESSORS_AHEAD = np.uint64(64)


@inlined_routine
def open_full(full, state_ptr, number):
    """Return the index of a full state's first successor, and a tuple: deck, first and last enemy row (exclusive)."""
    enemy_state = np.uint64(full.enemy_row[number])
    rows = np.uint64(state_ptr[enemy_state]), np.uint64(state_ptr[enemy_state + ONE])
    return np.uint64(full.entry[number]), (np.uint64(full.deck[number]), rows[0], rows[1])


@inlined_routine
def walk_row(visit, total, entry, enemy, own_row, action, draws, args):
    """Call ``visit`` for ``own_row`` and each enemy row. Return the total and the index after the last successor."""
    deck, first, last = enemy
    own_feint = np.uint64(action[own_row]) & ONE
    for enemy_row in range(first, last):
        feints = own_feint + TWO * (np.uint64(action[enemy_row]) & ONE)
        n = np.uint64(draws.n[deck, feints])
        total = visit(total, enemy_row, entry, n, (deck, feints), args)
        entry += n
    return total, entry


@inlined_routine
def add_value(total, enemy_row, entry, n, draw, args):
    """Visitor: add the values of successors (first column of ``v``), weighted by the enemy's policy."""
    full, draws, enemy_policy, v = args
    deck, feints = draw
    weight = enemy_policy[enemy_row]
    prefetch_value(full.after, v, np.uint64(v.shape[1]), entry)
    value = 0.0
    for i in range(n if weight > 0.0 else ZERO):
        # Usually, nothing is drawn, and the probability is 1.
        p = draws.p[deck, feints, i] if n > ONE else 1.0
        value += p * v[np.uint64(full.after[entry + i]), ZERO]
    return total + weight * value


@inlined_routine
def prefetch_enemy(full, state_ptr, action, policy, number):
    """Prefetch the enemy's rows in a full state after ``number`` (unsigned), and return the first of these rows."""
    last = np.uint64(len(full.enemy_row) - 1)
    prefetch(state_ptr, np.uint64(full.enemy_row[min(number + _STATES_AHEAD, last)]))
    row = np.uint64(state_ptr[np.uint64(full.enemy_row[min(number + _ROWS_AHEAD, last)])])
    prefetch(action, row)
    prefetch(policy, row)
    return row


@inlined_routine
def prefetch_value(after, v, width, entry):
    """Prefetch the row of ``v`` for a successor after ``entry``.

    ``width`` is the number of columns in ``v``. ``width`` and ``entry`` are unsigned.
    """
    soon = min(entry + _SUCCESSORS_AHEAD, np.uint64(len(after) - 1))
    prefetch(v, np.uint64(after[soon]) * width)


@routine
def action_shape(state_ptr, action, state):
    """Return an information state's first row, its number of actions, and 1 if the actions include feints, else 0.

    If there are feints, each kind of card in hand has two consecutive actions: the plain action and the feint.
    """
    begin, end = state_ptr[state], state_ptr[state + 1]
    may_feint = np.int64(action[begin + 1]) & 1 if end > begin + 1 else 0
    return begin, end - begin, may_feint


@routine
def count_before(n_enemy, enemy_feints, n_draws, deck, is_feint):
    """Count the successors of a player's action and ``n_enemy`` enemy actions, including ``enemy_feints`` feints."""
    return (n_enemy - enemy_feints) * n_draws[deck, is_feint] + enemy_feints * n_draws[deck, is_feint + 2]


@routine
def skip_actions(own, own_may_feint, enemy, n_enemy, enemy_may_feint, n_draws, deck):
    """Return the offset of the first successor of two actions, and their combination of feints.

    ``own`` and ``enemy`` are indices among the actions of the player and of the enemy.
    """
    enemy_feints = (n_enemy >> 1) * enemy_may_feint
    own_before = (own >> 1) * own_may_feint
    skipped = (own - own_before) * count_before(n_enemy, enemy_feints, n_draws, deck, 0)
    skipped += own_before * count_before(n_enemy, enemy_feints, n_draws, deck, 1)
    skipped += count_before(enemy, (enemy >> 1) * enemy_may_feint, n_draws, deck, own & own_may_feint)
    return skipped, (own & own_may_feint) + 2 * (enemy & enemy_may_feint)

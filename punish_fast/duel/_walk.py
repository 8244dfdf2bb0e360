"""The walk through a full state: own rows, enemy rows and draws, in the order of its successors.

The player plays row ``a``, the enemy plays row ``b``, and feints draw ``d`` from the deck. The successors of a full
state are stored in the order of ``a``, ``b`` and ``d``, so a walk only counts them and needs no index. `walk_row` walks
one own row. For each enemy row it calls a visitor, a routine that the compiler inlines::

    total = visit(total, enemy_row, entry, n, draw, args)

The ``n`` successors begin at ``entry``, and the ``i``-th has probability ``draws.p[draw][i]``. ``total`` is a sum or a
tuple of sums.

Every pass through the graph uses this walk. Under ``tabletop`` and `view`, the passes take 0.84 to 1.03 times as long
as with explicit loops (medians of alternating runs on one core). Two alternatives were slower: a generator of indices
(7.5 times as long), and a branch around array reads in a visitor (7 to 20 times), because Numba then counts references
in the innermost loop. Visitors therefore skip successors by looping over an empty range.

A pass reads full states in order, but the enemy's rows and the values of successors are at unpredictable addresses.
Both are prefetched a little ahead.

Numba tests whether signed indices are negative, so indices here are unsigned.
"""

from __future__ import annotations

import numpy as np

from punish_fast.runtime._jit import inlined_routine, routine
from punish_fast.runtime._prefetch import prefetch

# Unsigned, because adding a plain 1 to an unsigned integer would give a float.
ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)

# Prefetch distance, in full states, of the enemy's state and of the enemy's rows.
_STATES_AHEAD, _ROWS_AHEAD = np.uint64(16), np.uint64(8)
# Prefetch distance of values, in successors.
_SUCCESSORS_AHEAD = np.uint64(64)


@inlined_routine
def open_full(full, state_ptr, number):
    """Return the first successor of a full state, its deck, and the first and last row (exclusive) of the enemy."""
    enemy_state = np.uint64(full.enemy_row[number])
    rows = np.uint64(state_ptr[enemy_state]), np.uint64(state_ptr[enemy_state + ONE])
    return np.uint64(full.entry[number]), (np.uint64(full.deck[number]), rows[0], rows[1])


@inlined_routine
def walk_row(visit, total, entry, enemy, own_row, action, draws, args):
    """Call ``visit`` for every enemy row against ``own_row``; return the total and the index after its successors."""
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
    """Visitor: add the values of successors, in the first column of ``v``, weighted by the enemy's policy."""
    full, draws, enemy_weight, v = args
    deck, feints = draw
    weight = enemy_weight[enemy_row]
    prefetch_value(full.after, v, np.uint64(v.shape[1]), entry)
    value = 0.0
    for i in range(n if weight > 0.0 else ZERO):
        # Usually nothing is drawn.
        p = draws.p[deck, feints, i] if n > ONE else 1.0
        value += p * v[np.uint64(full.after[entry + i]), ZERO]
    return total + weight * value


@inlined_routine
def prefetch_enemy(full, state_ptr, action, policy, number):
    """Prefetch the enemy's policy in a full state shortly after ``number``, which is unsigned; return its first row."""
    last = np.uint64(len(full.enemy_row) - 1)
    prefetch(state_ptr, np.uint64(full.enemy_row[min(number + _STATES_AHEAD, last)]))
    row = np.uint64(state_ptr[np.uint64(full.enemy_row[min(number + _ROWS_AHEAD, last)])])
    prefetch(action, row)
    prefetch(policy, row)
    return row


@inlined_routine
def prefetch_value(after, v, width, entry):
    """Prefetch a successor's row of ``v`` shortly before its entry is used; ``width`` and ``entry`` are unsigned."""
    soon = min(entry + _SUCCESSORS_AHEAD, np.uint64(len(after) - 1))
    prefetch(v, np.uint64(after[soon]) * width)


@routine
def action_shape(state_ptr, action, state):
    """Return the first row and the number of actions of an information state, and 1 if it may feint.

    A state that may feint has a plain action and a feint for each kind in hand, alternating.
    """
    begin, end = state_ptr[state], state_ptr[state + 1]
    may_feint = np.int64(action[begin + 1]) & 1 if end > begin + 1 else 0
    return begin, end - begin, may_feint


@routine
def count_before(n_enemy, enemy_feints, n_draws, deck, is_feint):
    """Count the successors of one own action against ``n_enemy`` actions, ``enemy_feints`` of which are feints."""
    return (n_enemy - enemy_feints) * n_draws[deck, is_feint] + enemy_feints * n_draws[deck, is_feint + 2]


@routine
def skip_actions(own, own_may_feint, enemy, n_enemy, enemy_may_feint, n_draws, deck):
    """Return the number of successors before a pair of actions, indexed in their states, and the feints of the pair."""
    enemy_feints = (n_enemy >> 1) * enemy_may_feint
    own_before = (own >> 1) * own_may_feint
    skipped = (own - own_before) * count_before(n_enemy, enemy_feints, n_draws, deck, 0)
    skipped += own_before * count_before(n_enemy, enemy_feints, n_draws, deck, 1)
    skipped += count_before(enemy, (enemy >> 1) * enemy_may_feint, n_draws, deck, own & own_may_feint)
    return skipped, (own & own_may_feint) + 2 * (enemy & enemy_may_feint)


@routine
def open_row(full, draws, state_ptr, action, number, own, own_may_feint):
    """Open a full state like `open_full`, but at the successors of the player's action with index ``own``."""
    entry, enemy = open_full(full, state_ptr, number)
    _, n_enemy, enemy_may_feint = action_shape(state_ptr, action, full.enemy_row[number])
    skipped, _ = skip_actions(own, own_may_feint, 0, n_enemy, enemy_may_feint, draws.n, full.deck[number])
    return entry + np.uint64(skipped), enemy

"""Depth-limited search over beliefs: the value of an action for a player with perfect recall within a measure.

The player knows the enemy's policy ``y`` and an information state ``s``, but not the deck, which decides the enemy's
hand. A *belief* has a weight ``w(d)`` for every deck ``d`` possible in ``s``, of any sum. After the own action ``a``
the player sees the enemy's action ``b`` and both draws ``o``. All decks agree on the next information state ``s'``, and
the next belief has the weights

    w'(d') = sum of w(d) y(b | d) P(o | d) over the decks d of which d' is left

whose sum is the probability of all this. With ``q`` from a table, the value of a belief is

    V_1(s, w) = max over a of sum over d of w(d) q(s, d, a)
    V_n(s, w) = max over a of (weight of an immediate win + sum over what is seen of V_(n-1)(s', w'))

The pick of a feint and the card drawn for it count as different, and so does the order of all that is seen, so the tree
has perfect recall.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.duel._decks import Draws
from punish_fast.duel._graph import Full
from punish_fast.duel._walk import action_shape, add_value, open_full, open_row, skip_actions, walk_row
from punish_fast.punish._actions import N_ACTIONS
from punish_fast.punish._multisets import N_KINDS
from punish_fast.runtime._jit import inlined_routine, kernel, routine

# What a breath may show: six picks of the enemy (0 is rest), plain or a feint, and two draws (5 is none).
N_SEEN = 6 * 2 * (N_KINDS + 1) ** 2
# Columns of `TreeRoom.walk` and `TreeRoom.value`.
AT, TRIED, BEST, N_AFTER = range(4)
SO_FAR, MOST = range(2)


class BeliefTree(NamedTuple):
    """The arrays that a search reads.

    Attributes:
        full: The full states.
        draws: The decks and the draws from them.
        state_ptr: int64 ``[n_states + 1]``, the first row of each information state.
        action: uint8 ``[n_rows]``, actions.
        enemy_weight: float64 ``[n_rows]``, the enemy's policy.
        row_of: int32 ``[n_full]``, the information state of each full state.
        q_ptr: int64 ``[n_states + 1]``, the first value of each information state's actions, plus ``origin``.
        origin: Place of the first value in ``q``.
        q: float64, values of actions, by information state, deck and action.
        win: The number of win.
        bounds: Whether ``q`` holds upper bounds, for all breaths from the first on; they prune the search.
    """

    full: Full
    draws: Draws
    state_ptr: np.ndarray
    action: np.ndarray
    enemy_weight: np.ndarray
    row_of: np.ndarray
    q_ptr: np.ndarray
    origin: int
    q: np.ndarray
    win: int
    bounds: bool


class TreeRoom(NamedTuple):
    """Working memory of a search, by depth.

    Attributes:
        slot: int32 ``[N_SEEN]``, the place of what was seen in the lists below, -1 for none.
        seen: int64 ``[depth, N_SEEN]``, what was seen.
        row: int64 ``[depth, N_SEEN]``, the next information state.
        weight: float64 ``[depth, N_SEEN, most_decks]``, the next belief.
        total: float64 ``[11]``, values of actions.
        walk: int64 ``[depth, 4]``, the belief that the search is at, the action it tries there, the best one so far,
            and how many beliefs are left to search.
        value: float64 ``[depth, 2]``, the value of that action so far, and the value of the best one.
        bound: float64 ``[depth, 11]``, upper bounds on the values of actions; -1 for an action already tried.
    """

    slot: np.ndarray
    seen: np.ndarray
    row: np.ndarray
    weight: np.ndarray
    total: np.ndarray
    walk: np.ndarray
    value: np.ndarray
    bound: np.ndarray


@routine
def room_for_tree(depth, most_decks):
    """Working memory to search ``depth`` breaths ahead."""
    return TreeRoom(
        slot=np.full(N_SEEN, -1, dtype=np.int32),
        seen=np.zeros((depth, N_SEEN), dtype=np.int64),
        row=np.zeros((depth, N_SEEN), dtype=np.int64),
        weight=np.zeros((depth, N_SEEN, most_decks)),
        total=np.zeros(N_ACTIONS),
        walk=np.zeros((depth, 4), dtype=np.int64),
        value=np.zeros((depth, 2)),
        bound=np.zeros((depth, N_ACTIONS)),
    )


@routine
def what_is_seen(action, draws, deck, feints, draw):
    """The number of what a breath shows: the enemy's action and both draws."""
    code = np.int64(action)
    pick = (code // 10) % 9
    drawn = draws.own[deck, feints, draw] * (N_KINDS + 1) + draws.enemy[deck, feints, draw]
    return (pick * 2 + code % 10 % 2) * (N_KINDS + 1) ** 2 + drawn


@routine
def split_draws(seen):
    """Both draws of `what_is_seen`."""
    return seen // (N_KINDS + 1) % (N_KINDS + 1), seen % (N_KINDS + 1)


@kernel
def fill_action_values(begin, end, tree, v):
    """Values of all actions in the full states of the given information states, from ``v``, those of all numbers."""
    full, draws, state_ptr, action = tree.full, tree.draws, tree.state_ptr, tree.action
    args = full, draws, tree.enemy_weight, v
    for row in range(begin, end):
        place = tree.q_ptr[row] - tree.origin
        for number in range(np.uint64(full.ptr[row]), np.uint64(full.ptr[row + 1])):
            entry, enemy = open_full(full, state_ptr, number)
            for own_row in range(np.uint64(state_ptr[row]), np.uint64(state_ptr[row + 1])):
                value, entry = walk_row(add_value, 0.0, entry, enemy, own_row, action, draws, args)
                tree.q[place] = value
                place += 1


@routine
def weigh_actions(tree, row, weight, total):
    """Write the value of each action under a belief, from the table; return the number of actions."""
    n_own = tree.state_ptr[row + 1] - tree.state_ptr[row]
    place = tree.q_ptr[row] - tree.origin
    q = tree.q
    total[:n_own] = 0.0
    for i in range(tree.full.ptr[row + 1] - tree.full.ptr[row]):
        w = weight[i]
        if w > 0.0:
            for a in range(n_own):
                total[a] += w * q[place + a]
        place += n_own
    return n_own


@routine
def branch(tree, room, level, row, weight, own):
    """List the beliefs that may follow an own action in ``room``, at ``level``, the level of the next beliefs.

    Returns the weight of an immediate win and the number of beliefs. The walk is written out: with a visitor of
    `walk_row`, whose branches have Numba count references, searches took 2.2 times as long.
    """
    full, n_draws, action = tree.full, tree.draws.n, tree.action
    slot, seens, rows, weights = room.slot, room.seen[level], room.row[level], room.weight[level]
    _, _, may_feint = action_shape(tree.state_ptr, action, row)
    won = 0.0
    n = 0
    for number in range(full.ptr[row], full.ptr[row + 1]):
        here = weight[number - full.ptr[row]]
        if here <= 0.0:
            continue
        deck = full.deck[number]
        first, n_enemy, enemy_may_feint = action_shape(tree.state_ptr, action, full.enemy_row[number])
        skipped, _ = skip_actions(own, may_feint, 0, n_enemy, enemy_may_feint, n_draws, deck)
        entry = np.int64(full.entry[number]) + skipped
        for enemy_row in range(first, first + n_enemy):
            feints = (own & may_feint) + 2 * (np.int64(action[enemy_row]) & 1)
            p = here * tree.enemy_weight[enemy_row]
            if p > 0.0:
                for draw in range(n_draws[deck, feints]):
                    target = np.int64(full.after[entry + draw])
                    share = p * tree.draws.p[deck, feints, draw]
                    if target == tree.win:
                        won += share
                    elif target < tree.win:
                        seen = what_is_seen(action[enemy_row], tree.draws, deck, feints, draw)
                        child = np.int64(slot[seen])
                        if child < 0:
                            child = n
                            slot[seen] = n
                            seens[n] = seen
                            rows[n] = tree.row_of[target]
                            for i in range(full.ptr[rows[n] + 1] - full.ptr[rows[n]]):
                                weights[n, i] = 0.0
                            n += 1
                        weights[child, target - full.ptr[rows[child]]] += share
            entry += n_draws[deck, feints]
    for child in range(n):
        slot[seens[child]] = -1
    return won, n


@routine
def best_by_table(tree, room, level, at):
    """The value of a belief of the lists, from the table, and the best action."""
    n_own = weigh_actions(tree, room.row[level, at], room.weight[level, at], room.total)
    best = 0
    for a in range(1, n_own):
        if room.total[a] > room.total[best]:
            best = a
    return room.total[best], best


@routine
def enter(tree, room, level, at):
    """Start at a belief of the lists, before its first action."""
    walk, value, bound = room.walk[level], room.value[level], room.bound[level]
    row = room.row[level, at]
    walk[AT], walk[TRIED], walk[BEST], walk[N_AFTER] = at, -1, 0, 0
    value[SO_FAR], value[MOST] = 0.0, -1.0
    if tree.bounds:
        weigh_actions(tree, row, room.weight[level, at], bound)
    else:
        bound[: tree.state_ptr[row + 1] - tree.state_ptr[row]] = np.inf


@routine
def try_next(tree, room, level):
    """Go to the next action of the belief that the search is at; False if no other one can be better.

    Actions with the highest bounds come first, which prunes many others.
    """
    walk, value, bound = room.walk[level], room.value[level], room.bound[level]
    row = room.row[level, walk[AT]]
    if walk[TRIED] >= 0 and value[SO_FAR] > value[MOST]:
        value[MOST], walk[BEST] = value[SO_FAR], walk[TRIED]
    following = 0
    for a in range(1, tree.state_ptr[row + 1] - tree.state_ptr[row]):
        if bound[a] > bound[following]:
            following = a
    if bound[following] <= value[MOST]:
        return False
    bound[following] = -1.0
    walk[TRIED] = following
    value[SO_FAR], walk[N_AFTER] = branch(tree, room, level + 1, row, room.weight[level, walk[AT]], following)
    return True


@routine
def best_action(tree, room, depth, row, weight):
    """The value of a belief, searched over ``depth`` breaths of one measure, the last by the table; the best action.

    The search does not recurse: Numba cannot cache recursive functions.
    """
    room.row[0, 0] = row
    for i in range(tree.full.ptr[row + 1] - tree.full.ptr[row]):
        room.weight[0, 0, i] = weight[i]
    if depth == 1:
        return best_by_table(tree, room, 0, 0)
    enter(tree, room, 0, 0)
    level = 0
    while True:
        if level == depth - 2:
            # The table has the values of the next beliefs.
            while try_next(tree, room, level):
                for after in range(room.walk[level, N_AFTER]):
                    room.value[level, SO_FAR] += best_by_table(tree, room, level + 1, after)[0]
        elif room.walk[level, N_AFTER] > 0 or try_next(tree, room, level):
            # One belief at a time, from the last to the first.
            if room.walk[level, N_AFTER] > 0:
                room.walk[level, N_AFTER] -= 1
                enter(tree, room, level + 1, room.walk[level, N_AFTER])
                level += 1
            continue
        if level == 0:
            return room.value[0, MOST], room.walk[0, BEST]
        level -= 1
        room.value[level, SO_FAR] += room.value[level + 1, MOST]


@inlined_routine
def list_seen(total, enemy_row, entry, n, draw, args):
    """Visitor: list the successors after which the player has seen ``seen``, and their weights."""
    here, n_after = total
    tree, seen, targets, shares = args
    deck, feints = draw
    for i in range(n):
        if what_is_seen(tree.action[enemy_row], tree.draws, deck, feints, i) == seen:
            share = here * tree.enemy_weight[enemy_row] * tree.draws.p[deck, feints, i]
            if share > 0.0:
                targets[n_after], shares[n_after] = tree.full.after[entry + i], share
                n_after += 1
    return here, n_after


@routine
def follow(tree, row, weight, own, seen, targets, shares):
    """List the numbers that may follow an own action and what was seen, and their weights; return their number."""
    full, first = tree.full, tree.full.ptr[row]
    args = tree, seen, targets, shares
    own_first, _, may_feint = action_shape(tree.state_ptr, tree.action, row)
    n = 0
    for number in range(first, full.ptr[row + 1]):
        entry, enemy = open_row(full, tree.draws, tree.state_ptr, tree.action, number, own, may_feint)
        total = weight[number - first], n
        total, _ = walk_row(list_seen, total, entry, enemy, own_first + own, tree.action, tree.draws, args)
        _, n = total
    return n


@kernel
def value_beliefs(begin, end, tree, depth, rows, which, beliefs, value, choice):
    """Values of beliefs, searched over ``depth`` breaths of one measure, and the best actions.

    Item ``i`` is the information state ``rows[i]`` with the weights ``beliefs[which[i]]``.
    """
    room = room_for_tree(depth, beliefs.shape[1])
    for i in range(begin, end):
        value[i], choice[i] = best_action(tree, room, depth, rows[i], beliefs[which[i]])


@kernel
def take_best(begin, end, full_ptr, state_ptr, q, q_ptr, origin, v):
    """Write the value of the best action to ``v[number]`` for the full states of the given information states."""
    for row in range(begin, end):
        n_own = state_ptr[row + 1] - state_ptr[row]
        place = q_ptr[row] - origin
        for number in range(full_ptr[row], full_ptr[row + 1]):
            best = q[place]
            for a in range(1, n_own):
                best = max(best, q[place + a])
            v[number] = best
            place += n_own

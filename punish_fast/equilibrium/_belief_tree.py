"""Looking ahead with a belief: what an action is worth to somebody who remembers the whole measure.

A player who knows the enemy's policy ``y`` and an information state ``s`` does not know the deck, and with it the
enemy's hand. A *belief* has a weight ``w(d)`` for every deck ``d`` that is possible in ``s``, of any sum. After an own
action ``a`` the player sees what the enemy did, ``b``, and what both drew, ``o``. All decks agree on the information
state ``s'`` that follows, and the new belief has the weights

    w'(d') = sum of w(d) y(b | d) P(o | d) over the decks d of which d' is left

whose sum is how likely all this is to happen. So what a belief is worth is, with ``q`` from a table,

    V_1(s, w) = max over a of sum over d of w(d) q(s, d, a)
    V_n(s, w) = max over a of (weight of winning at once + sum over what is seen of V_(n-1)(s', w'))

The pick of a feint and what was drawn instead are told apart, and so is the order of all that is seen: as the tree is
walked through, nothing is forgotten.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.duel._decks import Draws
from punish_fast.duel._graph import Full
from punish_fast.duel._simulator import count_before, pack_actions, split_actions
from punish_fast.punish._actions import N_ACTIONS
from punish_fast.punish._multisets import N_KINDS
from punish_fast.runtime._jit import kernel, routine

# What may be seen in a breath: six picks of the enemy (0 is rest), plain or a feint, and two draws (5 is none).
N_SEEN = 6 * 2 * (N_KINDS + 1) ** 2
# Columns of `Room.walk` and `Room.value`.
AT, TRIED, BEST, N_AFTER = range(4)
SO_FAR, MOST = range(2)


class Tree(NamedTuple):
    """What looking ahead looks up.

    Attributes:
        full: The full states.
        draws: The decks, and what is drawn from them.
        state_ptr: int64 ``[n_states + 1]``, the first row of each information state.
        action: uint8 ``[n_rows]``, actions.
        enemy_weight: float64 ``[n_rows]``, the enemy's policy.
        row_of: int32 ``[n_full]``, the information state of each full state.
        q_ptr: int64 ``[n_states + 1]``, where the values of each information state's actions begin, plus ``origin``.
        origin: Where the first value is.
        q: float64, values of actions, by information state, deck and action.
        win: The number of win.
        bounds: Whether the table holds all breaths from the first one on, and nothing is worth more than what it says.
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


class Room(NamedTuple):
    """Room for beliefs, by how many breaths they are ahead, and for where in the tree the walk is.

    Attributes:
        slot: int32 ``[N_SEEN]``, the place of what was seen in the lists below, -1 for none.
        seen: int64 ``[depth, N_SEEN]``, what was seen.
        row: int64 ``[depth, N_SEEN]``, the information state that follows.
        weight: float64 ``[depth, N_SEEN, most_decks]``, the belief that follows.
        total: float64 ``[11]``, values of actions.
        walk: int64 ``[depth, 4]``, the belief of the lists that the walk is at, the action it tries there, the best one
            so far, and how many beliefs follow.
        value: float64 ``[depth, 2]``, what is known of the value of that action, and the value of the best one.
        bound: float64 ``[depth, 11]``, no action is worth more; -1 for what was tried.
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
    """Room to look ``depth`` breaths ahead."""
    return Room(
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
def what_is_seen(action, own_draw, enemy_draw):
    """The number of what a breath shows: the enemy's action and both draws."""
    code = np.int64(action)
    pick = (code // 10) % 9
    return ((pick * 2 + code % 10 % 2) * (N_KINDS + 1) + own_draw) * (N_KINDS + 1) + enemy_draw


@routine
def split_draws(seen):
    """Both draws of `what_is_seen`."""
    return seen // (N_KINDS + 1) % (N_KINDS + 1), seen % (N_KINDS + 1)


@kernel
def fill_action_values(begin, end, full, draws, state_ptr, action, enemy_weight, v, q_ptr, origin, q):
    """Values of all actions in the full states of the given information states, from ``v``, those of all numbers."""
    full_ptr, entry_ptr, enemy_rows, decks, after = full.ptr, full.entry_ptr, full.enemy_row, full.deck, full.after
    n_draws, chances = draws.n, draws.chance
    for row in range(begin, end):
        entry = entry_ptr[row]
        place = q_ptr[row] - origin
        for number in range(full_ptr[row], full_ptr[row + 1]):
            deck = decks[number]
            first, last = state_ptr[enemy_rows[number]], state_ptr[enemy_rows[number] + 1]
            for own_row in range(state_ptr[row], state_ptr[row + 1]):
                own_feints = np.int64(action[own_row]) & 1
                value = 0.0
                for enemy_row in range(first, last):
                    feinters = own_feints + 2 * (np.int64(action[enemy_row]) & 1)
                    p = enemy_weight[enemy_row]
                    n = n_draws[deck, feinters]
                    if p > 0.0:
                        for draw in range(n):
                            value += p * chances[deck, feinters, draw] * v[after[entry + draw]]
                    entry += n
                q[place] = value
                place += 1


@routine
def weigh_actions(tree, row, weight, total):
    """``total[a]`` becomes what action ``a`` is worth by the table; return how many actions there are."""
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
    """List what may be seen after an own action, in the lists of ``room`` for ``level``, that of what follows.

    Returns the weight of winning at once and how many different things may be seen.
    """
    full, n_draws, action = tree.full, tree.draws.n, tree.action
    slot, seens, rows, weights = room.slot, room.seen[level], room.row[level], room.weight[level]
    _, n_own, own_may = split_actions(pack_actions(tree.state_ptr, action, row))
    own_feints = own & own_may
    feints_before = (own >> 1) * own_may
    n_feints = (n_own >> 1) * own_may
    entry = full.entry_ptr[row]
    won = 0.0
    n = 0
    for number in range(full.ptr[row], full.ptr[row + 1]):
        deck = full.deck[number]
        first, n_enemy, may = split_actions(pack_actions(tree.state_ptr, action, full.enemy_row[number]))
        enemy_feints = (n_enemy >> 1) * may
        plain = count_before(n_enemy, enemy_feints, n_draws, deck, 0)
        feint = count_before(n_enemy, enemy_feints, n_draws, deck, 1)
        here = weight[number - full.ptr[row]]
        if here > 0.0:
            place = entry + (own - feints_before) * plain + feints_before * feint
            for enemy_row in range(first, first + n_enemy):
                feinters = own_feints + 2 * (np.int64(action[enemy_row]) & 1)
                p = here * tree.enemy_weight[enemy_row]
                if p > 0.0:
                    for draw in range(n_draws[deck, feinters]):
                        target = np.int64(full.after[place + draw])
                        share = p * tree.draws.chance[deck, feinters, draw]
                        if target == tree.win:
                            won += share
                        elif target < tree.win:
                            own_draw = tree.draws.own[deck, feinters, draw]
                            enemy_draw = tree.draws.enemy[deck, feinters, draw]
                            seen = what_is_seen(action[enemy_row], own_draw, enemy_draw)
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
                place += n_draws[deck, feinters]
        entry += (n_own - n_feints) * plain + n_feints * feint
    for child in range(n):
        slot[seens[child]] = -1
    return won, n


@routine
def best_by_table(tree, room, level, at):
    """What a belief of the lists is worth by the table, and the best action."""
    n_own = weigh_actions(tree, room.row[level, at], room.weight[level, at], room.total)
    best = 0
    for a in range(1, n_own):
        if room.total[a] > room.total[best]:
            best = a
    return room.total[best], best


@routine
def enter(tree, room, level, at):
    """Begin with a belief of the lists, before its first action."""
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
    """Go on to the next action of the belief that the walk is at; False if no other one can be better.

    Actions that may be worth most are tried first, so that many others need not be.
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
    """What a belief is worth if the table is used in the last of ``depth`` breaths of one measure; the best action.

    The tree is walked through without recursion, which the compiler's cache does not stand.
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
            # What follows is valued by the table.
            while try_next(tree, room, level):
                for after in range(room.walk[level, N_AFTER]):
                    room.value[level, SO_FAR] += best_by_table(tree, room, level + 1, after)[0]
        elif room.walk[level, N_AFTER] > 0 or try_next(tree, room, level):
            # One of what may follow at a time, from the last to the first.
            if room.walk[level, N_AFTER] > 0:
                room.walk[level, N_AFTER] -= 1
                enter(tree, room, level + 1, room.walk[level, N_AFTER])
                level += 1
            continue
        if level == 0:
            return room.value[0, MOST], room.walk[0, BEST]
        level -= 1
        room.value[level, SO_FAR] += room.value[level + 1, MOST]


@routine
def follow(tree, row, weight, own, seen, targets, shares):
    """List the numbers that may follow an own action and what was seen, and their weights; return how many."""
    full, n_draws, action = tree.full, tree.draws.n, tree.action
    _, n_own, own_may = split_actions(pack_actions(tree.state_ptr, action, row))
    own_feints = own & own_may
    feints_before = (own >> 1) * own_may
    n_feints = (n_own >> 1) * own_may
    entry = full.entry_ptr[row]
    n = 0
    for number in range(full.ptr[row], full.ptr[row + 1]):
        deck = full.deck[number]
        first, n_enemy, may = split_actions(pack_actions(tree.state_ptr, action, full.enemy_row[number]))
        enemy_feints = (n_enemy >> 1) * may
        plain = count_before(n_enemy, enemy_feints, n_draws, deck, 0)
        feint = count_before(n_enemy, enemy_feints, n_draws, deck, 1)
        place = entry + (own - feints_before) * plain + feints_before * feint
        for enemy_row in range(first, first + n_enemy):
            feinters = own_feints + 2 * (np.int64(action[enemy_row]) & 1)
            for draw in range(n_draws[deck, feinters]):
                own_draw, enemy_draw = tree.draws.own[deck, feinters, draw], tree.draws.enemy[deck, feinters, draw]
                if what_is_seen(action[enemy_row], own_draw, enemy_draw) == seen:
                    share = weight[number - full.ptr[row]] * tree.enemy_weight[enemy_row]
                    share *= tree.draws.chance[deck, feinters, draw]
                    if share > 0.0:
                        targets[n], shares[n] = full.after[place + draw], share
                        n += 1
            place += n_draws[deck, feinters]
        entry += (n_own - n_feints) * plain + n_feints * feint
    return n


@kernel
def value_beliefs(begin, end, tree, depth, rows, which, beliefs, value, choice):
    """What beliefs are worth, looking ahead over ``depth`` breaths that belong to one measure, and the best actions.

    Item ``i`` is the information state ``rows[i]`` with the weights ``beliefs[which[i]]``.
    """
    room = room_for_tree(depth, beliefs.shape[1])
    for i in range(begin, end):
        value[i], choice[i] = best_action(tree, room, depth, rows[i], beliefs[which[i]])


@kernel
def take_best(begin, end, full_ptr, state_ptr, q, q_ptr, origin, v):
    """``v[number]`` becomes the value of the best action for the full states of the given information states."""
    for row in range(begin, end):
        n_own = state_ptr[row + 1] - state_ptr[row]
        place = q_ptr[row] - origin
        for number in range(full_ptr[row], full_ptr[row + 1]):
            best = q[place]
            for a in range(1, n_own):
                best = max(best, q[place + a])
            v[number] = best
            place += n_own

"""Games of somebody who knows the enemy's policy and draws every conclusion from what it sees, from deal to deal.

The belief about the enemy's hand is updated after every breath (``_lookahead.py``) and carried over the redeal: what is
believed of the hand the enemy keeps, ``w(k)``, becomes

    w'(d) = sum over k of w(k) P(own cards, revealed cards and deck d | both kept hands)

for the own and the revealed cards that were dealt. Games are drawn as in ``_simulator.py``.

*What is gained.* Let ``v`` and ``q`` be the exact values of some other agent of the same seat, the *base*, against this
enemy. Play from the history ``h`` on, with the belief ``w_h``, gains over the base what its actions gain one by one:

    gain = E sum over breaths of (sum over d of w_h(d) q(s, d, a)) - (sum over d of w_h(d) v(s, d))

because ``v`` is the mean of what follows as long as the base plays. Only this sum is averaged over games. It leaves out
all luck but that of the way taken, so its variance is a small part of that of wins and losses. And if every action is
the best one by ``q`` and the belief, no term of it is negative: the base's own mixture of actions is worth ``v``.
"""

from __future__ import annotations

import numpy as np

from punish_fast.duel._simulator import (
    BREATH,
    DEAL,
    choose,
    deal_cards,
    find_draw,
    pack_actions,
    skip,
    split_actions,
)
from punish_fast.equilibrium._belief_tree import (
    best_action,
    follow,
    room_for_tree,
    split_draws,
    weigh_actions,
    what_is_seen,
)
from punish_fast.runtime._jit import kernel, routine
from punish_fast.runtime._random import draw_words


@routine
def first_deal(deals, begin, end, status, number):
    """The place of the first deal from ``begin`` to ``end`` whose full state is not below ``number``."""
    while begin < end:
        middle = (begin + end) // 2
        deal = deals.deal[middle]
        if deals.first[deal] + status * deals.stride[deal] < number:
            begin = middle + 1
        else:
            end = middle
    return begin


@routine
def believe_deal(tree, deals, chances, pair, status, share, row, belief):
    """Add to a belief what follows from a pair of kept hands of weight ``share``, if ``row`` is dealt."""
    first, last = tree.full.ptr[row], tree.full.ptr[row + 1]
    end = deals.ptr[pair + 1]
    place = first_deal(deals, deals.ptr[pair], end, status, first)
    while place < end:
        deal = deals.deal[place]
        number = deals.first[deal] + status * deals.stride[deal]
        if number >= last:
            return
        belief[number - first] += share * chances[place]
        place += 1


@routine
def deal_next(tree, deals, chances, start, node, kept, words, belief):
    """Deal after a node, or to begin a game if ``node`` is none; return the full state and write what is believed.

    ``kept`` has the nodes that there may be, their weights and their number.
    """
    first_status, n_full = start
    targets, shares, n = kept
    begins = node < n_full
    pair = 0 if begins else np.int64(deals.node_pair[node - n_full])
    status = first_status if begins else np.int64(deals.node_status[node - n_full])
    dealt = deals.deal[deal_cards(deals.ptr, deals.until, deals.guide, pair, words)]
    number = np.int64(deals.first[dealt] + status * deals.stride[dealt])
    row = np.int64(tree.row_of[number])
    belief[:] = 0.0
    if begins:
        believe_deal(tree, deals, chances, pair, status, 1.0, row, belief)
    else:
        for k in range(n):
            other = np.int64(deals.node_pair[targets[k] - n_full])
            believe_deal(tree, deals, chances, other, status, shares[k], row, belief)
    normalise(belief, tree.full.ptr[row + 1] - tree.full.ptr[row])
    return number


@routine
def believe_next(tree, row, targets, shares, n, belief):
    """What is believed in an information state if it is one of ``n`` numbers."""
    belief[:] = 0.0
    for k in range(n):
        belief[targets[k] - tree.full.ptr[row]] += shares[k]
    normalise(belief, tree.full.ptr[row + 1] - tree.full.ptr[row])


@routine
def choose_best(tree, room, ahead, row, belief, v):
    """The best action by looking ahead, counted in its state, and what it gains over the base by the table."""
    if tree.state_ptr[row + 1] - tree.state_ptr[row] == 1:
        return 0, 0.0
    own = best_action(tree, room, ahead, row, belief)[1]
    weigh_actions(tree, row, belief, room.total)
    gain = room.total[own]
    first = tree.full.ptr[row]
    for k in range(tree.full.ptr[row + 1] - first):
        gain -= belief[k] * v[first + k]
    return own, gain


@routine
def normalise(belief, n):
    """Let the first ``n`` weights add up to 1."""
    total = 0.0
    for i in range(n):
        total += belief[i]
    for i in range(n):
        belief[i] /= total


@routine
def find_next(tree, walk_draws, number, row, own, enemy, word):
    """The number that follows both actions, counted in their states, and what is seen of the enemy and the draws."""
    full, n_draws = tree.full, tree.draws.n
    _, n_own, own_may = split_actions(pack_actions(tree.state_ptr, tree.action, row))
    entry = full.entry_ptr[row]
    for other in range(full.ptr[row], number + 1):
        first, n_enemy, may = split_actions(pack_actions(tree.state_ptr, tree.action, full.enemy_row[other]))
        upto = own if other == number else n_own
        enemy_action = enemy if other == number else 0
        skipped, kind = skip(upto, own_may, enemy_action, n_enemy, may, n_draws, full.deck[other])
        entry += skipped
    deck = full.deck[number]
    draw = find_draw(walk_draws, deck, kind, n_draws[deck, kind], word)
    seen = what_is_seen(
        tree.action[first + enemy], tree.draws.own[deck, kind, draw], tree.draws.enemy[deck, kind, draw]
    )
    return np.int64(full.after[entry + draw]), seen


@kernel
def play_believing(begin, end, numbers, tree, walk_draws, deals, chances, start, threshold, v, depth, games, trace):
    """Play the games of the given places from ``numbers``, the first game and the seed, on.

    Arguments that are not those of `_simulator.play_games`: ``tree`` holds the values ``q`` of the base and ``v`` those
    of full states; ``chances`` are the probabilities of deals; ``depth`` is how many breaths are looked ahead, ending
    with the measure. ``start`` has the place of the status of the first deal, the number of full states, the breaths of
    a measure and the most breaths of a game. Of ``games``, ``breaths[i]`` becomes the length, or 0 if that is too long,
    ``won[i]`` 1 for a win, and ``gain[i]`` what the actions gain over the base.

    If ``trace`` is not empty, ``steps[ptr[i] + k]`` becomes the full state of breath ``k``, the rows of both actions
    and both draws, and ``beliefs[ptr[i] + k]`` the belief before it.
    """
    (first_game, seed), (first_status, n_full, n_breaths, most) = numbers, start
    (breaths, won, gain), (trace_ptr, steps, beliefs) = games, trace
    most_decks = beliefs.shape[1]
    room = room_for_tree(depth, most_decks)
    belief, shares = np.zeros(most_decks), np.zeros(most_decks)
    targets = np.zeros(most_decks, dtype=np.int64)
    for i in range(begin, end):
        game = first_game + i
        # To begin with, cards are dealt to two empty hands.
        number, n = np.int64(-1), 0
        for breath in range(most):
            if number < 0 or number >= n_full:
                words = draw_words(game, breath, DEAL, seed)
                kept = (targets, shares, n)
                number = deal_next(tree, deals, chances, (first_status, n_full), number, kept, words, belief)
            row = np.int64(tree.row_of[number])
            own, gained = choose_best(tree, room, min(depth, n_breaths - breath % n_breaths), row, belief, v)
            gain[i] += gained
            words = draw_words(game, breath, BREATH, seed)
            first, n_enemy, _ = split_actions(pack_actions(tree.state_ptr, tree.action, tree.full.enemy_row[number]))
            enemy = choose(threshold, first, n_enemy, words[1])
            then, seen = find_next(tree, walk_draws, number, row, own, enemy, words[2])
            if len(steps) > 0:
                k = trace_ptr[i] + breath
                steps[k, 0], steps[k, 1], steps[k, 2] = number, tree.state_ptr[row] + own, first + enemy
                steps[k, 3], steps[k, 4] = split_draws(seen)
                beliefs[k, :] = belief
            if then >= tree.win:
                breaths[i], won[i] = breath + 1, then == tree.win
                break
            n = follow(tree, row, belief, own, seen, targets, shares)
            number = then
            if number < n_full:
                believe_next(tree, np.int64(tree.row_of[number]), targets, shares, n, belief)

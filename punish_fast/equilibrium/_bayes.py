"""Games of an exploiter with perfect recall: it knows the enemy's policy and applies Bayes' rule from deal to deal.

Its belief about the enemy's hand is updated after every breath (``_belief_tree.py``) and carried over the redeal: the
belief ``w(k)`` in the hand ``k`` that the enemy keeps becomes

    w'(d) = sum over k of w(k) P(own cards, revealed cards and deck d | both kept hands)

for the own and the revealed cards that were dealt. Games are drawn as in ``_simulator.py``.

*Control variate.* Let ``v`` and ``q`` be the exact values of another agent in the same seat, the *base*, against this
enemy. Playing on from the history ``h`` with the belief ``w_h`` gains over the base the sum of what its actions gain:

    gain = E sum over breaths of (sum over d of w_h(d) q(s, d, a)) - (sum over d of w_h(d) v(s, d))

because ``v`` is the mean of what follows while the base plays. Only this sum is averaged over games. Its variance is a
small part of that of wins and losses. If every action is the best one by ``q`` and the belief, no term is negative: the
base's own mixture of actions has the value ``v``.
"""

from __future__ import annotations

import numpy as np

from punish_fast.duel._simulator import BREATH, DEAL, choose, deal_cards, find_draw
from punish_fast.duel._walk import action_shape, skip_actions
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
    """The place of the first deal from ``begin`` to ``end`` with a full state of at least ``number``."""
    while begin < end:
        middle = (begin + end) // 2
        deal = deals.deal[middle]
        if deals.first[deal] + status * deals.stride[deal] < number:
            begin = middle + 1
        else:
            end = middle
    return begin


@routine
def believe_deal(tree, deals, deal_p, pair, status, share, row, belief):
    """Add the belief that follows from a pair of kept hands, of weight ``share``, if ``row`` is dealt."""
    first, last = tree.full.ptr[row], tree.full.ptr[row + 1]
    end = deals.ptr[pair + 1]
    place = first_deal(deals, deals.ptr[pair], end, status, first)
    while place < end:
        deal = deals.deal[place]
        number = deals.first[deal] + status * deals.stride[deal]
        if number >= last:
            return
        belief[number - first] += share * deal_p[place]
        place += 1


@routine
def deal_next(tree, deals, deal_p, start, node, kept, words, belief):
    """Deal after a node, or the first deal if ``node`` is not one; return the full state and write the belief.

    ``kept`` holds the possible nodes, their weights and their number.
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
        believe_deal(tree, deals, deal_p, pair, status, 1.0, row, belief)
    else:
        for k in range(n):
            other = np.int64(deals.node_pair[targets[k] - n_full])
            believe_deal(tree, deals, deal_p, other, status, shares[k], row, belief)
    normalise(belief, tree.full.ptr[row + 1] - tree.full.ptr[row])
    return number


@routine
def believe_next(tree, row, targets, shares, n, belief):
    """Write the belief in an information state if it is one of ``n`` numbers with these shares."""
    belief[:] = 0.0
    for k in range(n):
        belief[targets[k] - tree.full.ptr[row]] += shares[k]
    normalise(belief, tree.full.ptr[row + 1] - tree.full.ptr[row])


@routine
def choose_best(tree, room, ahead, row, belief, v):
    """The best action found by search, counted in its state, and its gain over the base by the table."""
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
    """Scale the first ``n`` weights to add up to 1."""
    total = 0.0
    for i in range(n):
        total += belief[i]
    for i in range(n):
        belief[i] /= total


@routine
def find_next(tree, until, number, row, own, enemy, word):
    """The number that follows both actions, counted in their states, and what is seen of the enemy and the draws."""
    full, draws = tree.full, tree.draws
    _, _, may_feint = action_shape(tree.state_ptr, tree.action, row)
    first, n_enemy, enemy_may_feint = action_shape(tree.state_ptr, tree.action, full.enemy_row[number])
    deck = full.deck[number]
    skipped, feints = skip_actions(own, may_feint, enemy, n_enemy, enemy_may_feint, draws.n, deck)
    draw = find_draw(until, deck, feints, draws.n[deck, feints], word)
    seen = what_is_seen(tree.action[first + enemy], draws, deck, feints, draw)
    return np.int64(full.after[np.int64(full.entry[number]) + skipped + draw]), seen


@kernel
def play_bayes_games(begin, end, numbers, tree, tables, start, v, depth, games, trace):
    """Play the games of the given places from ``numbers``, the first game and the seed, on.

    Arguments other than those of `_simulator.play_games`: ``tree`` holds the values ``q`` of the base and ``v`` those
    of full states; ``tables`` are cumulated draws, deals, their probabilities, and the enemy's thresholds; ``depth`` is
    the search depth in breaths, which ends with the measure. ``start`` is the place of the status of the first deal,
    the number of full states, the breaths of a measure and the most breaths of a game. Of ``games``, ``breaths[i]``
    becomes the length, or 0 if that is too long, ``won[i]`` 1 for a win, and ``gain[i]`` the gain over the base.

    If ``trace`` is not empty, ``steps[ptr[i] + k]`` becomes the full state of breath ``k``, the rows of both actions
    and both draws, and ``beliefs[ptr[i] + k]`` the belief before it.
    """
    (first_game, seed), (first_status, n_full, n_breaths, most) = numbers, start
    until, deals, deal_p, threshold = tables
    (breaths, won, gain), (trace_ptr, steps, beliefs) = games, trace
    most_decks = beliefs.shape[1]
    room = room_for_tree(depth, most_decks)
    belief, shares = np.zeros(most_decks), np.zeros(most_decks)
    targets = np.zeros(most_decks, dtype=np.int64)
    for i in range(begin, end):
        game = first_game + i
        # A game begins with a deal to two empty hands.
        number, n = np.int64(-1), 0
        for breath in range(most):
            if number < 0 or number >= n_full:
                words = draw_words(game, breath, DEAL, seed)
                kept = (targets, shares, n)
                number = deal_next(tree, deals, deal_p, (first_status, n_full), number, kept, words, belief)
            row = np.int64(tree.row_of[number])
            own, gained = choose_best(tree, room, min(depth, n_breaths - breath % n_breaths), row, belief, v)
            gain[i] += gained
            words = draw_words(game, breath, BREATH, seed)
            first, n_enemy, _ = action_shape(tree.state_ptr, tree.action, tree.full.enemy_row[number])
            enemy = choose(threshold, first, n_enemy, words[1])
            then, seen = find_next(tree, until, number, row, own, enemy, words[2])
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

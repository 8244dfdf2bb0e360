"""Playing games: walks on the graph of the real game, drawn by counter-based random numbers.

A game is a walk from number to number. In a full state both players choose, feints draw from the deck, and the
successors of a full state stand in the order of own action, enemy action and draw (see ``_graph.py``), so the place of
the one that follows is worked out from what was chosen. A player who may feint has a plain action and a feint for every
kind in hand, in turns; so how many actions there are and one bit tell which.

Random numbers are those of ``runtime/_random.py``::

    key      the seed, low and high word
    counter  the game, low and high word; the breath; 0 for the breath itself, 1 for the deal before it

Nothing is carried over from one draw to the next, so every game is the same whoever plays it, and in whatever order.
Choices take 31 bits each, draws 32 and deals 53: less likely actions than one in 2^31 may never be played.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.runtime._jit import kernel, routine
from punish_fast.runtime._random import draw_words

# Choices compare 31 bits with thresholds up to `CERTAIN`, which 32 bits can hold.
CERTAIN = 1 << 31
_CHOICE_SHIFT = np.uint64(1)
_WORD_UNIT = 1 / (1 << 32)
_DEAL_FACTOR = np.uint64(1 << 26)
_DEAL_UNIT = 1 / (1 << 53)
_DEAL_SHIFTS = np.uint64(5), np.uint64(6)

# Streams of random numbers.
BREATH, DEAL = 0, 1

# Games that take turns.
_AT_ONCE = 256

# More than an information state can have.
MOST_ACTIONS = 16

# Columns of `Walk.place`.
OWN, ENEMY, DECK, FIRST = range(4)


class Walk(NamedTuple):
    """What a walk looks up.

    Attributes:
        place: int32 ``[n_full, 4]``: actions of both players, deck and first successor of each full state.
        n_draws: int64 ``[n_decks, 4]``: different draws from a deck by no feint, an own one, the enemy's, and both.
        draws: float64 ``[n_decks, 4, 25]``: the chances of that draw or an earlier one.
        after: int32 ``[n_entries]``, the successors of full states.
    """

    place: np.ndarray
    n_draws: np.ndarray
    draws: np.ndarray
    after: np.ndarray


class Deals(NamedTuple):
    """How cards are dealt, to begin a game and after a measure.

    A deal is looked up by a guide (H.-C. Chen and Y. Asau, 1974): the unit interval is cut into as many slices as there
    are deals, and ``guide`` names the deal in which each slice begins, so that on average less than two are passed.

    Attributes:
        node_pair: int32 ``[n_nodes]``, the pair of kept hands of each node.
        node_status: int32 ``[n_nodes]``, the place of its status in the blocks of the first breath.
        ptr: int64 ``[n_pairs + 1]``, where the deals of each pair begin.
        until: float64 ``[n]``, the chances of that deal or an earlier one of the pair.
        guide: int32 ``[n]``, deals counted from the first of their pair.
        deal: int32 ``[n]``, their numbers.
        first: int64 ``[n_deals]``, the full state of each deal for the first status of its block.
        stride: int64 ``[n_deals]``, how far behind it the next status is.
    """

    node_pair: np.ndarray
    node_status: np.ndarray
    ptr: np.ndarray
    until: np.ndarray
    guide: np.ndarray
    deal: np.ndarray
    first: np.ndarray
    stride: np.ndarray


@kernel
def cumulate_draws(begin, end, n_draws, chances, draws):
    """Fill `Walk.draws` for the given decks."""
    for deck in range(begin, end):
        for k in range(n_draws.shape[1]):
            until = 0.0
            for draw in range(n_draws[deck, k]):
                until += chances[deck, k, draw]
                draws[deck, k, draw] = until


@routine
def pack_actions(state_ptr, action, state):
    """The actions of an information state as one number: first row, how many there are, and 1 if it may feint."""
    begin, end = state_ptr[state], state_ptr[state + 1]
    # Where there are feints, the first one stands second.
    may_feint = action[begin + 1] & 1 if end > begin + 1 else 0
    return (begin * MOST_ACTIONS + end - begin) * 2 + may_feint


@routine
def split_actions(packed):
    """What `pack_actions` packed."""
    return packed // (2 * MOST_ACTIONS), (packed >> 1) % MOST_ACTIONS, packed & 1


@kernel
def fill_places(begin, end, full, rows, n_draws, place):
    """Fill `Walk.place` for the full states of the given information states."""
    state_ptr, action = rows
    for row in range(begin, end):
        entry = full.entry_ptr[row]
        own_actions = pack_actions(state_ptr, action, row)
        _, n_own, own_may = split_actions(own_actions)
        own_feints = (n_own >> 1) * own_may
        for number in range(full.ptr[row], full.ptr[row + 1]):
            enemy_actions = pack_actions(state_ptr, action, full.enemy_row[number])
            _, n_enemy, enemy_may = split_actions(enemy_actions)
            enemy_feints = (n_enemy >> 1) * enemy_may
            deck = full.deck[number]
            place[number, OWN] = own_actions
            place[number, ENEMY] = enemy_actions
            place[number, DECK] = deck
            place[number, FIRST] = entry
            entry += count_before(n_enemy, enemy_feints, n_draws, deck, 0) * (n_own - own_feints)
            entry += count_before(n_enemy, enemy_feints, n_draws, deck, 1) * own_feints


@routine
def count_before(n_enemy, enemy_feints, n_draws, deck, is_feint):
    """How many successors a full state has for one own action and so many of the enemy's."""
    return (n_enemy - enemy_feints) * n_draws[deck, is_feint] + enemy_feints * n_draws[deck, is_feint + 2]


@kernel
def guide_deals(begin, end, ptr, p, until, guide):
    """Fill `Deals.until` and `Deals.guide` for the given pairs; ``p`` has the chances of deals."""
    for pair in range(begin, end):
        first, n = ptr[pair], ptr[pair + 1] - ptr[pair]
        total = 0.0
        slice_ = 0
        for i in range(n):
            total += p[first + i]
            until[first + i] = total
            while slice_ < n and (slice_ < total * n or i == n - 1):
                guide[first + slice_] = i
                slice_ += 1


@kernel
def fill_thresholds(begin, end, state_ptr, weight, threshold):
    """``threshold[row]``, uint32, becomes `CERTAIN` times the chance of that row or an earlier one of its state."""
    for state in range(begin, end):
        total = 0.0
        last = state_ptr[state]
        for row in range(state_ptr[state], state_ptr[state + 1]):
            total += weight[row]
            threshold[row] = min(int(total * CERTAIN + 0.5), CERTAIN)
            if weight[row] > 0.0:
                last = row
        # Sums may miss 1 by rounding, but something is always played, and nothing that has no chance.
        for row in range(last, state_ptr[state + 1]):
            threshold[row] = CERTAIN


@routine
def choose(threshold, first, n, word):
    """Which of the ``n`` actions from row ``first`` on is played; without a branch to mispredict."""
    chance = np.int64(word >> _CHOICE_SHIFT)
    chosen = 0
    for row in range(first, first + n):
        chosen += np.int64(threshold[row]) <= chance
    return chosen


@routine
def find_draw(draws, deck, kind, n, word):
    """Which of ``n`` draws of a kind is drawn from a deck."""
    chance = float(word) * _WORD_UNIT
    draw = 0
    while draw < n - 1 and draws[deck, kind, draw] <= chance:
        draw += 1
    return draw


@routine
def skip(own, own_may, enemy, n_enemy, enemy_may, n_draws, deck):
    """How many successors stand before those of the given actions, and which kind of draws these have.

    ``own`` and ``enemy`` count actions in their states, of which every other one is a feint in a state that may.
    """
    enemy_feints = (n_enemy >> 1) * enemy_may
    own_before = (own >> 1) * own_may
    skipped = (own - own_before) * count_before(n_enemy, enemy_feints, n_draws, deck, 0)
    skipped += own_before * count_before(n_enemy, enemy_feints, n_draws, deck, 1)
    skipped += count_before(enemy, (enemy >> 1) * enemy_may, n_draws, deck, own & own_may)
    return skipped, (own & own_may) + 2 * (enemy & enemy_may)


@routine
def deal_cards(ptr, until, guide, pair, words):
    """The place in the list of deals of the one that follows a pair of kept hands."""
    chance = float((words[0] >> _DEAL_SHIFTS[0]) * _DEAL_FACTOR + (words[1] >> _DEAL_SHIFTS[1])) * _DEAL_UNIT
    first, n = ptr[pair], ptr[pair + 1] - ptr[pair]
    place = first + guide[first + int(chance * n)]
    while place < first + n - 1 and until[place] <= chance:
        place += 1
    return place


@kernel
def play_games(begin, end, numbers, walk, deals, start, thresholds, most, stop, games, trace):
    """Play the games of the given places from ``numbers``, the first game and the seed, on.

    Many games take turns, and a turn is cut into steps that look up one thing for all of them: the processor then waits
    for many of these at once, instead of for one after the other, which makes it three times as fast.
    ``start`` has the place of the status of the first deal, and the numbers of the first node and of win. Of ``games``,
    ``opening[i]`` becomes the full state after the deal, ``breaths[i]`` the length, ``won[i]`` 1 for a win. A game that
    is not decided after ``most`` breaths sets ``stop[0]``, which ends all others, those of other threads too.

    If ``trace`` is not empty, ``trace[ptr[i] + k]`` becomes the full state of breath ``k`` and the rows of the actions
    of both players.
    """
    (first_game, seed), (first_status, first_node, win) = numbers, start
    place, n_draws, draws, after = walk.place, walk.n_draws, walk.draws, walk.after
    node_pair, node_status, ptr, until = deals.node_pair, deals.node_status, deals.ptr, deals.until
    guide, deal, deal_first, stride = deals.guide, deals.deal, deals.first, deals.stride
    own_threshold, enemy_threshold = thresholds
    (opening, breaths, won), (trace_ptr, steps) = games, trace
    game = np.zeros(_AT_ONCE, dtype=np.int64)
    full = np.zeros(_AT_ONCE, dtype=np.int64)
    breath = np.zeros(_AT_ONCE, dtype=np.int64)
    seen = np.zeros((_AT_ONCE, 4), dtype=np.int64)
    following, live = begin, 0
    while not stop[0]:
        while live < _AT_ONCE and following < end:
            dealt = deal[deal_cards(ptr, until, guide, 0, draw_words(first_game + following, 0, DEAL, seed))]
            full[live] = opening[following] = deal_first[dealt] + first_status * stride[dealt]
            game[live], breath[live] = following, 0
            following, live = following + 1, live + 1
        if live == 0:
            return
        for s in range(live):
            for column in range(4):
                seen[s, column] = place[full[s], column]
        for s in range(live):
            words = draw_words(first_game + game[s], breath[s], BREATH, seed)
            own_row, n_own, own_may = split_actions(seen[s, OWN])
            enemy_row, n_enemy, enemy_may = split_actions(seen[s, ENEMY])
            own = choose(own_threshold, own_row, n_own, words[0])
            enemy = choose(enemy_threshold, enemy_row, n_enemy, words[1])
            deck = seen[s, DECK]
            entry, kind = skip(own, own_may, enemy, n_enemy, enemy_may, n_draws, deck)
            if kind > 0:
                entry += find_draw(draws, deck, kind, n_draws[deck, kind], words[2])
            if len(steps) > 0:
                k = trace_ptr[game[s]] + breath[s]
                steps[k, 0], steps[k, 1], steps[k, 2] = full[s], own_row + own, enemy_row + enemy
            full[s] = seen[s, FIRST] + entry
        for s in range(live):
            full[s] = after[full[s]]
            breath[s] += 1
        s = 0
        while s < live:
            node = full[s] - first_node
            if full[s] >= win:
                breaths[game[s]], won[game[s]] = breath[s], full[s] == win
                live -= 1
                game[s], full[s], breath[s] = game[live], full[live], breath[live]
                continue
            stop[0] |= breath[s] >= most
            if node >= 0:
                words = draw_words(first_game + game[s], breath[s], DEAL, seed)
                dealt = deal[deal_cards(ptr, until, guide, node_pair[node], words)]
                full[s] = deal_first[dealt] + node_status[node] * stride[dealt]
            s += 1

"""Playing games: walks on the graph of the real game, drawn by counter-based random numbers.

A game is a walk from number to number. In a full state both players choose, feints draw from the deck, and the
successors of a full state stand in the order of own action, enemy action and draw (see ``_graph.py``), so the place of
the one that follows is worked out from what was chosen. A player who may feint has a plain action and a feint for every
kind in hand, in turns; so the actions of a state are known from their number and one bit.

Random numbers are those of Philox4x32-10 (J. Salmon, M. Moraes, R. Dror and D. Shaw: "Parallel random numbers: as easy
as 1, 2, 3", SC 2011). It maps a counter and a key to four words of 32 bits::

    key      the seed, low and high word
    counter  the game, low and high word; the breath; 0 for the breath itself, 1 for the deal before it

Nothing is carried over from one draw to the next, so every game is the same whoever plays it, and in whatever order.
Choices take 31 bits each, draws 32 and deals 53: less likely actions than one in 2^31 may never be played.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast._jit import kernel, routine
from punish_fast.punish._graph import drawn_cards, list_draws, room_for_draws
from punish_fast.punish._multisets import N_KINDS
from punish_fast.punish._space import block_statuses

# Of Philox: multipliers, what the key grows by every round, and the number of rounds.
_FACTOR_0 = np.uint64(0xD2511F53)
_FACTOR_1 = np.uint64(0xCD9E8D57)
_STEP_0 = np.uint64(0x9E3779B9)
_STEP_1 = np.uint64(0xBB67AE85)
_WORD = np.uint64(0xFFFFFFFF)
_WORD_BITS = np.uint64(32)
_ROUNDS = 10

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
_AT_ONCE = 32

# Columns of `Walk.place`.
OWN, ENEMY, DECK, FIRST = range(4)


class Walk(NamedTuple):
    """What a walk looks up.

    Attributes:
        place: int32 ``[n_full, 4]``: information states of both players, deck and first successor of full states.
        actions: int32 ``[n_states + 1]``: twice the first row of each information state, plus 1 if it may feint.
        n_draws: int64 ``[n_decks, 4]``: different draws from a deck by no feint, an own one, the enemy's, and both.
        draws: float64 ``[n_decks, 4, 25]``: the chances of that draw or an earlier one.
        after: int32 ``[n_entries]``, the successors of full states.
    """

    place: np.ndarray
    actions: np.ndarray
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


@routine
def draw_words(game, breath, stream, seed):
    """Four random words of 32 bits, as uint64."""
    game, seed = np.uint64(game), np.uint64(seed)
    c0, c1 = game & _WORD, game >> _WORD_BITS
    c2, c3 = np.uint64(breath), np.uint64(stream)
    k0, k1 = seed & _WORD, seed >> _WORD_BITS
    for _ in range(_ROUNDS):
        one, other = _FACTOR_0 * c0, _FACTOR_1 * c2
        c0, c1 = (other >> _WORD_BITS) ^ c1 ^ k0, other & _WORD
        c2, c3 = (one >> _WORD_BITS) ^ c3 ^ k1, one & _WORD
        k0, k1 = (k0 + _STEP_0) & _WORD, (k1 + _STEP_1) & _WORD
    return c0, c1, c2, c3


@kernel
def fill_words(begin, end, counters, seeds, words):
    """``words[i]`` becomes what is drawn for ``counters[i]``, the game, the breath and the stream."""
    for i in range(begin, end):
        words[i, :] = draw_words(counters[i, 0], counters[i, 1], counters[i, 2], seeds[i])


@kernel
def tabulate_draws(begin, end, layout, copies, n_draws, draws):
    """Fill `Walk.n_draws` and `Walk.draws` for the given decks, of which ``copies`` has the cards."""
    listed, _, chances = room_for_draws()
    deck = np.zeros(N_KINDS, dtype=np.int64)
    for i in range(begin, end):
        for kind in range(N_KINDS):
            deck[kind] = copies[i, kind]
        list_draws(layout, deck, listed, n_draws[i], chances)
        for k in range(n_draws.shape[1]):
            until = 0.0
            for draw in range(n_draws[i, k]):
                until += chances[k, draw]
                draws[i, k, draw] = until


@kernel
def fill_places(begin, end, layout, layer, decks, deck_kind, full, actions, n_draws, place):
    """Fill `Walk.place` for the full states of the given blocks; ``deck_kind`` numbers the decks of the layer."""
    n_drawn = 2 * layout.feints + 1
    for block in range(begin, end):
        row = layer.first[block]
        for status in block_statuses(layer, block):
            first_deck = decks.ptr[block * n_drawn + drawn_cards(layout, status)]
            entry = full.entry_ptr[row]
            _, n_own, own_may = split_actions(actions, row)
            own_feints = (n_own >> 1) * own_may
            for i in range(full.ptr[row + 1] - full.ptr[row]):
                number = full.ptr[row] + i
                enemy_row = full.enemy_row[number]
                deck = deck_kind[first_deck + i]
                place[number, OWN] = row
                place[number, ENEMY] = enemy_row
                place[number, DECK] = deck
                place[number, FIRST] = entry
                _, n_enemy, enemy_may = split_actions(actions, enemy_row)
                enemy_feints = (n_enemy >> 1) * enemy_may
                entry += count_before(n_enemy, enemy_feints, n_draws[deck], 0) * (n_own - own_feints)
                entry += count_before(n_enemy, enemy_feints, n_draws[deck], 1) * own_feints
            row += 1


@routine
def count_before(n_enemy, enemy_feints, n_draws, is_feint):
    """How many successors a full state has for one own action and so many of the enemy's."""
    return (n_enemy - enemy_feints) * n_draws[is_feint] + enemy_feints * n_draws[is_feint + 2]


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
def find_draw(draws, n, word):
    """Which of ``n`` draws is drawn."""
    chance = float(word) * _WORD_UNIT
    draw = 0
    while draw < n - 1 and draws[draw] <= chance:
        draw += 1
    return draw


@routine
def split_actions(actions, row):
    """Packed in `Walk.actions`: first row of an information state, number of its actions, and 1 if it may feint."""
    begin, end = np.int64(actions[row]), np.int64(actions[row + 1])
    return begin >> 1, (end >> 1) - (begin >> 1), begin & 1


@routine
def skip(own, own_may, enemy, n_enemy, enemy_may, n_draws):
    """How many successors stand before those of the given actions, and which kind of draws these have.

    ``own`` and ``enemy`` count actions in their states, of which every other one is a feint in a state that may.
    """
    enemy_feints = (n_enemy >> 1) * enemy_may
    own_before = (own >> 1) * own_may
    skipped = (own - own_before) * count_before(n_enemy, enemy_feints, n_draws, 0)
    skipped += own_before * count_before(n_enemy, enemy_feints, n_draws, 1)
    skipped += count_before(enemy, (enemy >> 1) * enemy_may, n_draws, own & own_may)
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
def play_games(begin, end, first_game, seed, walk, deals, start, thresholds, most, stop, opening, breaths, won):
    """Play the games from ``first_game + begin`` on.

    Several games take turns, so that the processor can look up for one what it does not wait for in another.
    ``start`` has the place of the status of the first deal, and the numbers of the first node and of win.
    ``opening[i]`` becomes the full state after the deal, ``breaths[i]`` the length, ``won[i]`` 1 for a win. A game that
    is not decided after ``most`` breaths sets ``stop[0]``, which ends all others, those of other threads too.
    """
    place, actions, n_draws, draws, after = walk.place, walk.actions, walk.n_draws, walk.draws, walk.after
    node_pair, node_status, ptr, until = deals.node_pair, deals.node_status, deals.ptr, deals.until
    guide, deal, deal_first, stride = deals.guide, deals.deal, deals.first, deals.stride
    own_threshold, enemy_threshold = thresholds
    status, first_node, win = start
    full = np.zeros(_AT_ONCE, dtype=np.int64)
    game = np.zeros(_AT_ONCE, dtype=np.int64)
    length = np.zeros(_AT_ONCE, dtype=np.int64)
    seen = np.zeros((_AT_ONCE, 4), dtype=np.int64)
    rows = np.zeros((_AT_ONCE, 6), dtype=np.int64)
    following = begin
    live = 0
    while not stop[0]:
        while live < _AT_ONCE and following < end:
            k = deal_cards(ptr, until, guide, 0, draw_words(first_game + following, 0, DEAL, seed))
            full[live] = opening[following] = deal_first[deal[k]] + status * stride[deal[k]]
            game[live], length[live] = following, 0
            following += 1
            live += 1
        if live == 0:
            return
        for s in range(live):
            for column in range(4):
                seen[s, column] = place[full[s], column]
        for s in range(live):
            rows[s, :3] = split_actions(actions, seen[s, OWN])
            rows[s, 3:] = split_actions(actions, seen[s, ENEMY])
        for s in range(live):
            words = draw_words(first_game + game[s], length[s], BREATH, seed)
            own_row, n_own, own_may, enemy_row, n_enemy, enemy_may = rows[s]
            own = choose(own_threshold, own_row, n_own, words[0])
            enemy = choose(enemy_threshold, enemy_row, n_enemy, words[1])
            deck = seen[s, DECK]
            skipped, kind = skip(own, own_may, enemy, n_enemy, enemy_may, n_draws[deck])
            if kind > 0:
                skipped += find_draw(draws[deck, kind], n_draws[deck, kind], words[2])
            full[s] = seen[s, FIRST] + skipped
        for s in range(live):
            full[s] = after[full[s]]
            length[s] += 1
            stop[0] |= length[s] > most
        s = 0
        while s < live:
            node = full[s] - first_node
            if full[s] >= win:
                breaths[game[s]], won[game[s]] = length[s], full[s] == win
                live -= 1
                full[s], game[s], length[s] = full[live], game[live], length[live]
                continue
            if node >= 0:
                words = draw_words(first_game + game[s], length[s], DEAL, seed)
                k = deal_cards(ptr, until, guide, node_pair[node], words)
                full[s] = deal_first[deal[k]] + node_status[node] * stride[deal[k]]
            s += 1

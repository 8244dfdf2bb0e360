"""Simulated games: random walks on the graph of the two-player game, with counter-based random numbers.

A game is a walk through numbered states. In a full state, both players choose actions, and feints draw cards from the
deck. Successors are ordered by the player's action, the enemy's action and the draw (``_walk.py``). The index of the
next state therefore follows from both actions and the draw.

Random numbers are functions of a key and a counter (``runtime/_random.py``)::

    key      the seed, low and high word
    counter  the game (low and high word), the breath, and 0 for the breath itself or 1 for the deal before it

No random number depends on earlier random numbers, so a game depends neither on the order of games nor on the number of
threads. A choice uses 31 bits, a draw uses 32 bits, and a deal uses 53 bits. Therefore, actions with a probability
below 2^-31 might never be chosen.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.duel._walk import action_shape, skip_actions
from punish_fast.runtime._jit import kernel, routine
from punish_fast.runtime._random import draw_words

# Choices compare 31 random bits with thresholds of at most `CERTAIN`, which fits into 32 bits.
CERTAIN = 1 << 31
_CHOICE_SHIFT = np.uint64(1)
_WORD_UNIT = 1 / (1 << 32)
_DEAL_FACTOR = np.uint64(1 << 26)
_DEAL_UNIT = 1 / (1 << 53)
_DEAL_SHIFTS = np.uint64(5), np.uint64(6)

# Streams of random numbers.
BREATH, DEAL = 0, 1

# Number of interleaved games.
_AT_ONCE = 256

# Upper bound on the number of actions in an information state.
MOST_ACTIONS = 16

# Columns of `Walk.place`.
OWN, ENEMY, DECK, FIRST = range(4)


class Walk(NamedTuple):
    """Read-only arrays of a walk."""

    # int32 ``[n_full, 4]``: result of `pack_shape` for the player and for the enemy, deck, first successor
    place: np.ndarray
    n_draws: np.ndarray  # int64 ``[n_decks, 4]``: number of distinct draws (`Draws.n`)
    until: np.ndarray  # float64 ``[n_decks, 4, 25]``: cumulative probabilities of draws
    after: np.ndarray  # int32 ``[n_entries]``, successors of full states


class Deals(NamedTuple):
    """Deals at the beginning of a game or after a measure.

    Deals are drawn with a guide table [H.-C. Chen and Y. Asau, 1974]. The unit interval is divided into equal slices,
    one for each deal. ``guide`` contains the deal at the beginning of each slice. A search then skips fewer than two
    deals on average.
    """

    node_pair: np.ndarray  # int32 ``[n_nodes]``, index of each node's pair of kept hands
    node_status: np.ndarray  # int32 ``[n_nodes]``, index of each node's status in the blocks of the first breath
    ptr: np.ndarray  # int64 ``[n_pairs + 1]``, offset of each pair's deals
    until: np.ndarray  # float64 ``[n]``, cumulative probabilities of each pair's deals
    guide: np.ndarray  # int32 ``[n]``, first deal of each slice, counted from the pair's first deal
    deal: np.ndarray  # int32 ``[n]``, deal numbers
    first: np.ndarray  # int64 ``[n_deals]``, full state of each deal with the first status of its block
    stride: np.ndarray  # int64 ``[n_deals]``, distance between full states of consecutive statuses


@routine
def pack_shape(first, n, may_feint):
    """Pack the result of `action_shape` into one integer."""
    return (first * MOST_ACTIONS + n) * 2 + may_feint


@routine
def split_shape(packed):
    """Invert `pack_shape`."""
    return packed // (2 * MOST_ACTIONS), (packed >> 1) % MOST_ACTIONS, packed & 1


@kernel
def fill_places(begin, end, full, rows, place):
    """Fill `Walk.place` for the full states of the given information states."""
    state_ptr, action = rows
    for row in range(begin, end):
        own_first, n_own, own_may = action_shape(state_ptr, action, row)
        for number in range(full.ptr[row], full.ptr[row + 1]):
            first, n_enemy, may = action_shape(state_ptr, action, full.enemy_row[number])
            place[number, OWN] = pack_shape(own_first, n_own, own_may)
            place[number, ENEMY] = pack_shape(first, n_enemy, may)
            place[number, DECK] = full.deck[number]
            place[number, FIRST] = full.entry[number]


@kernel
def guide_deals(begin, end, ptr, p, until, guide):
    """Fill `Deals.until` and `Deals.guide` for the given pairs. ``p`` contains the probabilities of the deals."""
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
    """Set ``threshold``, uint32 ``[n_rows]``, to `CERTAIN` times the cumulative probability within each state."""
    for state in range(begin, end):
        total = 0.0
        last = state_ptr[state]
        for row in range(state_ptr[state], state_ptr[state + 1]):
            total += weight[row]
            threshold[row] = min(int(total * CERTAIN + 0.5), CERTAIN)
            if weight[row] > 0.0:
                last = row
        # Rounded sums can be below 1, but the last row with a positive probability must have the threshold `CERTAIN`.
        for row in range(last, state_ptr[state + 1]):
            threshold[row] = CERTAIN


@routine
def choose(threshold, first, n, word):
    """Return the index of the row that ``word`` selects among ``n`` rows from ``first`` onward, without branches."""
    drawn = np.int64(word >> _CHOICE_SHIFT)
    chosen = 0
    for row in range(first, first + n):
        chosen += np.int64(threshold[row]) <= drawn
    return chosen


@routine
def find_draw(until, deck, feints, n, word):
    """Return the index of the draw that ``word`` selects among ``n`` draws for a deck and a combination of feints."""
    point = float(word) * _WORD_UNIT
    draw = 0
    while draw < n - 1 and until[deck, feints, draw] <= point:
        draw += 1
    return draw


@routine
def deal_cards(ptr, until, guide, pair, words):
    """Return the index of the deal in `Deals.deal` that ``words`` select after a pair of kept hands."""
    point = float((words[0] >> _DEAL_SHIFTS[0]) * _DEAL_FACTOR + (words[1] >> _DEAL_SHIFTS[1])) * _DEAL_UNIT
    first, n = ptr[pair], ptr[pair + 1] - ptr[pair]
    place = first + guide[first + int(point * n)]
    while place < first + n - 1 and until[place] <= point:
        place += 1
    return place


@kernel
def draw_deal(numbers, ptr, until, guide):
    """Return the index of the deal before a breath. ``numbers`` contains the game, the breath and the seed.

    The arrays contain the deals of a single pair of kept hands.
    """
    game, breath, seed = numbers
    return deal_cards(ptr, until, guide, 0, draw_words(game, breath, DEAL, seed))


@kernel
def draw_choice(numbers, seat, threshold, first, n):
    """Return the index of the action that a seat (0: player, 1: enemy) chooses in a breath (see `choose`)."""
    game, breath, seed = numbers
    words = draw_words(game, breath, BREATH, seed)
    return choose(threshold, first, n, words[0] if seat == 0 else words[1])


@kernel
def draw_feints(numbers, until, deck, feints, n):
    """Return the index of the draw for the feints in a breath (see `find_draw`)."""
    game, breath, seed = numbers
    return find_draw(until, deck, feints, n, draw_words(game, breath, BREATH, seed)[2])


@kernel
def play_games(begin, end, numbers, walk, deals, start, players, stop, games, trace):
    """Play games ``begin`` to ``end - 1``, counted from the first game.

    Games are interleaved: each step performs one lookup for all games. The processor then waits for many cache misses
    simultaneously, which makes the simulation three times as fast.

    ``numbers`` contains the number of the first game and the seed. ``start`` contains the index of the initial status,
    the number of the first node, the number of the result win, and the maximum number of breaths. The kernel sets
    ``games.breaths[i]`` to the length of a game, and ``games.won[i]`` to 1 for a win. If a game is undecided after the
    maximum number of breaths, the kernel sets ``stop[0]``, which stops all threads.

    ``players`` contains two pairs ``threshold, begin``. In the measure after a node, row 0 of the player's policy is
    entry ``begin[node]`` of ``threshold``. The last entry of ``begin`` is for the first measure.

    ``trace`` is a pair ``trace_ptr, steps``. If ``steps`` is not empty, ``steps[trace_ptr[i] + k]`` receives the full
    state in breath ``k`` of game ``i`` and both players' rows.
    """
    (first_game, seed), (first_status, first_node, win, most) = numbers, start
    place, n_draws, draw_until, after = walk.place, walk.n_draws, walk.until, walk.after
    node_pair, node_status, ptr, until = deals.node_pair, deals.node_status, deals.ptr, deals.until
    guide, deal, deal_first, stride = deals.guide, deals.deal, deals.first, deals.stride
    (own_threshold, own_begin), (enemy_threshold, enemy_begin) = players
    (breaths, won), (trace_ptr, steps) = games, trace
    game = np.zeros(_AT_ONCE, dtype=np.int64)
    full = np.zeros(_AT_ONCE, dtype=np.int64)
    breath = np.zeros(_AT_ONCE, dtype=np.int64)
    origin = np.zeros(_AT_ONCE, dtype=np.int64)
    seen = np.zeros((_AT_ONCE, 4), dtype=np.int64)
    following, live = begin, 0
    while not stop[0]:
        while live < _AT_ONCE and following < end:
            dealt = deal[deal_cards(ptr, until, guide, 0, draw_words(first_game + following, 0, DEAL, seed))]
            full[live] = deal_first[dealt] + first_status * stride[dealt]
            game[live], breath[live], origin[live] = following, 0, len(node_pair)
            following, live = following + 1, live + 1
        if live == 0:
            return
        for s in range(live):
            for column in range(4):
                seen[s, column] = place[full[s], column]
        for s in range(live):
            words = draw_words(first_game + game[s], breath[s], BREATH, seed)
            own_row, n_own, own_may = split_shape(seen[s, OWN])
            enemy_row, n_enemy, enemy_may = split_shape(seen[s, ENEMY])
            own = choose(own_threshold, own_begin[origin[s]] + own_row, n_own, words[0])
            enemy = choose(enemy_threshold, enemy_begin[origin[s]] + enemy_row, n_enemy, words[1])
            deck = seen[s, DECK]
            entry, feints = skip_actions(own, own_may, enemy, n_enemy, enemy_may, n_draws, deck)
            if feints > 0:
                entry += find_draw(draw_until, deck, feints, n_draws[deck, feints], words[2])
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
                game[s], full[s], breath[s], origin[s] = game[live], full[live], breath[live], origin[live]
                continue
            stop[0] |= breath[s] >= most
            if node >= 0:
                words = draw_words(first_game + game[s], breath[s], DEAL, seed)
                dealt = deal[deal_cards(ptr, until, guide, node_pair[node], words)]
                full[s], origin[s] = deal_first[dealt] + node_status[node] * stride[dealt], node
            s += 1

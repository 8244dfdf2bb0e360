"""Steps of many simultaneous games, with the random numbers of ``_simulator.py``.

A game in a batch is a full state, a game number, its length so far, and its result. The same seed, game number and
actions therefore result in the same game as in the simulator.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.duel._simulator import (
    BREATH,
    CERTAIN,
    DEAL,
    DECK,
    ENEMY,
    FIRST,
    OWN,
    deal_cards,
    find_draw,
    split_shape,
)
from punish_fast.duel._walk import skip_actions
from punish_fast.runtime._jit import kernel
from punish_fast.runtime._prefetch import prefetch
from punish_fast.runtime._random import draw_words

_CHOICE_SHIFT = np.uint64(1)
# Prefetch distances in games, for the full state and for the rows of a seat.
_STATES_AHEAD, _ROWS_AHEAD = 16, 8


class BatchedGames(NamedTuple):
    """Games of a batch, one entry per game."""

    full: np.ndarray  # int64 ``[n]``, full state: of the last breath if the game is over
    number: np.ndarray  # int64 ``[n]``, game number
    length: np.ndarray  # int64 ``[n]``, number of breaths played
    result: np.ndarray  # int8 ``[n]``, 1 for a win of seat 0, -1 for a loss, 0 if the game is not over


@kernel
def deal_games(begin, end, games, seed, first_status, deals, is_new):
    """Deal the first hands in the games marked by ``is_new``, bool ``[n]``."""
    full, number, length, result = games.full, games.number, games.length, games.result
    ptr, until, guide, deal, first, stride = deals.ptr, deals.until, deals.guide, deals.deal, deals.first, deals.stride
    for i in range(begin, end):
        if is_new[i]:
            dealt = deal[deal_cards(ptr, until, guide, 0, draw_words(number[i], 0, DEAL, seed))]
            full[i] = first[dealt] + first_status * stride[dealt]
            length[i] = result[i] = 0


@kernel
def sample_actions(begin, end, games, seed, seat, place, column, policy, actions):
    """Set ``actions``, int64 ``[n]``, to the column of an action in each game, drawn from ``policy`` for a seat.

    ``column``, uint8 ``[n_rows]``, contains the column of each row. The kernel `choose` draws the same actions from the
    thresholds of the policy.
    """
    full, number, length = games.full, games.number, games.length
    for i in range(begin, end):
        prefetch(place, np.uint64(full[min(i + _STATES_AHEAD, end - 1)]) * np.uint64(4))
        later, _, _ = split_shape(place[full[min(i + _ROWS_AHEAD, end - 1)], seat])
        prefetch(policy, np.uint64(later))
        prefetch(column, np.uint64(later))
        first, n, _ = split_shape(place[full[i], seat])
        drawn = np.int64(draw_words(number[i], length[i], BREATH, seed)[seat] >> _CHOICE_SHIFT)
        row, total = first, 0.0
        for k in range(first, first + n):
            total += policy[k]
            row += int(total * CERTAIN + 0.5) <= drawn
        # Rounded sums can be below 1.
        while row == first + n or (policy[row] <= 0.0 and row > first):
            row -= 1
        actions[i] = column[row]


@kernel
def step_games(begin, end, games, numbers, walk, deals, chosen):
    """Play a breath in each game that is not over. ``chosen``, int64 ``[n, 2]``, contains the indices of actions."""
    seed, first_node, win = numbers
    full, number, length, result = games.full, games.number, games.length, games.result
    place, n_draws, draw_until, after = walk.place, walk.n_draws, walk.until, walk.after
    node_pair, node_status, ptr, until = deals.node_pair, deals.node_status, deals.ptr, deals.until
    guide, deal, deal_first, stride = deals.guide, deals.deal, deals.first, deals.stride
    for i in range(begin, end):
        prefetch(place, np.uint64(full[min(i + _STATES_AHEAD, end - 1)]) * np.uint64(4))
        if result[i] == 0:
            _, _, own_may = split_shape(place[full[i], OWN])
            _, n_enemy, enemy_may = split_shape(place[full[i], ENEMY])
            deck = place[full[i], DECK]
            entry, feints = skip_actions(chosen[i, 0], own_may, chosen[i, 1], n_enemy, enemy_may, n_draws, deck)
            if feints > 0:
                words = draw_words(number[i], length[i], BREATH, seed)
                entry += find_draw(draw_until, deck, feints, n_draws[deck, feints], words[2])
            chosen[i, 0] = place[full[i], FIRST] + entry
    # Separate loops read successors in parallel.
    for i in range(begin, end):
        if result[i] == 0:
            chosen[i, 0] = after[chosen[i, 0]]
    for i in range(begin, end):
        if result[i] != 0:
            continue
        new = chosen[i, 0]
        length[i] += 1
        node = new - first_node
        if new >= win:
            result[i] = 1 if new == win else -1
            continue
        if node >= 0:
            words = draw_words(number[i], length[i], DEAL, seed)
            dealt = deal[deal_cards(ptr, until, guide, node_pair[node], words)]
            new = deal_first[dealt] + node_status[node] * stride[dealt]
        full[i] = new

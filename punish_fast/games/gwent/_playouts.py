"""Kernels for the rule of thumb and for simulated games of Gwent Lite. ``movers.py`` describes the rule.

Simulated games store cards in arrays. Each row of ``piles`` begins with a player's pile. A drawn card is replaced by
the last card of the pile and inserted into a row of ``hands``. These rows are in ascending order.
"""

import numpy as np

from punish_fast.games.gwent._cards import list_cards
from punish_fast.games.gwent._game import (
    BEGINNER,
    DUE,
    HAND,
    HAND_ROOM,
    HELD,
    LEFT,
    N_NUMBERS,
    OUT,
    ROUND,
    TOTAL,
    TURN,
    WINS,
    column_of,
    has_winner,
    settle_round,
    spread_numbers,
    take_draw,
    take_move,
)
from punish_fast.runtime._jit import kernel, routine
from punish_fast.runtime._random import draw_words

_LARGEST_DEFICIT = 6
# Index of the random stream of simulated games.
_STREAM = 5
_WORD_BITS = np.uint64(32)


@kernel
def choose_by_gwent_rule(states, actions):
    """Set ``actions``, int64 ``[n]``, by the rule of thumb. States must not be chance states or terminal states."""
    hand, fields = np.empty(101, dtype=np.int64), np.empty(N_NUMBERS, dtype=np.int64)
    for k in range(len(states)):
        spread_numbers(states[k], fields)
        list_cards(states[k], column_of(fields[TURN], HAND), hand)
        actions[k] = _slot_by_rule(fields, hand)


@routine
def _slot_by_rule(fields, hand):
    own, held = fields[TURN], fields[HELD + fields[TURN]]
    behind = fields[TOTAL + 1 - own] - fields[TOTAL + own]
    if fields[OUT + 1 - own]:
        points = 0
        for k in range(held):
            points += hand[k]
        if behind < 0 or points <= behind:
            return 0
    elif fields[WINS + 1 - own] == 0 and behind > _LARGEST_DEFICIT:
        return 0
    for k in range(held):
        if hand[k] > behind:
            return k + 1
    return held


@kernel
def play_gwent_games(begin, end, seed, decks, rules, has_rule, results):
    """Simulate games ``begin`` to ``end - 1``.

    Args:
        decks: int8 ``[n, 2, width]``, padded with zeros. Game ``k`` uses decks ``k % n``.
        rules: Hand size, and number of cards drawn before each round after the first.
        has_rule: bool ``[2]``, True for players who follow the rule of thumb, False for random players.
        results: Output, int16 ``[n_games, 3]``: the number of rounds won by each player and their total number of
            moves.
    """
    piles = np.empty((2, decks.shape[2]), dtype=np.int64)
    hands, fields = np.empty((2, HAND_ROOM), dtype=np.int64), np.empty(N_NUMBERS, dtype=np.int64)
    for game in range(begin, end):
        fields[:] = 0
        beginner = np.int64(draw_words(game, 0, _STREAM, seed)[0] & np.uint64(1))
        fields[ROUND], fields[BEGINNER], fields[TURN] = 1, beginner + 1, beginner
        for player in range(2):
            n = 0
            for card in decks[game % len(decks), player]:
                if card:
                    piles[player, n] = card
                    n += 1
            fields[LEFT + player], fields[DUE + player] = n, min(rules[0], n)
        turn, n_moves = 1, 0
        while not has_winner(fields):
            for player in range(2):
                turn = _draw_hand((game, seed, turn), player, piles[player], hands[player], fields)
            settle_round(fields, rules)
            turn, n = _play_round((game, seed, turn), has_rule, hands, fields, rules)
            n_moves += n
        results[game, 0], results[game, 1], results[game, 2] = fields[WINS], fields[WINS + 1], n_moves


@routine
def _draw_hand(state, player, pile, hand, fields):
    """Draw the cards that a player has to draw. Return the counter for the next random words."""
    game, seed, turn = state
    words = (np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0))
    for k in range(fields[DUE + player]):
        if k & 3 == 0:
            words = draw_words(game, turn, _STREAM, seed)
            turn += 1
        chosen = np.int64((words[0] * np.uint64(fields[LEFT + player])) >> _WORD_BITS)
        words = (words[1], words[2], words[3], words[0])
        card, slot = pile[chosen], fields[HELD + player]
        take_draw(fields, player)
        pile[chosen] = pile[fields[LEFT + player]]
        while slot > 0 and hand[slot - 1] > card:
            hand[slot] = hand[slot - 1]
            slot -= 1
        hand[slot] = card
    return turn


@routine
def _play_round(state, has_rule, hands, fields, rules):
    """Play a round. Return the counter for the next random words and the number of moves."""
    game, seed, turn = state
    words = (np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0))
    number, n_moves, n_random = fields[ROUND], 0, 0
    while fields[ROUND] == number and not has_winner(fields):
        player = fields[TURN]
        if has_rule[player]:
            slot = _slot_by_rule(fields, hands[player])
        else:
            if n_random & 3 == 0:
                words = draw_words(game, turn, _STREAM, seed)
                turn += 1
            slot = np.int64((words[0] * np.uint64(fields[HELD + player] + 1)) >> _WORD_BITS)
            words = (words[1], words[2], words[3], words[0])
            n_random += 1
        n_moves += 1
        card = 0
        if slot:
            card = hands[player, slot - 1]
            for k in range(slot, fields[HELD + player]):
                hands[player, k - 1] = hands[player, k]
        take_move(fields, card)
        settle_round(fields, rules)
    return turn, n_moves

"""Whole games of Gwent Lite in kernels; ``gwent.py`` holds the rules, ``gwent_rule_of_thumb.py`` the rule of thumb.

The pile of a player is the first places of a row of ``piles``. A drawn card leaves its place to the last of them, and
moves into a row of ``hands``, which is in ascending order.
"""

from __future__ import annotations

import numpy as np

from punish_fast.runtime._jit import kernel, routine
from punish_fast.runtime._random import draw_words

HAND_ROOM = 10
WINNING = 2
LARGEST_DEFICIT = 6
# In a log: 0 for a pass, a card that is drawn or played, and this plus the player who begins.
BEGINNER = 100

# Columns of what is counted for each player: cards in the pile and in hand, total, rounds won, whether out.
LEFT, HELD, TOTAL, WINS, OUT = range(5)
_N_COUNTS = 5
_STREAM = 5
_WORD_BITS = np.uint64(32)


@kernel
def play_gwent_games(begin, end, seed, decks, rules, has_rule, results, log):
    """Play the games from number ``begin`` to ``end``.

    Args:
        begin: The first game.
        end: The end of the range of games.
        seed: Random seed.
        decks: int8 ``[n, 2, width]``, zeros behind the last card; game ``k`` is played with decks ``k % n``.
        rules: The size of a hand, and cards drawn before further rounds.
        has_rule: bool ``[2]``: whether each player follows the rule of thumb; otherwise it plays at random.
        results: int16 ``[n_games, 3]``, becomes the rounds won by each player, and the moves of both.
        log: int8 ``[n_games, n]``, becomes the first numbers of each game; -1 behind the last.
    """
    piles = np.empty((2, decks.shape[2]), dtype=np.int64)
    hands, counts = np.empty((2, HAND_ROOM), dtype=np.int64), np.empty((2, _N_COUNTS), dtype=np.int64)
    for game in range(begin, end):
        counts[:] = 0
        for player in range(2):
            for card in decks[game % len(decks), player]:
                if card:
                    piles[player, counts[player, LEFT]] = card
                    counts[player, LEFT] += 1
        results[game, 2] = 0
        log[game] = -1
        beginner = np.int64(draw_words(game, 0, _STREAM, seed)[0] & np.uint64(1))
        mover, turn, place, due = beginner, 1, 0, rules[0]
        while max(counts[0, WINS], counts[1, WINS]) < WINNING:
            for player in range(2):
                n = min(due, rules[0] - counts[player, HELD], counts[player, LEFT])
                turn, place = _draw_cards((game, seed, turn, place), player, n, piles, hands, counts, log)
            if counts[0, WINS] + counts[1, WINS] == 0:
                place = _write(log, game, place, BEGINNER + beginner)
            due = rules[1]
            turn, place, moves = _play_round((game, seed, turn, place), mover, has_rule, hands, counts, log)
            results[game, 2] += moves
            ahead = counts[0, TOTAL] - counts[1, TOTAL]
            counts[0, WINS] += ahead >= 0
            counts[1, WINS] += ahead <= 0
            mover = 1 - beginner if ahead == 0 else int(ahead < 0)
        results[game, 0], results[game, 1] = counts[0, WINS], counts[1, WINS]


@routine
def _draw_cards(state, player, n, piles, hands, counts, log):
    """Let a player draw ``n`` cards; return the next turn and place in the log."""
    game, seed, turn, place = state
    words = (np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0))
    left, held = counts[player, LEFT], counts[player, HELD]
    for k in range(n):
        if k & 3 == 0:
            words = draw_words(game, turn, _STREAM, seed)
            turn += 1
        chosen = np.int64((words[0] * np.uint64(left)) >> _WORD_BITS)
        words = (words[1], words[2], words[3], words[0])
        card = piles[player, chosen]
        left -= 1
        piles[player, chosen] = piles[player, left]
        slot = held
        while slot > 0 and hands[player, slot - 1] > card:
            hands[player, slot] = hands[player, slot - 1]
            slot -= 1
        hands[player, slot] = card
        held += 1
        place = _write(log, game, place, card)
    counts[player, LEFT], counts[player, HELD] = left, held
    return turn, place


@routine
def _play_round(state, mover, has_rule, hands, counts, log):
    """Play a round; return the next turn, the next place in the log, and the number of moves."""
    game, seed, turn, place = state
    words = (np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0))
    for player in range(2):
        counts[player, TOTAL], counts[player, OUT] = 0, counts[player, HELD] == 0
    moves, n_random = 0, 0
    while not (counts[0, OUT] and counts[1, OUT]):
        if counts[mover, OUT]:
            mover = 1 - mover
        if has_rule[mover]:
            slot = _slot_by_rule(mover, hands, counts)
        else:
            if n_random & 3 == 0:
                words = draw_words(game, turn, _STREAM, seed)
                turn += 1
            slot = np.int64((words[0] * np.uint64(counts[mover, HELD] + 1)) >> _WORD_BITS)
            words = (words[1], words[2], words[3], words[0])
            n_random += 1
        moves += 1
        card = 0
        if slot == 0:
            counts[mover, OUT] = 1
        else:
            card = _take_card(mover, slot - 1, hands, counts)
        place = _write(log, game, place, card)
        mover = 1 - mover
    return turn, place, moves


@routine
def _slot_by_rule(player, hands, counts):
    """The action of the rule of thumb."""
    other, held = 1 - player, counts[player, HELD]
    behind = counts[other, TOTAL] - counts[player, TOTAL]
    if counts[other, OUT]:
        most = 0
        for k in range(held):
            most += hands[player, k]
        if behind < 0 or most <= behind:
            return 0
    elif counts[other, WINS] == 0 and behind > LARGEST_DEFICIT:
        return 0
    for k in range(held):
        if hands[player, k] > behind:
            return k + 1
    return held


@routine
def _take_card(player, k, hands, counts):
    """Play a card: close its gap in the hand, and count it. A player without cards is out."""
    card, held = hands[player, k], counts[player, HELD] - 1
    for j in range(k, held):
        hands[player, j] = hands[player, j + 1]
    counts[player, HELD] = held
    counts[player, TOTAL] += card
    counts[player, OUT] = held == 0
    return card


@routine
def _write(log, game, place, number):
    if place < log.shape[1]:
        log[game, place] = number
    return place + 1

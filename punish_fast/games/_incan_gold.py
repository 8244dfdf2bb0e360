"""Whole games of Incan Gold in kernels; ``incan_gold.py`` holds the rules.

The deck of a round is the first ``left`` places of an array. A drawn card changes places with the last of them, so all
cards drawn stand behind, and return when ``left`` is the size of the deck again.
"""

from __future__ import annotations

import numpy as np

from punish_fast.runtime._jit import kernel, routine
from punish_fast.runtime._random import draw_words

VALUES = np.array([1, 2, 3, 4, 5, 7, 9, 11, 13, 14, 15])
FIRST_HAZARD, ARTIFACT = 11, 16
# The deck before the first round, without artifacts.
CARDS = np.array([0, 1, 2, 3, 4, 4, 5, 5, 6, 7, 7, 8, 9, 10] + [k for k in range(11, 16) for _ in range(3)])
# Places for all cards: five artifacts at the most.
ROOM = len(CARDS) + 5
# What players have collected, as policies see it, is at the most this less one.
N_HELD = 128
# In a log: what follows a card is this plus a bit for each player who leaves.
FIRST_ANSWER = 17
N_CHEAP = 3

_STREAM = 3
_WORD_BITS = np.uint64(32)


@kernel
def play_temple_games(begin, end, seed, stay, n_rounds, is_by_leaving, points, log):
    """Play the games from number ``begin`` to ``end``.

    Args:
        begin: The first game.
        end: The end of the range of games.
        seed: Random seed.
        stay: uint64 ``[n_players, 3, 6, N_HELD]``: how many of 2^32 random words make each player stay, by the number
            of players inside less one, the hazards on the board, and what the player has collected in the round.
        n_rounds: Rounds of a game.
        is_by_leaving: Whether an artifact has the value of when it is taken.
        points: int32 ``[n_games, n_players]``, becomes what the players have left with.
        log: int8 ``[n_games, n]``, becomes the first cards and answers of each game; -1 behind the last.
    """
    deck, held = np.empty(ROOM, dtype=np.int64), np.empty(stay.shape[0], dtype=np.int64)
    for game in range(begin, end):
        deck[: len(CARDS)] = CARDS
        points[game] = 0
        log[game] = -1
        size, taken, turn, place = len(CARDS), 0, 0, 0
        for _ in range(n_rounds):
            deck[size] = ARTIFACT
            state = (game, seed, turn, place, taken)
            turn, place, taken, left, size = _play_round(
                state, size + 1, stay, is_by_leaving, deck, held, points[game], log[game]
            )
            size = _without_artifacts(deck, left, size)


@routine
def _play_round(state, size, stay, is_by_leaving, deck, held, totals, log):
    """Play a round; return the turn, the place in the log, artifacts taken, cards left and the size of the deck."""
    game, seed, turn, place, taken = state
    n_players = stay.shape[0]
    left, inside, n_inside = size, (1 << n_players) - 1, n_players
    treasure, worth, n_artifacts, seen, n_hazards = 0, 0, 0, 0, 0
    held[:] = 0
    while n_inside > 0:
        words = draw_words(game, turn, _STREAM, seed)
        turn += 1
        card, left = _take(deck, left, words[0])
        place = _write(log, place, card)
        if card < FIRST_HAZARD:
            share = VALUES[card] // n_inside
            treasure += VALUES[card] - share * n_inside
            for player in range(n_players):
                held[player] += share * ((inside >> player) & 1)
        elif card == ARTIFACT:
            worth += 5 if taken + (n_artifacts if is_by_leaving else 0) < N_CHEAP else 10
            n_artifacts += 1
        elif (seen >> card) & 1:
            # It stands behind the cards left, and leaves the game.
            size -= 1
            deck[left] = deck[size]
            break
        else:
            seen |= 1 << card
            n_hazards += 1
        leavers, n_leavers = 0, 0
        for player in range(n_players):
            limit = stay[player, n_inside - 1, n_hazards, min(held[player], N_HELD - 1)]
            if (inside >> player) & 1 and words[player + 1] >= limit:
                leavers |= 1 << player
                n_leavers += 1
        place = _write(log, place, FIRST_ANSWER + leavers)
        if n_leavers == 0:
            continue
        share = treasure // n_leavers
        treasure -= share * n_leavers
        for player in range(n_players):
            if (leavers >> player) & 1:
                totals[player] += held[player] + share + (worth if n_leavers == 1 else 0)
                held[player] = 0
        if n_leavers == 1:
            taken += n_artifacts
            worth, n_artifacts = 0, 0
        inside ^= leavers
        n_inside -= n_leavers
    return turn, place, taken, left, size


@routine
def _take(deck, left, word):
    """A random card, and the number of cards left."""
    place = np.int64((word * np.uint64(left)) >> _WORD_BITS)
    card, left = deck[place], left - 1
    deck[place] = deck[left]
    deck[left] = card
    return card, left


@routine
def _write(log, place, number):
    if place < len(log):
        log[place] = number
    return place + 1


@routine
def _without_artifacts(deck, left, size):
    """Remove the artifacts that were drawn; return the size of the deck."""
    kept = left
    for place in range(left, size):
        if deck[place] != ARTIFACT:
            deck[kept] = deck[place]
            kept += 1
    return kept

"""Whole games of Incan Gold in kernels."""

from __future__ import annotations

import numpy as np

from punish_fast.games.incan_gold._game import (
    ARTIFACT,
    ASKED,
    INSIDE,
    N_PLAYERS,
    ROUND,
    count_hazards,
    count_players,
    first_state,
    held_by,
    small_number,
    total_of,
    with_answer,
    with_card,
)
from punish_fast.runtime._jit import kernel, routine
from punish_fast.runtime._random import draw_words

# The deck before the first round, without artifacts, of which there are five at the most.
CARDS = np.array([0, 1, 2, 3, 4, 4, 5, 5, 6, 7, 7, 8, 9, 10] + [k for k in range(11, 16) for _ in range(3)])
_ROOM = len(CARDS) + 5
# The stream of random numbers.
_STREAM = 3
_WORD_BITS = np.uint64(32)


@kernel
def play_temple_games(begin, end, seed, stay, is_by_taking, totals):
    """Play the games from number ``begin`` to ``end``.

    The deck of a round is the first places of an array. A drawn card changes places with the last of them, so all cards
    drawn stand behind, and return with the next round.

    Args:
        stay: uint64 ``[3, 3, 6, 128]``: how many of 2^32 random words make each player stay, by the number of players
            inside less one, the hazards on the board, and what the player has collected in the round.
        is_by_taking: The value of an artifact is fixed when it is taken, not when it is drawn.
        totals: int32 ``[n_games, 3]``, receives the points of each player.
    """
    deck = np.empty(_ROOM, dtype=np.int64)
    for game in range(begin, end):
        deck[: len(CARDS)] = CARDS
        size, turn = len(CARDS), 0
        cards, points = first_state()
        while small_number(cards, INSIDE):
            deck[size] = ARTIFACT
            state = (game, seed, turn, cards, points)
            cards, points, turn, size = _play_round(state, stay, is_by_taking, deck, size + 1)
        for player in range(N_PLAYERS):
            totals[game, player] = total_of(points, player)


@routine
def _play_round(state, stay, is_by_taking, deck, size):
    """Play a round; return the state, the next turn of random words, and the size of the deck."""
    game, seed, turn, cards, points = state
    number, left = small_number(cards, ROUND), size
    while small_number(cards, ROUND) == number and small_number(cards, INSIDE):
        words = draw_words(game, turn, _STREAM, seed)
        turn += 1
        place, left = np.int64((words[0] * np.uint64(left)) >> _WORD_BITS), left - 1
        kind, deck[place] = deck[place], deck[left]
        deck[left] = kind
        cards, points = with_card(cards, points, kind, is_by_taking)
        asked, hazards = small_number(cards, ASKED), count_hazards(cards)
        if asked == 0:
            # The second hazard of a kind leaves the game.
            size -= 1
            deck[left] = deck[size]
        n_inside = count_players(asked)
        for player in range(N_PLAYERS):
            if (asked >> player) & 1:
                limit = stay[player, n_inside - 1, hazards, held_by(points, player)]
                cards, points = with_answer(cards, points, words[player + 1] < limit)
    # Artifacts that were drawn do not return.
    kept = left
    for place in range(left, size):
        if deck[place] != ARTIFACT:
            deck[kept] = deck[place]
            kept += 1
    return cards, points, turn, kept

"""Rounds of Incan Gold sampled in kernels, for players whose rules are tables of `_incan_gold_rounds`."""

from __future__ import annotations

import numpy as np

from punish_fast.games._incan_gold_rounds import (
    ARTIFACT_WORTH,
    IN_DECK,
    ON_BOARD,
    TAKEN,
    last_place,
    pair_place,
)
from punish_fast.runtime._jit import kernel, routine
from punish_fast.runtime._random import draw_words

_STREAM = 4
_WORD_BITS = np.uint64(32)
_ONE = 2.0**32


@routine
def fill_deck(deck, cards):
    """Write the kinds of all cards: treasures, hazards, the artifact; return their number."""
    copies, numbers = deck[1], deck[3]
    size = 0
    for kind in range(len(copies) + numbers[0] + numbers[2]):
        is_hazard = len(copies) <= kind < len(copies) + numbers[0]
        count = numbers[1] if is_hazard else 1 if kind >= len(copies) else copies[kind]
        cards[size : size + count] = kind
        size += count
    return size


@routine
def take_card(cards, left, word):
    """Take a random card out of the first ``left``."""
    place = np.int64((word * np.uint64(left)) >> _WORD_BITS)
    card = cards[place]
    cards[place] = cards[left - 1]
    cards[left - 1] = card
    return card


@kernel
def sample_solo(begin, end, seed, deck, n_inside, leave_at, go_on, points):
    """Play the rounds from number ``begin`` to ``end`` of one player; the others never leave.

    Args:
        begin: The first round.
        end: The end of the range.
        seed: Random seed.
        deck: See `_incan_gold_rounds`.
        n_inside: Players inside.
        leave_at: As in `solve_alone`.
        go_on: From `solve_alone`.
        points: int32 ``[n]``, becomes the points.
    """
    values, strides, numbers = deck[0], deck[2], deck[3]
    cards = np.empty(np.sum(deck[1]) + numbers[0] * numbers[1] + numbers[2], dtype=np.int64)
    for game in range(begin, end):
        left = fill_deck(deck, cards)
        treasures, hazards, seen, held, rest, relic, in_deck, turn = 0, 0, 0, 0, 0, 0, numbers[2], 0
        points[game] = 0
        while True:
            card = take_card(cards, left, draw_words(game, turn, _STREAM, seed)[0])
            left, turn = left - 1, turn + 1
            if card < len(values):
                held += values[card] // n_inside
                rest += values[card] % n_inside
                treasures += strides[card]
            elif card == len(values) + numbers[0]:
                relic, in_deck = ARTIFACT_WORTH, 0
            elif (seen >> card) & 1:
                break
            else:
                seen |= 1 << card
                hazards += 1
            pay, limit = held + rest + relic, leave_at[hazards]
            if pay >= go_on[treasures, hazards, in_deck] if limit < 0 else pay >= limit:
                points[game] = pay
                break


@kernel
def sample_equilibrium(begin, end, seed, deck, layout, tables, points):
    """Play the rounds from number ``begin`` to ``end`` of three players in the symmetric equilibrium.

    Args:
        begin: The first round.
        end: The end of the range.
        seed: Random seed.
        deck: See `_incan_gold_rounds`.
        layout: As in `solve_last`.
        tables: The values of `solve_last`, and the probabilities of staying of `solve_pair` and of `solve_three`.
        points: int32 ``[n, 3]``, becomes the points of each player.
    """
    numbers = deck[3]
    cards = np.empty(np.sum(deck[1]) + numbers[0] * numbers[1] + numbers[2], dtype=np.int64)
    for game in range(begin, end):
        points[game] = 0
        _play_equilibrium(game, seed, deck, layout, tables, cards, points[game])


@routine
def _play_equilibrium(game, seed, deck, layout, tables, cards, points):
    values, strides, numbers = deck[0], deck[2], deck[3]
    left = fill_deck(deck, cards)
    # All players inside hold the same.
    treasures, hazards, seen, held, rest, turn = 0, 0, 0, 0, 0, 0
    artifact = IN_DECK if numbers[2] else TAKEN
    inside, n_inside = 7, 3
    while n_inside > 0:
        words = draw_words(game, turn, _STREAM, seed)
        card = take_card(cards, left, words[0])
        left, turn = left - 1, turn + 1
        if card < len(values):
            held += values[card] // n_inside
            rest += values[card] % n_inside
            treasures += strides[card]
        elif card == len(values) + numbers[0]:
            artifact = ON_BOARD
        elif (seen >> card) & 1:
            return
        else:
            seen |= 1 << card
            hazards += 1
        p = stay_probability(layout, tables, n_inside, (treasures, hazards, artifact, held, rest))
        leavers, n_leavers = 0, 0
        for player in range(3):
            if (inside >> player) & 1 and words[player + 1] >= p * _ONE:
                leavers |= 1 << player
                n_leavers += 1
        if n_leavers == 0:
            continue
        share = rest // n_leavers
        rest -= share * n_leavers
        for player in range(3):
            if (leavers >> player) & 1:
                points[player] = held + share
                if n_leavers == 1 and artifact == ON_BOARD:
                    points[player] += ARTIFACT_WORTH
        if n_leavers == 1 and artifact == ON_BOARD:
            artifact = TAKEN
        inside ^= leavers
        n_inside -= n_leavers


@routine
def stay_probability(layout, tables, n_inside, state):
    """The probability that a player stays."""
    last, of_pair, of_three = tables
    treasures, hazards, artifact, held, rest = state
    if n_inside == 3:
        return of_three[treasures, hazards, artifact]
    if n_inside == 2:
        return of_pair[pair_place(layout, treasures, hazards, artifact, held, rest)]
    pay = held + rest + (ARTIFACT_WORTH if artifact == ON_BOARD else 0)
    # An artifact that the last player sees on the board is as good as its own.
    place = last_place(layout, treasures, hazards, 1 if artifact == IN_DECK else 0, pay)
    return 0.0 if pay >= last[place] else 1.0

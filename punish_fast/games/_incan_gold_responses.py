"""The best response in a round of Incan Gold to two players whose policies are known, in kernels.

Sets, decks and places are those of `_incan_gold_rounds`. All players inside hold the same, since they have been there
from the first card, so what they do follows from the state.
"""

from __future__ import annotations

import numpy as np

from punish_fast.games._incan_gold_rounds import (
    ARTIFACT_WORTH,
    IN_DECK,
    ON_BOARD,
    TAKEN,
    find_further_sets,
    go_on_in_pair,
    go_on_in_three,
    last_place,
    pair_place,
    rest_of_three,
)
from punish_fast.runtime._jit import kernel, routine


@kernel
def respond_in_pair(begin, end, order, deck, layout, other, last, pair):
    """The value of states with one opponent.

    Args:
        begin: The first set, in ``order``.
        end: The end of the range.
        order: Sets with as many cards as each other.
        deck: See `_incan_gold_rounds`.
        layout: As in `solve_last`.
        other: float64 ``[6, n]``, the probability that the opponent stays, by hazards and points held.
        last: From `solve_last`.
        pair: float64, becomes the expected points of the best response, at `pair_place`.
    """
    n_hazards, n_artifacts = deck[3][0], deck[3][2]
    after, weight, value = np.empty((3, len(deck[0])), dtype=np.int64)
    for place in range(begin, end):
        number = order[place]
        n_kinds, n_left = find_further_sets(number, deck, after, weight, value)
        found = (n_kinds, n_left, after, weight, value)
        first, n_held, n_rest = layout[number, 0], layout[number, 4], layout[number, 5]
        for hazards in range(n_hazards, -1, -1):
            for artifact in range(3 if n_artifacts else 1):
                for held in range(first, first + n_held):
                    p = probability(other, hazards, held)
                    left = last[last_place(layout, number, hazards, 1 if artifact == IN_DECK else 0, held)]
                    for rest in range(n_rest):
                        state = (number, hazards, artifact, held, rest)
                        both = go_on_in_pair(deck, layout, pair, found, state)
                        alone = held + rest + (ARTIFACT_WORTH if artifact == ON_BOARD else 0)
                        best = max(p * both + (1 - p) * left, p * alone + (1 - p) * (held + rest // 2))
                        pair[pair_place(layout, number, hazards, artifact, held, rest)] = best


@kernel
def respond_in_three(begin, end, order, deck, layout, others, values, stay):
    """The value of states with two opponents.

    Args:
        begin: The first set, in ``order``.
        end: The end of the range.
        order: Sets with as many cards as each other.
        deck: See `_incan_gold_rounds`.
        layout: As in `solve_last`.
        others: float64 ``[2, 6, n]``, the probability that each opponent stays, by hazards and points held.
        values: From `solve_last`; from `respond_in_pair` with the first and with the second opponent; and last float64
            ``[n_sets, n_hazards + 1, 3, 2]``, becomes the expected points of going on when all do, and of the state.
        stay: bool ``[n_sets, n_hazards + 1, 3]``, becomes whether the best response stays.
    """
    last, with_first, with_second, three = values
    n_hazards, n_artifacts = deck[3][0], deck[3][2]
    after, weight, value = np.empty((3, len(deck[0])), dtype=np.int64)
    for place in range(begin, end):
        number = order[place]
        n_kinds, n_left = find_further_sets(number, deck, after, weight, value)
        found = (n_kinds, n_left, after, weight, value)
        held, rest = layout[number, 0], rest_of_three(number, deck)
        for hazards in range(n_hazards, -1, -1):
            p, q = probability(others[0], hazards, held), probability(others[1], hazards, held)
            for artifact in range(1, 3) if n_artifacts else range(1):
                all_stay = go_on_in_three(deck, three, found, number, hazards, artifact)
                in_deck = 1 if artifact == IN_DECK else 0
                relic = ARTIFACT_WORTH if artifact == ON_BOARD else 0
                # An opponent who leaves alone takes all of the board; of two, the artifact and an odd coin stay.
                state = (number, hazards, IN_DECK if in_deck else TAKEN, held, 0)
                staying = p * q * all_stay
                staying += p * (1 - q) * go_on_in_pair(deck, layout, with_first, found, state)
                staying += (1 - p) * q * go_on_in_pair(deck, layout, with_second, found, state)
                own = last_place(layout, number, hazards, in_deck, held + rest % 2 + relic)
                staying += (1 - p) * (1 - q) * last[own]
                leaving = p * q * (rest + relic) + (p + q - 2 * p * q) * (rest // 2) + (1 - p) * (1 - q) * (rest // 3)
                three[number, hazards, artifact, 0] = all_stay
                three[number, hazards, artifact, 1] = max(staying, held + leaving)
                stay[number, hazards, artifact] = staying > held + leaving


@routine
def probability(policy, hazards, held):
    """The probability that a policy stays."""
    return policy[hazards, min(held, policy.shape[1] - 1)]

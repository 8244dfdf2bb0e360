"""Decks and draws from them, against all permutations of the slow model."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from houses import house_rules
from hypothesis import given, settings

from bench import reference
from punish_fast.duel.dealer import cumulate_draws, tabulate_draws
from punish_fast.punish.codes import layout_of
from punish_fast.punish.rules import PRESETS

NONE = 5


def drawn_from(draws, deck, feints):
    """The draws listed for a deck: kinds, the deck that is left, and the probability."""
    n = draws.n[deck, feints]
    listed = zip(*(part[deck, feints, :n].tolist() for part in draws[2:]), strict=True)
    return {(own, enemy): (tuple(draws.copies[left].tolist()), p) for own, enemy, left, p in listed}


@given(house_rules())
@settings(max_examples=20)
def test_draws_are_those_of_a_shuffled_deck(rules):
    draws = tabulate_draws(layout_of(rules))
    sizes = range(rules.deck_size - 2 * rules.feints, rules.deck_size + 1)
    possible = [deck for deck in product(*(range(n + 1) for n in rules.copies)) if sum(deck) in sizes]
    assert [tuple(deck) for deck in draws.copies.tolist()] == possible
    for number, deck in enumerate(possible):
        for feints in range(4):
            n_drawn = (feints & 1) + (feints >> 1)
            # Decks that too many feints would leave are not listed.
            if sum(deck) - n_drawn not in sizes:
                continue
            expected = {}
            for cards, p in reference.draws(deck, n_drawn).items():
                kinds = [card - 1 for card in cards]
                own = kinds.pop(0) if feints & 1 else NONE
                enemy = kinds.pop(0) if feints & 2 else NONE
                left = reference.minus(deck, reference.counts_of(cards))
                expected[own, enemy] = left, pytest.approx(float(Fraction(p)))
            assert drawn_from(draws, number, feints) == expected


def test_cumulated_probabilities_end_at_one():
    draws = tabulate_draws(layout_of(PRESETS["notebook"]))
    until = cumulate_draws(draws)
    for deck, feints in np.argwhere(draws.n > 0):
        n = draws.n[deck, feints]
        assert until[deck, feints, :n] == pytest.approx(np.cumsum(draws.p[deck, feints, :n]))
        assert until[deck, feints, n - 1] == pytest.approx(1)

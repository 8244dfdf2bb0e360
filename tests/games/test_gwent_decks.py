"""Decks of Gwent Lite: checks, random decks, and repairs."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.games.contract import GameError
from punish_fast.games.gwent.decks import (
    DEFAULT_DECK,
    MAX_CARD,
    MAX_SUM,
    MIN_CARDS,
    checked_deck,
    random_decks,
    repaired_deck,
)


def test_decks_at_the_limits_are_allowed_and_others_refused():
    assert (len(DEFAULT_DECK), sum(DEFAULT_DECK)) == (25, 100)
    for deck in (DEFAULT_DECK, (1,) * 25, (1,) * 100, (*(1,) * 24, 76)):
        assert checked_deck(deck) == tuple(sorted(deck))
    for deck, message in (
        ((1,) * 24, "24 cards; it must have at least 25"),
        ((1,) * 101, "its sum is 101; it must be at most 100"),
        ((*(1,) * 25, 0), "the card 0 is not allowed; it must be a whole number from 1 to 76"),
        ((*(1,) * 25, 77), "the card 77 is not allowed; it must be a whole number from 1 to 76"),
        ((*(1,) * 25, 1.5), "the card 1.5 is not allowed; it must be a whole number from 1 to 76"),
        ((*(1,) * 25, "\x1b"), "the card \\x1b is not allowed; it must be a whole number from 1 to 76"),
    ):
        with pytest.raises(GameError) as error:
            checked_deck(deck)
        assert str(error.value) == f"deck: {message}"


@given(st.integers(0, 2**32), st.integers(MIN_CARDS, MAX_SUM))
def test_random_decks_are_allowed_and_use_all_points(seed, n_cards):
    deck = tuple(random_decks(np.random.default_rng(seed), 1, n_cards)[0].tolist())
    assert checked_deck(deck) == deck
    assert (len(deck), sum(deck)) == (n_cards, MAX_SUM)


def test_random_decks_cut_the_points_anywhere():
    decks = random_decks(np.random.default_rng(1), 20_000)
    assert decks.shape == (20_000, 25)
    assert np.array_equal(np.sort(decks, axis=1), decks)
    # A part is 1 if the place behind a cut is cut, too: 24 of 99 places, and in the mean 24/99 of 25 parts.
    ones = (decks == 1).sum(axis=1)
    assert ones.mean() == pytest.approx(25 * 24 / 99, abs=4 * ones.std() / math.sqrt(len(ones)))
    assert decks.max() > 20


numbers = st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-5, 90), max_size=130)


@given(numbers)
def test_repaired_decks_are_allowed(values):
    deck = repaired_deck(values)
    assert checked_deck(deck) == deck
    # What is allowed already stays, and what was too much uses all points.
    assert repaired_deck(deck) == deck
    whole = [max(round(value), 1) for value in values] + [1] * max(MIN_CARDS - len(values), 0)
    if sum(whole) > MAX_SUM:
        assert sum(deck) == MAX_SUM
    else:
        assert deck == tuple(sorted(whole))


@given(st.lists(st.integers(1, 90), min_size=MIN_CARDS, max_size=MAX_SUM))
def test_what_is_above_one_shrinks_in_proportion(values):
    above, room = sum(values) - len(values), MAX_SUM - len(values)
    share = min(room / above, 1) if above else 1
    for card, value in zip(repaired_deck(values), sorted(values), strict=True):
        assert abs(card - 1 - (value - 1) * share) < 1


def test_examples_of_repairs():
    assert repaired_deck([]) == (1,) * MIN_CARDS
    assert repaired_deck([0.2, -7, 3.4]) == (*(1,) * 24, 3)
    assert repaired_deck([1000]) == (*(1,) * 24, MAX_CARD)
    assert repaired_deck([5] * 25) == (4,) * 25
    assert repaired_deck([2] * 200) == (1,) * 100
    assert repaired_deck([10, 9, *(1,) * 100]) == (1,) * 100

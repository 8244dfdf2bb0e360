"""Deals: all that may follow two kept hands, and what simulated games draw of them."""

from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np
import pytest
from houses import house_rules
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from bench import reference
from punish_fast.duel.dealer import Dealer, cumulate_draws, list_decks, tabulate_draws
from punish_fast.punish.codes import layout_of
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace

NOTHING = (0, 0, 0, 0, 0)


def cards_of_deals(dealer):
    """Own hand, enemy's hand, revealed cards and deck of every deal, by its number."""
    space, draws = dealer.space, dealer.draws
    decks = list_decks(space, draws, 0)
    n_drawn = 2 * space.layout.feints + 1
    found = []
    for block, (own, revealed) in enumerate(space.layers[0].piles.astype(int).tolist()):
        first, last = decks.ptr[block * n_drawn : block * n_drawn + 2]
        for number in decks.deck[first:last]:
            deck = tuple(draws.copies[number].tolist())
            enemy = reference.minus(
                space.rules.copies, reference.plus(reference.plus(tuple(own), tuple(revealed)), deck)
            )
            found.append((tuple(own), enemy, tuple(revealed), deck))
    return found


def ways(pool, *parts):
    """In how many ways a shuffled pool is divided into these parts and a rest."""
    total = 1
    for part in parts:
        total *= prod(map(comb, pool, part))
        pool = reference.minus(pool, part)
    return total


@st.composite
def kept_hands(draw):
    """House rules and two hands that may be kept."""
    rules = draw(house_rules())
    cards = draw(st.permutations(reference.cards_of(rules.copies)))
    n_own, n_enemy = (draw(st.integers(0, rules.hand_size)) for _ in range(2))
    hands = cards[:n_own], cards[n_own : n_own + n_enemy]
    return rules, tuple(map(reference.counts_of, hands))


@given(kept_hands())
@settings(max_examples=25)
def test_deals_have_the_probabilities_of_a_shuffled_pool(case):
    rules, kept = case
    dealer = Dealer(StateSpace(rules))
    ptr, deal, p = dealer.deals(np.array([kept], dtype=np.int64))
    pool = reference.minus(reference.minus(rules.copies, kept[0]), kept[1])
    sizes = [rules.hand_size - sum(hand) for hand in kept]
    left = sum(pool)
    total = comb(left, sizes[0]) * comb(left - sizes[0], sizes[1]) * comb(left - sum(sizes), rules.reveal_size)
    expected = {}
    for number, (own, enemy, revealed, _) in enumerate(cards_of_deals(dealer)):
        gains = [tuple(np.subtract(hand, old).tolist()) for hand, old in zip((own, enemy), kept, strict=True)]
        if min(map(min, gains)) >= 0:
            expected[number] = ways(pool, *gains, revealed) / total
    assert ptr.tolist() == [0, len(deal)]
    assert dict(zip(deal.tolist(), p.tolist(), strict=True)) == pytest.approx(
        {number: each for number, each in expected.items() if each}
    )
    assert p.sum() == pytest.approx(1)


def test_simulated_games_draw_deals_with_their_probabilities():
    space = StateSpace(PRESETS["tiny"])
    dealer = Dealer(space)
    kept = np.array([(0, 1, 0, 0, 0), NOTHING])
    _, deal, p = dealer.deals(kept[np.newaxis])
    cards = cards_of_deals(dealer)
    n_games = 300 if config.DISABLE_JIT else 3000
    counts = dict.fromkeys(deal.tolist(), 0)
    for game in range(n_games):
        dealt = dealer.draw(kept, (game, 4, np.uint64(11)))
        deck = tuple(dealer.draws.copies[dealt.deck].tolist())
        counts[cards.index((*(tuple(part.tolist()) for part in dealt[:3]), deck))] += 1
    for number, each in zip(deal.tolist(), p.tolist(), strict=True):
        spread = (n_games * each * (1 - each)) ** 0.5
        assert counts[number] == pytest.approx(n_games * each, abs=5 * spread + 1)


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

from collections import defaultdict
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.punish import _multisets
from punish_fast.punish._actions import PICKS, PICKS_OR_FEINTS, RESTS
from punish_fast.punish._multisets import (
    ADDED,
    ADDED_AFTER,
    BINOMIAL,
    N_ADDED,
    count_ways,
    first_subset,
    next_subset,
    possible_added,
)
from punish_fast.punish.codes import layout_of
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.outcomes import N_ENEMY_PLAYS, N_PLAYS
from punish_fast.punish.transitions import _marginals
from tests.kernels import calling

pytestmark = pytest.mark.kernels

piles = st.tuples(*[st.integers(0, 3)] * 5)


def listed(pile, size):
    """All subsets that the kernels list, with their numbers of ways."""
    counts = np.array(pile, dtype=np.int64)
    drawn = np.zeros(5, dtype=np.int64)
    found = []
    more = calling(first_subset)(counts, size, drawn)
    while more:
        found.append((tuple(drawn.tolist()), calling(count_ways)(counts, drawn)))
        more = calling(next_subset)(counts, drawn)
    return found


def expected_ways(pile, size):
    """The same by choosing among distinguishable cards."""
    cards = [kind for kind, count in enumerate(pile) for _ in range(count)]
    ways = {}
    for chosen in combinations(cards, size):
        counts = tuple(chosen.count(kind) for kind in range(5))
        ways[counts] = ways.get(counts, 0) + 1
    return sorted(ways.items())


@given(piles, st.integers(0, 5))
def test_subsets_are_listed_once_in_order_with_their_ways(pile, size):
    assert listed(pile, size) == expected_ways(pile, size)


def test_binomials_are_exact_for_the_most_cards_allowed():
    assert all(BINOMIAL[n, k] == comb(n, k) for n in range(46) for k in range(46))


def test_added_multisets_are_those_of_up_to_three_cards_in_order():
    expected = sorted(counts for counts in product(range(4), repeat=5) if sum(counts) <= 3)
    assert list(map(tuple, ADDED.tolist())) == expected
    assert len(expected) == N_ADDED <= 63, "a set of them is a bit mask in an int64"


def test_adding_a_card_gives_the_multiset_with_it():
    for number, counts in enumerate(ADDED):
        for kind, after in enumerate(ADDED_AFTER[number, :5]):
            if counts.sum() == 3:
                assert after == -1
            else:
                assert np.array_equal(ADDED[after] - counts, np.eye(5, dtype=np.int64)[kind])
    assert ADDED_AFTER[:, 5].tolist() == list(range(N_ADDED))


@given(piles)
def test_possible_multisets_are_those_within_the_unseen_cards(pile):
    mask = calling(possible_added)(np.array(pile, dtype=np.int64))
    expected = [all(a <= u for a, u in zip(counts, pile, strict=True)) for counts in ADDED.tolist()]
    assert [bool(mask >> number & 1) for number in range(N_ADDED)] == expected


NOTEBOOK = layout_of(PRESETS["notebook"])

small_piles = st.lists(st.integers(0, 4), min_size=1, max_size=6).map(
    lambda kinds: tuple(kinds.count(kind) for kind in range(5))
)


def uniform_play(mode, hand):
    """The enemy's actions as (pick, feint) with their probabilities."""
    if mode == RESTS:
        return {(5, False): Fraction(1)}
    legal = [(kind, feint) for kind in sorted(set(hand)) for feint in (False, True)[:mode]]
    return dict.fromkeys(legal, Fraction(1, len(legal)))


def expected_marginal(unseen, n_hand, mode):
    """Probabilities of all plays, from every order of the unseen cards: enemy hand first, then deck."""
    cards = [kind for kind, count in enumerate(unseen) for _ in range(count)]
    orders = list(permutations(cards))
    expected = defaultdict(Fraction)
    for order in orders:
        hand, deck = order[:n_hand], order[n_hand:]
        for (pick, feint), p in uniform_play(mode, hand).items():
            weight = p / len(orders)
            if not feint:
                play = 0 if pick == 5 else 1 + pick
                expected[play] += weight
                if deck:
                    expected[N_ENEMY_PLAYS * (deck[0] + 1) + play] += weight
                continue
            expected[6 + 5 * pick + deck[0]] += weight
            if len(deck) > 1:
                expected[N_ENEMY_PLAYS * (deck[0] + 1) + 6 + 5 * pick + deck[1]] += weight
    return expected


def uniform_marginal(unseen, n_hand, mode):
    marginal = np.zeros(N_PLAYS)
    calling(_marginals.uniform_marginal)(np.array(unseen, dtype=np.int64), n_hand, mode, marginal)
    return marginal


def plays_on(unseen, n_hand, mode):
    """Whether an enemy with so many cards can play in a mode."""
    deck = sum(unseen) - n_hand
    return deck >= 0 and (mode == RESTS or n_hand > 0) and (mode < PICKS_OR_FEINTS or deck > 0)


@given(small_piles, st.integers(0, 5), st.sampled_from([RESTS, PICKS, PICKS_OR_FEINTS]))
def test_uniform_marginal_counts_the_orders_of_the_unseen_cards(unseen, n_hand, mode):
    if not plays_on(unseen, n_hand, mode):
        n_hand, mode = 0, RESTS
    deck = sum(unseen) - n_hand
    marginal = uniform_marginal(unseen, n_hand, mode)
    expected = expected_marginal(unseen, n_hand, mode)
    total = calling(_marginals.denominator)(n_hand, deck)
    assert [Fraction(weight) / Fraction(total) for weight in marginal] == [expected[play] for play in range(N_PLAYS)]


def test_unseen_cards_have_different_codes():
    codes = [calling(_marginals.unseen_code)(NOTEBOOK, np.array(unseen)) for unseen in product(range(4), repeat=5)]
    assert sorted(codes) == list(range(4**5))


@given(piles)
def test_possible_multisets_are_those_that_the_unseen_cards_contain(unseen):
    mask = calling(_multisets.possible_added)(np.array(unseen, dtype=np.int64))
    expected = [(counts <= np.array(unseen)).all() for counts in _multisets.ADDED]
    assert [bool(mask >> a & 1) for a in range(_multisets.N_ADDED)] == expected
    assert mask >> _multisets.N_ADDED == 0


@given(piles, st.integers(0, 15))
def test_subsets_are_counted(unseen, deck):
    pile = np.array(unseen, dtype=np.int64)
    expected = len(set(combinations([kind for kind, count in enumerate(unseen) for _ in range(count)], deck)))
    assert calling(_multisets.count_subsets)(pile, deck) == expected

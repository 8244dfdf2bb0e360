from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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

pytestmark = pytest.mark.kernels

piles = st.tuples(*[st.integers(0, 3)] * 5)


def listed(pile, size):
    """All subsets that the kernels list, with their numbers of ways."""
    counts = np.array(pile, dtype=np.int64)
    drawn = np.zeros(5, dtype=np.int64)
    found = []
    more = first_subset(counts, size, drawn)
    while more:
        found.append((tuple(drawn.tolist()), count_ways(counts, drawn)))
        more = next_subset(counts, drawn)
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
    mask = possible_added(np.array(pile, dtype=np.int64))
    expected = [all(a <= u for a, u in zip(counts, pile, strict=True)) for counts in ADDED.tolist()]
    assert [bool(mask >> number & 1) for number in range(N_ADDED)] == expected

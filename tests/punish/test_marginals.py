from collections import defaultdict
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.punish import _multisets
from punish_fast.punish._actions import PICKS, PICKS_OR_FEINTS, RESTS
from punish_fast.punish.codes import layout_of
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states._outcomes import N_ENEMY_PLAYS, N_PLAYS
from punish_fast.punish.transitions import _marginals

pytestmark = pytest.mark.kernels

NOTEBOOK = layout_of(PRESETS["notebook"])

piles = st.tuples(*[st.integers(0, 3)] * 5)
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
    _marginals.uniform_marginal(np.array(unseen, dtype=np.int64), n_hand, mode, marginal)
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
    total = _marginals.denominator(n_hand, deck)
    assert [Fraction(weight) / Fraction(total) for weight in marginal] == [expected[play] for play in range(N_PLAYS)]


@given(piles)
def test_unseen_code_is_a_bijection(unseen):
    found = np.zeros(5, dtype=np.int64)
    code = _marginals.unseen_code(NOTEBOOK, np.array(unseen, dtype=np.int64))
    assert 0 <= code < 4**5
    assert _marginals.decode_unseen(NOTEBOOK, code, found) == sum(unseen)
    assert found.tolist() == list(unseen)


@given(piles, st.integers(0, 15))
def test_subsets_are_counted(unseen, deck):
    pile = np.array(unseen, dtype=np.int64)
    expected = len(set(combinations([kind for kind, count in enumerate(unseen) for _ in range(count)], deck)))
    assert _multisets.count_subsets(pile, deck) == expected

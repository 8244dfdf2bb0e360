from fractions import Fraction

import numpy as np
from exact import twin_of
from houses import house_rules
from hypothesis import assume, given
from hypothesis import strategies as st

from bench import reference
from punish_fast.punish.codes import encode
from punish_fast.punish.states._redeal import count_deals, joining_cards, redeal
from punish_fast.punish.states.space import StateSpace


def deals(space, state):
    """Cards codes and probabilities of the deals after a state between two measures, as the kernel lists them."""
    layout = space.layout
    unseen = np.subtract(space.rules.copies, np.add(state.hand, state.discard))
    piles = np.array([state.hand, state.discard, unseen], dtype=np.int64)
    drawn = layout.deck_size - (int(unseen.sum()) - state.enemy_hand)
    joining = joining_cards(layout, space.rules.redeal == "reshuffle", drawn)
    codes, weights = np.zeros(space.n_openings, dtype=np.int64), np.zeros(space.n_openings)
    sizes = sum(state.hand), sum(state.discard)
    n, total = redeal(layout, piles, sizes, joining, codes, weights)
    # Earlier contents do not matter.
    ways = np.ones((6, layout.deck_size + 1, layout.hand_size + 1, layout.reveal_size + 1), dtype=np.int64)
    assert count_deals(layout, piles, sizes, joining, ways) == n
    return codes[:n].tolist(), weights[:n].tolist(), total


def expected_deals(space, state):
    """The same by the exact model; all deals have the same HP, so cards identify them."""
    found = {}
    for successor, p in reference.redeal(space.rules, twin_of(state)).items():
        code = encode(space.layout, successor) // space.layout.n_statuses % space.layout.n_cards_codes
        found[code] = p
    return found


def assert_deals(space, row):
    state = space.state(row)
    codes, weights, total = deals(space, state)
    expected = expected_deals(space, state)
    assert codes == sorted(expected)
    assert all(weight == int(weight) for weight in weights)
    assert sum(weights) == total
    assert [Fraction(weight) / Fraction(total) for weight in weights] == [expected[code] for code in codes]


def test_deals_are_listed_once_in_order_with_exact_weights(tiny):
    for row in range(tiny.layer_ptr[-2], tiny.n_states, 5):
        assert_deals(tiny, row)


@given(house_rules(), st.integers(0, 10**6))
def test_deals_of_random_house_rules_are_exact(rules, number):
    space = StateSpace(rules)
    assume(space.states_by_breath[-1] > 0)
    assert_deals(space, space.layer_ptr[-2] + number % space.states_by_breath[-1])

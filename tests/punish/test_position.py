from fractions import Fraction
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from exact import twin_of
from houses import few, house_rules
from hypothesis import assume, given
from hypothesis import strategies as st

from bench import reference
from punish_fast.punish.codes import State, StateError, encode, from_decimal, layout_of
from punish_fast.punish.position import INITIALS, SIDES, position, position_text
from punish_fast.punish.rules import CARDS, PRESETS, Five, Rules, load_rules
from punish_fast.punish.states._redeal import count_deals, joining_cards, redeal
from punish_fast.punish.states.space import StateSpace
from tests.kernels import calling

NOTEBOOK = PRESETS["notebook"]


def test_an_opening_needs_only_the_hand_and_the_revealed_cards():
    state = position("rrspp", discard="ddd")
    assert state == from_decimal(layout_of(NOTEBOOK), 102012300350000300)
    assert position(hand="PSRPR", discard="DDD", rules=NOTEBOOK) == state


def test_every_argument_sets_its_part_of_the_state():
    state = position(
        hand="grd", discard="ggrrsspp", hp=(2, 1), breath=3, enemy_hand=3, exhausted="enemy", feinted="own"
    )
    assert state == State(3, (1, 1, 1, 0, 0), 2, 0, 1, 1, 3, 1, 0, (2, 2, 0, 2, 2))


@pytest.mark.parametrize(("feinted", "expected"), [(None, 3), ("own", 4), ("enemy", 4), ("both", 5)])
def test_the_size_of_the_enemy_hand_follows_from_the_other_cards(feinted, expected):
    assert position(hand="rrsp", discard="dddggp", breath=2, feinted=feinted, rules=NOTEBOOK).enemy_hand == expected


def initials(counts: Five) -> str:
    return "".join(n * letter for letter, n in zip(INITIALS, counts, strict=True))


def words_of(state: State) -> dict[str, Any]:
    exhausted = state.own_exhausted, state.enemy_exhausted
    return {
        "hand": initials(state.hand),
        "discard": initials(state.discard),
        "hp": (state.own_hp, state.enemy_hp),
        "breath": state.breath,
        "enemy_hand": state.enemy_hand,
        "feinted": (state.own_feinted, state.enemy_feinted),
        "exhausted": next((side for side, flags in SIDES.items() if flags == exhausted), None),
    }


@few
@given(house_rules())
def test_words_describe_every_state(rules):
    space = StateSpace(rules)
    for row in range(0, space.n_states, 5):
        state = space.state(row)
        assert position(**words_of(state), rules=rules) == state


def test_a_position_is_told_in_sentences():
    state = State(3, (1, 1, 1, 0, 0), 2, 0, 1, 1, 1, 1, 0, (2, 2, 0, 2, 2))
    assert position_text(NOTEBOOK, state) == (
        "Breath 3 of 4: you have 2 HP and hold guard, rush, dodge; you have feinted. The enemy has 1 HP and 1 card; it "
        "must rest. Discard pile: 2 guard, 2 rush, 2 strike, 2 punish."
    )
    assert position_text(NOTEBOOK, state._replace(breath=5)).startswith("Between two measures: you have 2 HP")


def test_several_feints_are_given_as_numbers():
    rules = Rules(feints=2, hand_size=4)
    state = position(hand="grd", discard="ggrrsspp", breath=2, feinted=(2, 0), rules=rules)
    assert (state.own_feinted, state.enemy_feinted) == (2, 0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"hand": "sssgg", "discard": "srr"}, "3 strike in hand and 1 in the discard pile, of 3 in play"),
        ({"hand": "rrxpp", "discard": "ddd"}, "hand: 'x' is not a card; use initials g, r, d, s, p"),
        ({"hand": "rrspp", "discard": "d-d"}, "discard: '-' is not a card"),
        ({"hand": "rrspp"}, "discard: 0 cards, but breath 1 begins with 3 revealed cards"),
        ({"hand": "rrsppg", "discard": "ddd"}, "hand: 6 cards; a hand has at most 5 cards in breath 1"),
        ({"hand": "rr", "discard": "ddd"}, "leave 8 for the enemy's hand; it must be 0 to 5"),
        ({"hand": "rrspp", "discard": "ddd", "hp": (4, 1)}, "own_hp is 4; it must be from 1 to 3"),
        ({"hand": "rrspp", "discard": "ddd", "enemy_hand": 4}, "1 cards were drawn from the deck"),
        ({"hand": "rrspp", "discard": "ddd", "exhausted": "me"}, "exhausted: 'me' is invalid; use own,"),
        ({"hand": "rrspp", "discard": "ddd", "exhausted": "1-0"}, "exhausted: '1-0' is invalid"),
        ({"hand": "rr", "discard": "dddg", "breath": 5}, "enemy_hand: missing; it is required after breath 4"),
        ({"hand": "rr", "discard": "dddg", "breath": 7}, "breath is 7; it must be from 1 to 5"),
        ({"hand": "rr", "discard": "dddg", "breath": 0}, "breath is 0; it must be from 1 to 5"),
    ],
)
def test_impossible_positions_are_refused_in_words(words, message):
    with pytest.raises(StateError, match=message):
        position(**words, rules=NOTEBOOK)


def deals(space, state):
    """Cards codes and probabilities of the deals after a state between two measures, as the kernel lists them."""
    layout = space.layout
    unseen = np.subtract(space.rules.copies, np.add(state.hand, state.discard))
    piles = np.array([state.hand, state.discard, unseen], dtype=np.int64)
    drawn = layout.deck_size - (int(unseen.sum()) - state.enemy_hand)
    joining = calling(joining_cards)(layout, space.rules.redeal == "reshuffle", drawn)
    codes, weights = np.zeros(space.n_openings, dtype=np.int64), np.zeros(space.n_openings)
    sizes = sum(state.hand), sum(state.discard)
    n, total = calling(redeal)(layout, piles, sizes, joining, codes, weights)
    # Earlier contents do not matter.
    ways = np.ones((6, layout.deck_size + 1, layout.hand_size + 1, layout.reveal_size + 1), dtype=np.int64)
    assert calling(count_deals)(layout, piles, sizes, joining, ways) == n
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


def test_a_drawing_shows_all_cards_and_statuses():
    state = position("rrsp", discard="dddgg", hp=(3, 2), breath=2, exhausted="enemy", feinted="own")
    root = ElementTree.fromstring(state._repr_html_())
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert [texts.count(card) for card in CARDS] == [2, 2, 3, 1, 1]
    assert texts.count("?") == state.enemy_hand
    assert [text for text in texts if ":" in text] == ["Enemy: 2 HP, exhausted", "You: 3 HP, feints: 1"]
    assert "Discard pile in breath 2" in texts
    assert float(root.get("width")) >= 7 * 56


def test_rules_are_a_table():
    html = load_rules("tabletop")._repr_html_()
    assert "<caption>Rules: tabletop</caption>" in html
    assert "<td>redeal</td><td>reshuffle</td>" in html

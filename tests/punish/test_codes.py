from itertools import combinations

import numpy as np
import pytest
from houses import few, house_rules
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.punish import _codes
from punish_fast.punish.codes import (
    ACTIONS,
    FIELDS,
    State,
    StateError,
    action_name,
    cards_digits,
    decimals_of,
    decode,
    digits_of,
    encode,
    from_decimal,
    indices_of,
    join_pairs,
    join_statuses,
    layout_of,
    split_digits,
    split_pairs,
    split_statuses,
    to_decimal,
)
from punish_fast.punish.rules import CARDS, PRESETS, Rules, validate_rules
from punish_fast.punish.states.openings import openings, worth
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import build
from punish_fast.store.reader import load
from punish_fast.store.tensors import save
from tests.kernels import calling

pytestmark = pytest.mark.kernels

NOTEBOOK = layout_of(PRESETS["notebook"])
TINY = layout_of(PRESETS["tiny"])
# The largest rules allowed.
LARGEST = layout_of(validate_rules(Rules(copies=(9,) * 5, hand_size=9, reveal_size=9, hp=9, breaths=8, feints=9)))

OPENING = State(1, (0, 2, 0, 1, 2), 3, 0, 0, 3, 5, 0, 0, (0, 0, 3, 0, 0))
# Breath 3: both have played two cards, the player one of them as a feint.
MIDDLE = State(3, (1, 1, 1, 0, 0), 2, 0, 1, 1, 3, 1, 0, (2, 2, 0, 2, 2))
BETWEEN = State(5, (1, 0, 0, 0, 0), 3, 0, 0, 2, 1, 0, 0, (2, 3, 3, 2, 2))


def test_a_decimal_code_is_the_documented_state():
    assert to_decimal(OPENING) == 102012300350000300
    assert from_decimal(NOTEBOOK, 102012300350000300) == OPENING


@few
@given(house_rules())
def test_codes_are_a_bijection_over_all_reachable_states(rules):
    space = StateSpace(rules)
    states = [space.state(row) for row in range(space.n_states)]
    assert len(set(states)) == space.n_states
    assert [encode(space.layout, state) for state in states] == space.code.tolist()
    assert [from_decimal(space.layout, to_decimal(state)) for state in states] == states


def test_the_digits_of_a_decimal_code_are_named():
    named = dict(zip(FIELDS, map(int, str(to_decimal(MIDDLE))), strict=True))
    assert [named[f"hand_{card}"] for card in CARDS] == list(MIDDLE.hand)
    assert [named[f"discard_{card}"] for card in CARDS] == list(MIDDLE.discard)
    whole = MIDDLE._asdict()
    assert all(named[name] == whole[name] for name in whole if name not in ("hand", "discard"))


@given(st.integers(0, 3 * TINY.n_cards_codes * TINY.n_statuses - 1))
def test_a_number_is_the_code_of_one_state_or_an_error(code):
    try:
        state = decode(TINY, code)
    except StateError as error:
        assert str(error).startswith(f"code {code}: ")
    else:
        assert encode(TINY, state) == code


def test_numbers_beyond_all_codes_are_refused():
    for code in (-1, 3 * TINY.n_cards_codes * TINY.n_statuses, 2**64):
        with pytest.raises(StateError, match=rf"^code {code}: must be from 0 to"):
            decode(TINY, code)


@pytest.mark.parametrize("layout", [NOTEBOOK, TINY, LARGEST])
def test_cards_digits_are_a_bijection(layout):
    cards = np.arange(0, layout.n_cards_codes, max(1, layout.n_cards_codes // 2000))
    hand, discard = split_pairs(layout, cards)
    assert ((hand >= 0) & (discard >= 0) & (hand + discard <= layout.copies)).all()
    assert np.array_equal(join_pairs(layout, hand, discard), cards)
    assert [calling(_codes.cards_code)(layout, *piles) for piles in zip(hand, discard, strict=True)] == cards.tolist()
    assert np.array_equal(cards_digits(layout.place, cards) @ layout.place, cards)


@pytest.mark.parametrize("layout", [NOTEBOOK, TINY, LARGEST])
def test_statuses_are_a_bijection(layout):
    codes = np.arange(0, layout.n_statuses, max(1, layout.n_statuses // 200))
    statuses = split_statuses(layout, codes)
    assert np.array_equal(join_statuses(layout, statuses), codes)
    assert [_codes.split_status(layout, code) for code in codes] == list(zip(*statuses, strict=True))
    assert [_codes.play_status(layout, *status) for status in zip(*statuses, strict=True)] == codes.tolist()
    assert (np.min(statuses, axis=1) >= [1, 1, 0, 0, 0, 0]).all()
    most = [layout.hp, layout.hp, 1, layout.feints, 1, layout.feints]
    assert (np.max(statuses, axis=1) <= most).all()


@pytest.mark.parametrize("layout", [NOTEBOOK, TINY])
def test_statuses_between_measures_are_a_bijection(layout):
    for status in range((2 * layout.feints + 1) * layout.hp**2):
        own_hp, enemy_hp, drawn = calling(_codes.split_between_status)(layout, status)
        assert calling(_codes.between_status)(layout, own_hp, enemy_hp, drawn) == status
        assert 1 <= own_hp <= layout.hp
        assert 1 <= enemy_hp <= layout.hp
        assert 0 <= drawn <= 2 * layout.feints


def test_mirrored_status_swaps_the_players():
    for code in range(NOTEBOOK.n_statuses):
        status = _codes.split_status(NOTEBOOK, code)
        mirrored = calling(_codes.mirror_status)(NOTEBOOK, status)
        own_hp, enemy_hp, *rest = status
        assert _codes.split_status(NOTEBOOK, mirrored) == (enemy_hp, own_hp, *rest[2:], *rest[:2])
        assert calling(_codes.mirror_status)(NOTEBOOK, _codes.split_status(NOTEBOOK, mirrored)) == code


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (OPENING._replace(breath=0), "breath is 0; it must be from 1 to 5"),
        (OPENING._replace(own_hp=0), "own_hp is 0; it must be from 1 to 3"),
        (OPENING._replace(own_exhausted=2), "own_exhausted is 2; it must be from 0 to 1"),
        (OPENING._replace(own_feinted=2), "own_feinted is 2; it must be from 0 to 1"),
        (OPENING._replace(enemy_hand=6), "enemy_hand is 6; it must be from 0 to 5"),
        (OPENING._replace(hand=(4, 0, 0, 0, 1)), "4 guard in hand and 0 in the discard pile, of 3 in play"),
        (OPENING._replace(hand=(-1, 2, 0, 2, 2)), "-1 guard in hand"),
        (OPENING._replace(hand=(2, 2, 0, 1, 1)), "hand has 6 cards; the maximum is 5"),
        (OPENING._replace(hand=(0, 2, 0, 1, 1)), "-1 cards were drawn from the deck in 0 feints"),
        (OPENING._replace(hand=(2, 0, 1, 2)), "4 counts in hand and 5 in the discard pile; each must have 5"),
        (OPENING._replace(own_feinted=1), "0 cards were drawn from the deck in 1 feints"),
        (BETWEEN._replace(own_exhausted=1), "own_exhausted is 1; it must be from 0 to 0"),
        (BETWEEN._replace(enemy_feinted=1), "enemy_feinted is 1; it must be from 0 to 0"),
        (BETWEEN._replace(enemy_hand=3), "3 cards were drawn from the deck; the maximum is 2"),
        (BETWEEN._replace(discard=(2, 2, 2, 2, 2)), "-1 cards were drawn from the deck"),
    ],
)
def test_contradictory_state_is_refused_in_words(state, message):
    with pytest.raises(StateError, match=message):
        encode(NOTEBOOK, state)


def test_decimal_codes_of_wrong_length_and_contradictory_ones_are_refused():
    for code in (0, 10201230035000030, 1020123003500003000):
        with pytest.raises(StateError, match=rf"^state code {code}: must be 18 digits, the first not 0"):
            from_decimal(NOTEBOOK, code)
    with pytest.raises(StateError, match=r"^state code 602012300350000300: breath is 6"):
        from_decimal(NOTEBOOK, 602012300350000300)


def test_actions_are_named_in_words():
    names = [name for card in CARDS for name in (card, f"feint with {card}")]
    assert [action_name(action) for action in ACTIONS] == [*names, "rest"]


def test_decimals_are_those_of_the_single_states(space):
    assert decimals_of(space).tolist() == [to_decimal(space.state(row)) for row in range(space.n_states)]
    assert np.array_equal(split_digits(decimals_of(space)), digits_of(space))


@given(st.integers(-(2**62), 2**62), st.integers(0, 17), st.integers(0, 9))
def test_a_number_is_a_state_only_if_a_game_reaches_it(space, number, place, digit):
    near = int(decimals_of(space, np.array([number % space.n_states]))[0])
    changed = near + (digit - near // 10**place % 10) * 10**place
    reached = {int(decimal) for decimal in decimals_of(space)}
    for decimal in (number, near, changed):
        index = int(indices_of(space, np.array([decimal]))[0])
        assert (index >= 0) == (decimal in reached)
        if index >= 0:
            assert to_decimal(space.state(index)) == decimal
            assert space.index(from_decimal(space.layout, decimal)) == index


def test_openings_have_the_probabilities_of_all_deals(tiny):
    found = openings(tiny)
    rules = tiny.rules
    cards = [kind for kind, copies in enumerate(rules.copies) for _ in range(copies)]
    counted: dict[tuple, int] = {}
    for hand in combinations(range(len(cards)), rules.hand_size):
        rest = [k for k in range(len(cards)) if k not in hand]
        for revealed in combinations(rest, rules.reveal_size):
            key = tuple(tuple([cards[k] for k in pile].count(kind) for kind in range(5)) for pile in (hand, revealed))
            counted[key] = counted.get(key, 0) + 1
    total = sum(counted.values())
    keys = [(tuple(h), tuple(r)) for h, r in zip(found.hand.tolist(), found.revealed.tolist(), strict=True)]
    assert dict(zip(keys, found.p.tolist(), strict=True)) == pytest.approx({k: n / total for k, n in counted.items()})
    assert found.p.sum() == pytest.approx(1, abs=1e-14)


def test_worth_is_a_conditional_expectation():
    found = worth(np.array([0, 1, 1, 2]), np.array([0.1, 0.2, 0.3, 0.4]), np.array([1.0, 2.0, 4.0, 5.0]))
    assert found.copies.tolist() == [0, 1, 2]
    assert found.mean.tolist() == pytest.approx([1.0, 3.2, 5.0])


def test_worth_of_a_linear_value_is_its_slope():
    counts = np.array([1, 0, 3])
    assert worth(counts, np.array([0.2, 0.3, 0.5]), 7.0 - 2.5 * counts).step == pytest.approx(-2.5)


def test_a_card_with_equal_counts_has_no_step():
    assert np.isnan(worth(np.array([2, 2]), np.array([0.5, 0.5]), np.array([1.0, 3.0])).step)


def test_a_loaded_file_has_the_same_openings(tiny, tmp_path):
    save(tmp_path / "x.h5", tiny, build(tiny))
    for ours, theirs in zip(openings(tiny), openings(load(tmp_path / "x.h5")), strict=True):
        assert np.array_equal(ours, theirs)

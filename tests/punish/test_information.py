from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from houses import house_rules
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.punish._information import ENEMY_CARD, OWN_DRAW, OWN_PICK
from punish_fast.punish.codes import layout_of
from punish_fast.punish.information import (
    InformationError,
    digits_within,
    information_of,
    places_of,
    tuples_of,
    watched_kinds,
)
from punish_fast.punish.rules import PRESETS

MODELS = ("view", "memory", "carried", "order")


@pytest.mark.parametrize("name", MODELS)
@given(rules=house_rules())
def test_digits_are_all_tuples_once_and_fewer_copies_take_the_first(name, rules):
    tuples = tuples_of(information_of(name, rules.breaths), rules)
    assert len(set(tuples)) == len(tuples)
    assert [sum(t) for t in tuples] == sorted(sum(t) for t in tuples)
    weight = [*places_of(information_of(name, rules.breaths), rules).weight.tolist()]
    digits = [sum(sum(t) <= copies for t in tuples) for copies in rules.copies]
    assert weight[-1] == 1
    assert all(high == low * n for (high, low), n in zip(pairwise(weight), digits[1:], strict=True))


@pytest.mark.parametrize("name", MODELS)
@given(rules=house_rules(), data=st.data())
def test_a_move_takes_one_copy_to_the_place_the_model_names(name, rules, data):
    model = information_of(name, rules.breaths)
    tuples, places = tuples_of(model, rules), places_of(model, rules)
    breath = data.draw(st.integers(0, rules.breaths - 1))
    digit = data.draw(st.integers(0, len(tuples) - 1))
    hand, *seen = tuples[digit]
    for move, out_of_hand, place in (
        (OWN_PICK, 1, model.own[breath]),
        (OWN_DRAW, 0, model.own[breath]),
        (ENEMY_CARD, 0, model.enemy[breath]),
    ):
        after = (hand - out_of_hand, *(n + (k == place) for k, n in enumerate(seen)))
        expected = tuples.index(after) if after in tuples else -1
        assert places.move[breath, move, digit] == expected


@pytest.mark.parametrize("name", MODELS)
@given(rules=house_rules())
def test_the_mirror_image_of_the_mirror_image_is_the_original(name, rules):
    places = places_of(information_of(name, rules.breaths), rules)
    for digit, hand in enumerate(places.hand):
        for held, mirrored in enumerate(places.mirror[digit]):
            if mirrored >= 0:
                assert places.hand[mirrored] == held
                assert places.discard[mirrored] == places.discard[digit]
                assert places.mirror[mirrored, hand] == digit


@given(house_rules())
def test_the_view_has_the_codes_of_the_state_space(rules):
    assert places_of(information_of("view", rules.breaths), rules).weight.tolist() == layout_of(rules).place.tolist()


@pytest.mark.parametrize(
    ("fine", "coarse"),
    [("memory", "view"), ("order", "view"), ("order", "memory"), ("carried", "view"), ("carried", "memory")],
)
@given(rules=house_rules())
def test_a_coarser_model_keeps_hand_and_discard_pile(fine, coarse, rules):
    one, other = information_of(fine, rules.breaths), information_of(coarse, rules.breaths)
    digits = digits_within(one, other, rules)
    fine_places, coarse_places = places_of(one, rules), places_of(other, rules)
    assert np.array_equal(fine_places.hand, coarse_places.hand[digits])
    assert np.array_equal(fine_places.discard, coarse_places.discard[digits])


@pytest.mark.parametrize(
    ("fine", "coarse"), [("view", "memory"), ("memory", "carried"), ("order", "carried"), ("carried", "order")]
)
def test_what_was_forgotten_is_not_known_again(fine, coarse):
    models = [information_of(name, 4) for name in (fine, coarse)]
    with pytest.raises(InformationError, match=f"'{fine}' forgets what '{coarse}' knows"):
        digits_within(*models, PRESETS["notebook"])


@given(house_rules())
def test_the_strongest_two_kinds_are_watched_by_who_knows_what_was_spent(rules):
    for name in MODELS:
        bit = watched_kinds(information_of(name, rules.breaths), rules)
        there = [kind for kind in range(5) if rules.copies[kind] > 0]
        strongest = sorted(there, key=lambda kind: (rules.damage[kind], kind))[-2:]
        expected = {kind: 1 << k for k, kind in enumerate(strongest)} if name == "carried" else {}
        assert {kind: value for kind, value in enumerate(bit.tolist()) if value} == expected


def test_there_is_no_other_model():
    with pytest.raises(InformationError, match="'all' is not allowed, it must be one of view, memory, carried, order"):
        information_of("all", 4)


def test_more_codes_than_numbers_are_refused():
    rules = PRESETS["tabletop"]._replace(copies=(6,) * 5)
    places_of(information_of("memory", 4), rules)
    with pytest.raises(InformationError, match=r"'order' has 3\.29e\+19 codes for cards by these rules"):
        places_of(information_of("order", 4), rules)

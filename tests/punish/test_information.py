from __future__ import annotations

import numpy as np
import pytest
from houses import house_rules
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.punish._codes import ENEMY_CARD, OWN_DRAW, OWN_PICK
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.information import (
    MODELS,
    InformationError,
    digits_within,
    information_of,
    places_of,
    tuples_of,
)


@pytest.mark.parametrize("name", MODELS)
@given(rules=house_rules(), data=st.data())
def test_a_move_takes_one_copy_to_the_place_of_the_model(name, rules, data):
    model = information_of(name)
    tuples, places = tuples_of(model, rules), places_of(model, rules)
    digit = data.draw(st.integers(0, len(tuples) - 1))
    hand, *seen = tuples[digit]
    for move, out_of_hand, place in (
        (OWN_PICK, 1, model.own),
        (OWN_DRAW, 0, model.own),
        (ENEMY_CARD, 0, model.enemy),
    ):
        after = (hand - out_of_hand, *(n + (k == place) for k, n in enumerate(seen)))
        expected = tuples.index(after) if after in tuples else -1
        assert places.move[move, digit] == expected
    for n, joined in enumerate(places.joined[digit].tolist()):
        after = (hand, *(held + n * (k == model.enemy) for k, held in enumerate(seen)))
        assert joined == (tuples.index(after) if after in tuples else -1)
    if not any(count for place, count in enumerate(seen) if place != model.revealed):
        assert places.dealt[hand, seen[model.revealed]] == digit


@given(rules=house_rules())
def test_a_coarser_model_keeps_hand_and_discard_pile(rules):
    memory, view = information_of("memory"), information_of("view")
    digits = digits_within(memory, view, rules)
    fine, coarse = places_of(memory, rules), places_of(view, rules)
    assert np.array_equal(fine.hand, coarse.hand[digits])
    assert np.array_equal(fine.discard, coarse.discard[digits])


def test_digits_within_a_finer_model_are_refused():
    with pytest.raises(InformationError, match="'view' forgets what 'memory' remembers"):
        digits_within(information_of("view"), information_of("memory"), PRESETS["notebook"])

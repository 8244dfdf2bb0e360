from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from houses import house_rules
from hypothesis import given

from punish_fast.enemies.choice_model import features_of
from punish_fast.punish.codes import digits_of, split_digits
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace


@given(house_rules())
def test_features_lie_between_zero_and_one_and_begin_with_one(rules):
    space = StateSpace(rules)
    x = features_of(rules, digits_of(space))
    assert x.shape[0] == space.n_states
    assert np.isfinite(x).all()
    assert (x >= 0).all()
    assert (x <= 1).all()
    assert (x[:, 0] == 1).all()


def test_different_views_have_different_features(tiny):
    x = features_of(tiny.rules, digits_of(tiny, np.arange(tiny.layer_ptr[-2])))
    free = np.flatnonzero(np.diff(tiny.state_ptr)[: tiny.layer_ptr[-2]] > 1)
    assert len(np.unique(x[free].round(12), axis=0)) == len(free)


@pytest.mark.parametrize("decimal", [101112300350021000, 202011300340031001, 301011301330032201])
def test_chance_that_the_enemy_holds_a_card_by_counting_hands(decimal):
    """Of every hand that can be dealt from the unseen cards, each copy a card of its own."""
    rules = PRESETS["notebook"]
    digits = split_digits(np.array([decimal]))
    hand, discard, size = digits[0, 1:6].astype(int), digits[0, 13:18].astype(int), int(digits[0, 10])
    unseen = [card for card in range(5) for _ in range(3 - hand[card] - discard[card])]
    hands = list(combinations(unseen, size))
    expected = [np.mean([card in held for held in hands]) for card in range(5)]
    assert features_of(rules, digits)[0, -5:] == pytest.approx(expected, abs=1e-15)


def test_an_exhausted_enemy_can_play_nothing(tiny):
    digits = digits_of(tiny)
    is_exhausted = digits[:, 11] == 1
    assert is_exhausted.any()
    x = features_of(tiny.rules, digits)
    assert (x[is_exhausted, -5:] == 0).all()
    assert (x[~is_exhausted, -5:] > 0).any()

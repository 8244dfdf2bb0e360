from __future__ import annotations

import numpy as np
import pytest
from houses import house_rules
from hypothesis import given

from punish_fast.punish.codes import ACTIONS
from punish_fast.punish.decimal_codes import digits_of
from punish_fast.punish.information_space import InformationSpace, belongs_to
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace
from punish_fast.study.observations import columns_of_rows, sights_of


@given(house_rules())
def test_what_is_seen_are_the_digits_of_the_states(rules):
    space = StateSpace(rules)
    sights = sights_of(space)
    n_play = int(space.layer_ptr[rules.breaths])
    digits = digits_of(space)[:n_play]
    assert np.array_equal(sights.breath, digits[:, 0])
    assert np.array_equal(sights.hand, digits[:, 1:6])
    assert np.array_equal(sights.gone, digits[:, 13:])
    statuses = (sights.own_hp, sights.own_exhausted, sights.own_feinted, sights.enemy_hp)
    assert np.array_equal(np.stack(statuses, axis=1), digits[:, 6:10])
    assert np.array_equal(sights.enemy_exhausted, digits[:, 11])
    assert np.array_equal(sights.enemy_feinted, digits[:, 12])
    assert np.array_equal(sights.chooses, np.diff(space.state_ptr)[:n_play] > 1)


@pytest.mark.parametrize("name", ["memory", "carried", "order"])
def test_who_remembers_more_sees_the_same(name):
    rules = PRESETS["tiny"]
    fine, coarse = InformationSpace(rules, name), StateSpace(rules)
    match = belongs_to(fine, coarse)
    for one, other in zip(sights_of(fine), sights_of(coarse), strict=True):
        assert np.array_equal(one, other[match])


def test_columns_are_those_of_the_actions():
    space = StateSpace(PRESETS["tiny"])
    state, column = columns_of_rows(space)
    assert np.array_equal(np.array(ACTIONS)[column], space.action[: len(state)])
    assert np.array_equal(np.bincount(state), np.diff(space.state_ptr)[: state[-1] + 1])
    assert state[-1] + 1 == space.layer_ptr[PRESETS["tiny"].breaths]

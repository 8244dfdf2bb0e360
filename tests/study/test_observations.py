from __future__ import annotations

import numpy as np
from houses import house_rules
from hypothesis import given

from punish_fast.punish.codes import ACTIONS, digits_of
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.study.observations import columns_of_rows, observe


@given(house_rules())
def test_observations_are_the_digits_of_the_states(rules):
    space = StateSpace(rules)
    observed = observe(space)
    n_play = int(space.layer_ptr[rules.breaths])
    digits = digits_of(space)[:n_play]
    assert np.array_equal(observed.breath, digits[:, 0])
    assert np.array_equal(observed.hand, digits[:, 1:6])
    assert np.array_equal(observed.gone, digits[:, 13:])
    statuses = (observed.own_hp, observed.own_exhausted, observed.own_feinted, observed.enemy_hp)
    assert np.array_equal(np.stack(statuses, axis=1), digits[:, 6:10])
    assert np.array_equal(observed.enemy_exhausted, digits[:, 11])
    assert np.array_equal(observed.enemy_feinted, digits[:, 12])
    assert np.array_equal(observed.chooses, np.diff(space.state_ptr)[:n_play] > 1)


def test_columns_are_those_of_the_actions():
    space = StateSpace(PRESETS["tiny"])
    state, column = columns_of_rows(space)
    assert np.array_equal(np.array(ACTIONS)[column], space.action[: len(state)])
    assert np.array_equal(np.bincount(state), np.diff(space.state_ptr)[: state[-1] + 1])
    assert state[-1] + 1 == space.layer_ptr[PRESETS["tiny"].breaths]

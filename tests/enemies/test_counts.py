from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.enemies.counts import CountsError, count_choices
from punish_fast.punish.codes import ACTIONS, decimals_of
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import legal_mask


@pytest.fixture(scope="module")
def space() -> StateSpace:
    return StateSpace(PRESETS["tiny"])


def test_no_choices_make_no_counts(space):
    counts = count_choices(space, [], [])
    assert counts.count.shape == counts.legal.shape == (0, 11)
    assert (counts.n_illegal, counts.n_unknown) == (0, 0)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 10)), max_size=60))
def test_every_choice_is_counted_or_left_out(space, choices):
    rows = np.array([row for row, _ in choices], dtype=np.int64) * 18
    actions = np.array([ACTIONS[column] for _, column in choices], dtype=np.uint8)
    counts = count_choices(space, decimals_of(space, rows), actions)
    assert counts.count.sum() + counts.n_illegal == len(choices)
    assert counts.n_unknown == 0
    assert counts.state.tolist() == sorted(set(rows.tolist()))
    assert np.array_equal(counts.legal, legal_mask(space)[counts.state])
    for state, count in zip(counts.state, counts.count, strict=True):
        chosen = [ACTIONS.index(action) for row, action in zip(rows, actions, strict=True) if row == state]
        legal = legal_mask(space)[state]
        assert count.tolist() == [chosen.count(column) * legal[column] for column in range(11)]


@pytest.mark.parametrize("action", [0, 1, 9, 12, 60, 91, 255, 256, 266, -246, 10**12])
def test_what_is_no_action_is_illegal(space, action):
    counts = count_choices(space, decimals_of(space, np.array([558 - 1])), [action])
    assert (counts.n_illegal, counts.n_unknown, counts.count.sum()) == (1, 0, 0)
    assert counts.state.tolist() == [557]


def test_states_that_no_game_reaches_are_unknown(space):
    decimal = int(decimals_of(space, np.array([0]))[0])
    counts = count_choices(space, [decimal, -1, -2, 0, 999999999999999999], [space.action[0], 90, 90, 20, 20])
    assert (counts.n_illegal, counts.n_unknown, len(counts.state)) == (0, 4, 1)


@pytest.mark.parametrize(("decimals", "actions"), [([1], []), ([[1]], [[1]]), (1, 1)])
def test_wrong_shapes_are_refused(space, decimals, actions):
    with pytest.raises(CountsError, match=r"^choices: shapes are .*, allowed are \(n,\) and \(n,\)$"):
        count_choices(space, decimals, actions)

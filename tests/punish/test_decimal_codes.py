from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.punish.codes import StateError, from_decimal, to_decimal
from punish_fast.punish.decimal_codes import decimals_of, digits_of, join_cards, rows_of, split_cards, split_digits
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace


@cache
def tiny():
    return StateSpace(PRESETS["tiny"])


def test_decimals_are_those_of_every_single_state():
    assert decimals_of(tiny()).tolist() == [to_decimal(tiny().state(row)) for row in range(tiny().n_states)]


def test_rows_and_decimals_are_inverse():
    rows = np.arange(tiny().n_states)[::-3]
    assert np.array_equal(rows_of(tiny(), decimals_of(tiny(), rows)), rows)


def test_split_digits_are_those_of_the_states():
    assert np.array_equal(split_digits(decimals_of(tiny())), digits_of(tiny()))
    assert digits_of(tiny()).dtype == np.uint8


@given(st.integers(-(2**62), 2**62), st.integers(0, 17), st.integers(0, 9))
def test_a_number_is_a_state_only_if_a_game_reaches_it(number, place, digit):
    space = tiny()
    near = int(decimals_of(space, np.array([number % space.n_states]))[0])
    changed = near + (digit - near // 10**place % 10) * 10**place
    reached = {int(decimal) for decimal in decimals_of(space)}
    for decimal in (number, near, changed):
        row = int(rows_of(space, np.array([decimal]))[0])
        assert (row >= 0) == (decimal in reached)
        if row >= 0:
            assert to_decimal(space.state(row)) == decimal
            assert space.row(from_decimal(space.layout, decimal)) == row


def test_counts_above_nine_have_no_decimal_codes():
    space = StateSpace(PRESETS["tiny"])
    space.rules = space.rules._replace(hp=10)
    with pytest.raises(StateError, match="count up to 10, allowed is up to 9"):
        digits_of(space)


@pytest.mark.full
def test_decimals_of_the_whole_notebook():
    space = StateSpace(PRESETS["notebook"])
    decimals = decimals_of(space)
    assert len(np.unique(decimals)) == space.n_states
    assert np.array_equal(rows_of(space, decimals), np.arange(space.n_states))
    assert rows_of(space, np.array([102012300350000300, 102012300350000301, -1, 0])).tolist()[1:] == [-1, -1, -1]


def test_cards_are_joined_as_they_were_split():
    layout = tiny().layout
    cards = np.arange(layout.n_cards_codes)
    hand, discard = split_cards(layout, cards)
    assert (hand + discard <= layout.copies).all()
    assert np.array_equal(join_cards(layout, hand, discard), cards)

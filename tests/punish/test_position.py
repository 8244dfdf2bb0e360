"""Positions in words."""

from __future__ import annotations

import pytest

from punish_fast.punish.codes import StateError, to_decimal
from punish_fast.punish.position import position
from punish_fast.punish.rules import PRESETS

RULES = PRESETS["notebook"]


def test_what_is_left_out_is_as_at_the_start():
    state = position(RULES, "rrspp", "ddd")
    assert to_decimal(state) == 102012300350000300
    assert state == position(RULES, "PRSPR", "ddd", hp="3-3", breath=1, enemy_hand=5)


def test_statuses_name_their_side():
    state = position(RULES, "rrsp", "dddgg", hp="3-2", breath=2, enemy_hand=4, exhausted="enemy")
    assert (state.own_hp, state.enemy_hp, state.breath) == (3, 2, 2)
    assert (state.own_exhausted, state.enemy_exhausted) == (0, 1)


@pytest.mark.parametrize(
    ("feinted", "cards", "enemy_hand"), [(None, "dddgg", 4), ("own", "dddggs", 4), ("both", "dddggss", 4)]
)
def test_the_enemy_holds_what_is_not_seen(feinted, cards, enemy_hand):
    state = position(RULES, "rrrp", cards, breath=2, feinted=feinted)
    assert state.enemy_hand == enemy_hand
    assert state.own_feinted + state.enemy_feinted == {None: 0, "own": 1, "both": 2}[feinted]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"hand": "rrrrr", "discard": "ddd"}, "5 rush in hand and 0 in the discard pile, of 3 in play"),
        ({"hand": "rrspp", "discard": "ppp"}, "2 punish in hand and 3 in the discard pile, of 3 in play"),
        ({"hand": "rrspx", "discard": "ddd"}, "hand: 'x' is no card, allowed are g guard, r rush"),
        ({"hand": "rrspp", "discard": ""}, "leave 8 cards to the enemy, allowed are 0 to 5"),
        ({"hand": "rrspp", "discard": "ddd", "hp": "3"}, "hp: '3' is not allowed"),
        ({"hand": "rrspp", "discard": "ddd", "hp": "3-4"}, "enemy_hp is 4, allowed are 1 to 3"),
        ({"hand": "rrspp", "discard": "ddd", "breath": 6}, "breath is 6, allowed are 1 to 5"),
        ({"hand": "rrspp", "discard": "ddd", "exhausted": "all"}, "exhausted: 'all' is not allowed"),
        ({"hand": "rrspp", "discard": "ddd", "enemy_hand": 4}, "cards of the deck are gone"),
    ],
)
def test_what_is_impossible_is_said(words, text):
    with pytest.raises(StateError, match=r"state|hand|hp|exhausted") as refusal:
        position(RULES, **words)
    assert text in str(refusal.value)

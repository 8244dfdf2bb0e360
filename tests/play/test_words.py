"""Events in words for a reader at one of the seats."""

from __future__ import annotations

import pytest

from punish_fast.play.events import Damage, End, Reshuffle, Reveal
from punish_fast.play.punish.game_data import GameData
from punish_fast.play.words import Teller, ending_of, told_of
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace


@pytest.fixture(scope="module")
def damage():
    return GameData(StateSpace(PRESETS["tiny"])).damage


def test_the_reader_is_addressed_and_the_other_named(damage):
    reveal = Reveal(1, (31, 90), (0, None))
    assert Teller(damage, ("you", "Ben")).words(reveal) == "You feint dodge away and draw guard. Ben rests."
    assert Teller(damage, ("Ann", "you")).words(reveal) == "Ann feints dodge away and draws guard. You rest."
    assert Teller(damage, ("Ann", "you")).words(Damage(1, 2, 0)) == "You take 2 damage: no HP left."
    assert Teller(damage, ("you", "Ben")).words(Reshuffle((3, 3), (0, 0))) == "The measure ends."


def test_verbs_agree():
    assert [told_of(who, verb) for who in ("you", "Ann") for verb in ("be", "rest")] == [
        *("You are", "You rest"),
        *("Ann is", "Ann rests"),
    ]


def test_a_draw_has_no_winner():
    assert ending_of(End(None), ("you", "Ben")) == "A draw."
    assert ending_of(End(1), ("you", "Ben")) == "Ben wins!"

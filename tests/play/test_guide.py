"""The rules that matter now."""

from __future__ import annotations

from punish_fast.play.explain.guide import guide
from punish_fast.play.punish.game_data import View
from punish_fast.punish.codes import State
from punish_fast.punish.rules import CARDS, PRESETS

RULES = PRESETS["tiny"]._replace(redeal="reshuffle")
# Rush and strike against an enemy of two cards, guard revealed.
START = State(1, (0, 1, 0, 1, 0), 2, 0, 0, 2, 2, 0, 0, (1, 0, 0, 0, 0))


def told(state, actions, rules=RULES):
    unseen = tuple(c - h - d for c, h, d in zip(RULES.copies, state.hand, state.discard, strict=True))
    return guide(rules, View(state, actions, unseen, 2, 1), "naive")


def test_each_card_is_explained_whoever_holds_it():
    text = told(START, (20, 21, 40, 41))
    assert "rush: deals 1; nothing to a guard or another rush." in text
    assert "strike: deals 2; 1 to a guard; nothing to a dodge or another strike." in text
    cards = [line.split(":")[0] for line in text if line.split(":")[0] in CARDS]
    assert cards == [card for card, n in zip(CARDS, RULES.copies, strict=True) if n]
    assert "punish: " not in "".join(told(START, (20,), RULES._replace(copies=(2, 2, 2, 2, 0))))


def test_what_may_be_done_is_explained():
    text = "\n".join(told(START, (20, 21, 40, 41)))
    assert "Feint: the card goes to the discard pile" in text
    assert "(2 left)" in text
    assert "After 2 breaths, the measure ends" in text
    assert "rest < guard < rush < dodge < strike < punish" in text
    assert "Feint" not in "\n".join(told(START, (20, 40)))


def test_exhaustion_is_explained_to_both():
    text = "\n".join(told(START._replace(own_exhausted=1, enemy_exhausted=1), (90,)))
    assert "You are exhausted by the card that you played last: you can only rest in this breath" in text
    assert "naive is exhausted" in text

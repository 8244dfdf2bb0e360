from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playing import RULES
from scripted import ScriptedPlayer

from punish_fast.play.events import Clash, Reveal
from punish_fast.play.explain.guide import clash_reason, guide, in_short
from punish_fast.play.game_data import View
from punish_fast.play.punish.match import PunishMatch
from punish_fast.play.punish.moves import card_of
from punish_fast.play.punish.presentation import PunishPresentation
from punish_fast.play.session import PlaySession
from punish_fast.punish.clash import clash_effects
from punish_fast.punish.codes import State
from punish_fast.punish.rules import CARDS, PRESETS, RESOLVED


@pytest.fixture(scope="module")
def face():
    return PunishPresentation(RULES)


def sessions(table, n):
    """Games of random players, before every reveal."""
    for seed in range(n):
        generator = np.random.default_rng(seed)
        script = ScriptedPlayer("any", lambda _, legal, generator=generator: int(generator.choice(legal)))
        session = PlaySession(PunishMatch(table, seed), (script, script))
        session.begin()
        while session.is_on:
            yield session
            session.reveal()
        yield session


def test_events_show_a_seat_its_own_hand_alone(table, face):
    for session in sessions(table, 10):
        for seat in (0, 1):
            for event in session.events:
                shown = face.event(event, seat, ("you", "it"))
                json.dumps(shown)
                assert shown["words"]
                if shown["kind"] == "deal":
                    assert shown["hand"] == list(event.hands[seat])
                    assert set(shown) == {"kind", "words", "measure", "revealed", "deck", "hand"}


@pytest.mark.parametrize("rules", PRESETS.values(), ids=PRESETS)
def test_the_reason_of_a_clash_tells_all_damage(rules):
    taken = clash_effects(rules).taken
    for own, enemy in np.ndindex(6, 6):
        reason = clash_reason(rules, own, enemy)
        dealt = sorted(int(amount) for amount in (taken[own, enemy], taken[enemy, own]) if amount)
        assert sorted(int(amount) for amount in re.findall(r"(?:for|to) (\d+)", reason)) == dealt
        shown = PunishPresentation(rules).event(Clash((own, enemy)), 0, ("you", "it"))
        assert shown["reason"] == reason
        assert shown["words"].endswith(f": {reason}.")


@pytest.mark.parametrize(
    ("cards", "reason"),
    [
        ((2, 3), "the dodge evades the strike"),
        ((1, 0), "the guard takes all damage off the rush"),
        ((0, 2), "guard and dodge deal nothing"),
        ((5, 2), "dodge deals nothing"),
        ((5, 5), "both rest"),
        ((4, 4), "both played punish, and equal cards cancel out"),
        ((0, 3), "the guard reduces the strike from 2 to 1"),
        ((5, 4), "the punish hits the resting player for 3"),
        ((2, 1), "the rush hits the dodge for 1"),
    ],
)
def test_the_reason_names_the_card_that_stops_the_other(cards, reason):
    assert clash_reason(PRESETS["tabletop"], *cards) == clash_reason(PRESETS["tabletop"], *cards[::-1]) == reason


def test_both_attacks_have_reasons():
    reason = clash_reason(PRESETS["tabletop"], 1, 3)
    assert reason == "the rush hits for 1 and the strike hits for 2"


def test_a_reveal_is_told_to_both(face):
    reveal = Reveal(1, (31, 90), (0, None))
    words = [face.event(reveal, seat, names)["words"] for seat, names in enumerate((("you", "Ben"), ("Ann", "you")))]
    assert words == [
        "You feint dodge away and draw guard. Ben rests.",
        "Ann feints dodge away and draws guard. You rest.",
    ]
    plays = [list(play.values()) for play in face.event(reveal, 0, ("you", "Ben"))["plays"]]
    assert plays == [[31, "feint with dodge", "dodge", True, "guard"], [90, "rest", "rest", False, None]]
    assert face.event(Clash((0, 5)), 0, ("you", "Ben"))["cards"] == ["guard", "rest"]


def test_a_position_adds_up(table, face):
    for session in sessions(table, 5):
        view, legal = session.view(0), session.legal(0)
        shown = face.view(view)
        counts = np.array([shown["hand"], shown["discard"], shown["unseen"]])
        assert counts.sum(axis=0).tolist() == list(RULES.copies)
        assert sum(shown["unseen"]) == shown["deck"] + shown["enemy"]["cards"]
        state, own, enemy = view.state, shown["own"], shown["enemy"]
        assert (own["hp"], enemy["hp"]) == (max(0, state.own_hp), max(0, state.enemy_hp))
        assert own["cards"] == sum(state.hand)
        assert (own["exhausted"], enemy["exhausted"]) == (bool(state.own_exhausted), bool(state.enemy_exhausted))
        assert (own["feinted"], enemy["feinted"]) == (state.own_feinted, state.enemy_feinted)
        assert (shown["state"] is None) == (not session.is_on) == (not legal)
        moves = face.moves(view)
        assert [move["action"] for move in moves] == list(legal)
        assert len({move["key"] for move in moves}) == len(moves)


def test_moves_have_names_and_keys(table, face):
    view = replace(next(sessions(table, 1)).view(0), actions=(10, 41, 90))
    moves = [(move["action"], move["name"], move["key"]) for move in face.moves(view)]
    assert moves == [(10, "guard", "g"), (41, "feint with strike", "fs"), (90, "rest", "Enter")]
    assert {action: card_of(action) for action in (10, 41, 90)} == {10: "guard", 41: "strike", 90: "rest"}


# Rush and strike against an enemy of two cards, guard revealed.
START = State(1, (0, 1, 0, 1, 0), 2, 0, 0, 2, 2, 0, 0, (1, 0, 0, 0, 0))


def told(state, actions, rules=RULES):
    return guide(rules, View(state, actions, (0, 1, 1, 1, 1), 1), "naive")


def test_each_card_is_explained_whoever_holds_it():
    text = told(START, (20, 21, 40, 41))
    assert "rush: deals 1; nothing to a guard or another rush." in text
    assert "strike: deals 2; 1 to a guard; nothing to a dodge or another strike." in text
    cards = [line.split(":")[0] for line in text if line.split(":")[0] in CARDS]
    assert cards == [card for card, n in zip(CARDS, RULES.copies, strict=True) if n]
    assert "punish: " not in "".join(told(START, (20,), RULES._replace(copies=(2, 2, 2, 2, 0))))


def test_the_rules_in_short_mention_feints_and_rests_if_there_are_any():
    standard, changed = PRESETS["tabletop"], PRESETS["tabletop"]._replace(feints=0, exhausting=(0,) * 5, hp=4)
    assert in_short(standard)[0] == "Both players start with 3 HP and 5 cards; 3 others are face up and 2 face down."
    assert [len(in_short(rules)) for rules in (standard, changed)] == [5, 3]
    assert in_short(changed)[0].startswith("Both players start with 4 HP and ")
    assert in_short(changed)[2].startswith("A player without HP loses; ")


def test_what_may_be_done_is_explained():
    text = "\n".join(told(START, (20, 21, 40, 41)))
    assert "Feint: the card goes to the discard pile" in text
    assert "(2 left)" in text
    assert "After 2 more breaths, the measure ends" in text
    assert "rest < guard < rush < dodge < strike < punish" in text
    assert "Feint" not in "\n".join(told(START, (20, 40)))
    most = max(RULES.damage)
    for hp, may_both_fall in ((most, True), (most + 1, False)):
        text = "\n".join(told(START._replace(own_hp=hp, enemy_hp=hp), (20,)))
        assert ("If both players fall" in text) == may_both_fall


def test_exhaustion_is_explained_to_both():
    text = "\n".join(told(START._replace(own_exhausted=1, enemy_exhausted=1), (90,)))
    assert "You are exhausted by the card that you played last: you can only rest in this breath" in text
    assert "naive is exhausted" in text


def test_house_rules_are_marked_by_what_differs_from_the_standard_rules():
    changes = {name: PunishPresentation(rules).rules()["changes"] for name, rules in PRESETS.items()}
    assert (changes["tabletop"], changes["notebook"]) == ([], [])
    house = PRESETS["tabletop"]._replace(hp=4, exhausting=(0, 0, 0, 1, 1))
    assert PunishPresentation(house).rules()["changes"] == ["hp=4", "exhausting=strike, punish"]


def test_the_documents_have_the_table_of_clashes():
    text = (Path(__file__).parents[2] / "docs" / "playing.md").read_text(encoding="utf-8")
    shown = PunishPresentation(PRESETS["tabletop"]).rules()
    rows = []
    for own, card in enumerate(CARDS):
        clashes = [(shown["taken"][enemy][own], shown["taken"][own][enemy]) for enemy in range(len(RESOLVED))]
        rows.append(" | ".join([f"| **{card}**", *(f"{a} : {b}" if a or b else "\u2013" for a, b in clashes)]) + " |")
    assert "\n".join(["| you play | guard | rush | dodge | strike | punish | rest |", "|---" * 7 + "|", *rows]) in text
    assert " < ".join(shown["priority"]) in text

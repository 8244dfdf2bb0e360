"""Punish as JSON: a seat sees its own hand and no other."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scripted import ScriptedPlayer

from punish_fast.play.events import Reveal
from punish_fast.play.punish.game_data import GameData
from punish_fast.play.punish.match import PunishMatch
from punish_fast.play.punish.presentation import PunishPresentation
from punish_fast.play.session import PlaySession
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace

RULES = PRESETS["tiny"]._replace(redeal="reshuffle")


@pytest.fixture(scope="module")
def table():
    return GameData(StateSpace(RULES))


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


def test_a_reveal_is_told_to_both(face):
    reveal = Reveal(1, (31, 90), (0, None))
    words = [face.event(reveal, seat, names)["words"] for seat, names in enumerate((("you", "Ben"), ("Ann", "you")))]
    assert words == [
        "You feint dodge away and draw guard. Ben rests.",
        "Ann feints dodge away and draws guard. You rest.",
    ]


def test_a_position_adds_up(table, face):
    for session in sessions(table, 5):
        view, legal = session.view(0), session.legal(0)
        shown = face.view(view)
        counts = np.array([shown["hand"], shown["discard"], shown["unseen"]])
        assert counts.sum(axis=0).tolist() == list(RULES.copies)
        assert sum(shown["unseen"]) == shown["deck"] + shown["enemy"]["cards"]
        assert (shown["state"] is None) == (not session.is_on) == (not legal)
        moves = face.moves(view)
        assert [move["action"] for move in moves] == list(legal)
        assert len({move["key"] for move in moves}) == len(moves)


def test_moves_have_names_and_keys(table, face):
    view = replace(next(sessions(table, 1)).view(0), actions=(10, 41, 90))
    moves = [(move["action"], move["name"], move["key"]) for move in face.moves(view)]
    assert moves == [(10, "guard", "g"), (41, "feint with strike", "fs"), (90, "rest", "Enter")]
    assert {action: face.card(action) for action in (10, 41, 90)} == {10: "guard", 41: "strike", 90: "rest"}

"""Games without secrets as JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

from punish_fast.games.tapnswap import TapnSwap
from punish_fast.play.events import End, Exhaustion
from punish_fast.play.games.match import GameMatch
from punish_fast.play.games.presentation import GamePresentation
from punish_fast.play.session import HumanPlayer, PlaySession

NAMES = "you", "perfect"


@pytest.fixture
def session():
    session = PlaySession(GameMatch(TapnSwap(), np.random.default_rng(1)), (HumanPlayer("a"),) * 2)
    session.begin()
    return session


def test_each_seat_sees_its_own_hands_first(session):
    face = GamePresentation(TapnSwap())
    session.choose(0, session.legal(0)[0])
    session.reveal()
    own, other = (face.view(session.view(seat)) for seat in (0, 1))
    assert own["board"] == {"own": [1, 1], "other": [2, 1], "limit": 5}
    assert other["board"] == {"own": [2, 1], "other": [1, 1], "limit": 5}
    assert own["to_move"] == other["to_move"] == 1
    assert own["words"]


def test_moves_have_words_and_numbers_as_keys(session):
    face = GamePresentation(TapnSwap())
    moves = face.moves(session.view(0))
    assert [move["key"] for move in moves] == ["1", "2"]
    assert [move["name"] for move in moves] == ["tap 1 on 1", "swap to 0-2"]
    assert face.moves(session.view(1)) == []


def test_events_are_told_in_words(session):
    face = GamePresentation(TapnSwap())
    while session.is_on:
        (seat,) = session.waiting
        # Taps alone end a game soon.
        session.choose(seat, session.legal(seat)[0])
        session.reveal()
    told = [face.event(event, 0, NAMES) for event in session.events]
    assert told[0] == {"kind": "move", "words": "you: tap 1 on 1", "seat": 0, "action": 0, "name": "tap 1 on 1"}
    assert told[-1]["words"] in ("You win!", "perfect wins!")
    assert face.view(session.view(0))["to_move"] is None
    assert json.loads(json.dumps([face.rules(), *told])) == [face.rules(), *told]
    assert face.event(End(None), 0, NAMES)["words"] == "A draw."
    with pytest.raises(TypeError, match="Exhaustion: is not an event"):
        face.event(Exhaustion(0), 0, NAMES)

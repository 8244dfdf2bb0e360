from __future__ import annotations

import json

import numpy as np
import pytest
from games.small import Corridor, Nim
from scripted import ScriptedPlayer

from punish_fast.games.tapnswap import TapnSwap
from punish_fast.play.events import End, Exhaustion
from punish_fast.play.games.game_player import GamePresentation
from punish_fast.play.games.match import GameMatch, GameView
from punish_fast.play.session import ChoiceError, HumanPlayer, PlaySession, UndoError
from punish_fast.runtime.events import Moved

PEOPLE = HumanPlayer("Ann"), HumanPlayer("Ben")


def begun(game, seats=PEOPLE, seed=1):
    session = PlaySession(GameMatch(game, np.random.default_rng(seed)), seats)
    session.begin()
    return session


def play(session, *actions):
    for action in actions:
        session.choose(session.waiting[0], action)
        session.reveal()


def test_players_move_in_turn_to_the_end():
    session = begun(Nim(4))
    play(session, 1, 2)
    assert (session.waiting, session.legal(0), session.legal(1)) == ([0], (1,), ())
    with pytest.raises(ChoiceError, match="seat 1: has nothing to choose now"):
        session.choose(1, 1)
    play(session, 1)
    assert session.events == [Moved(0, 1, "take 1"), Moved(1, 2, "take 2"), Moved(0, 1, "take 1"), End(0)]
    assert (session.is_on, session.winner) == (False, 0)
    assert session.view(1) == GameView(Nim(4).initial()._replace(size=0, player=1), 1, ())
    draw = begun(Corridor({1: 0.0}))
    play(draw, 1)
    assert (draw.events[-1], draw.is_on, draw.winner) == (End(None), False, None)


def test_undo_goes_back_to_the_last_choice_of_a_person():
    session = begun(Nim(9))
    play(session, 1, 2)
    session.undo()
    assert (session.events, session.waiting) == ([Moved(0, 1, "take 1")], [1])
    session.undo()
    assert (session.events, session.waiting) == ([], [0])
    with pytest.raises(UndoError, match="there is no move to undo"):
        session.undo()


def test_undo_takes_back_what_agents_have_moved_since():
    agent = ScriptedPlayer("bot", lambda _view, legal: legal[0])
    session = begun(Nim(9), (agent, HumanPlayer("Ben")))
    session.reveal()
    before = list(session.events)
    with pytest.raises(UndoError, match="there is no move to undo"):
        session.undo()
    assert session.events == before
    play(session, 2)
    session.reveal()
    session.choose(1, 1)
    session.undo()
    assert (session.events, session.waiting) == (before, [1])


NAMES = "you", "perfect"


def test_each_seat_sees_its_own_hands_first():
    session, face = begun(TapnSwap()), GamePresentation(TapnSwap())
    moves = face.moves(session.view(0))
    assert [(move["key"], move["name"]) for move in moves] == [("1", "tap 1 on 1"), ("2", "swap to 0-2")]
    assert face.moves(session.view(1)) == []
    session.choose(0, session.legal(0)[0])
    session.reveal()
    own, other = (face.view(session.view(seat)) for seat in (0, 1))
    assert own["board"] == {"own": [1, 1], "other": [2, 1], "limit": 5}
    assert other["board"] == {"own": [2, 1], "other": [1, 1], "limit": 5}
    assert own["to_move"] == other["to_move"] == 1
    assert own["words"]


def test_events_are_told_in_words():
    session, face = begun(TapnSwap()), GamePresentation(TapnSwap())
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

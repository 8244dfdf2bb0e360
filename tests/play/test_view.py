"""Positions outside of a game."""

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.play.punish.game_data import GameData, view_of
from punish_fast.play.punish.match import PunishMatch
from punish_fast.play.session import HumanPlayer, PlaySession
from punish_fast.punish.codes import StateError


def test_a_position_is_seen_as_in_a_game(tiny):
    session = PlaySession(PunishMatch(GameData(tiny), 3), (HumanPlayer("Ann"), HumanPlayer("Ben")))
    session.begin()
    generator = np.random.default_rng(3)
    while session.is_on:
        for seat in session.waiting:
            view = session.view(seat)
            found = view_of(tiny, view.state)
            assert (found.state, found.actions, found.unseen, found.deck) == (
                *(view.state, view.actions, view.unseen),
                view.deck,
            )
            assert found.measure is None
            session.choose(seat, int(generator.choice(view.actions)))
        session.reveal()


def test_what_no_game_reaches_is_refused(tiny):
    with pytest.raises(StateError, match="own_hp is 7"):
        view_of(tiny, tiny.state(0)._replace(own_hp=7))

"""Agents at games without secrets."""

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.games.matches import exact_score
from punish_fast.games.retrograde import solve_game
from punish_fast.games.tapnswap import TapnSwap, Variant
from punish_fast.play.board_match import BoardView
from punish_fast.play.board_model import LEVELS, BoardModel
from punish_fast.play.model import NoAnswerError
from punish_fast.play.seats import Person
from punish_fast.play.session import PlaySession


@pytest.fixture(scope="module")
def models():
    return {level: BoardModel(TapnSwap(), level) for level in LEVELS}


def test_a_casual_player_can_be_beaten(models):
    casual, perfect = models["casual"], models["perfect"]
    assert exact_score(casual.positions, perfect.strategy, casual.strategy).win > 0.5
    assert exact_score(casual.positions, casual.strategy, perfect.strategy).win == 0
    assert np.array_equal(perfect.strategy, solve_game(perfect.positions).policy())


def test_a_random_player_is_random_and_each_level_says_how_it_plays(models):
    assert np.array_equal(models["random"].strategy, models["random"].positions.uniform())
    assert [models[level].facts()["about"] for level in LEVELS] == [
        "plays at random",
        "plays at random 30% of the time",
        "plays perfectly",
    ]


def test_hints_are_those_of_perfect_play(models):
    game = TapnSwap()
    view = BoardView(game.state_of("3-1/2-4"), 0, tuple(game.actions(game.state_of("3-1/2-4"))))
    moves = models["random"].hint(view)["moves"]
    assert {move["name"]: (move["outcome"], move["plies"], move["best"]) for move in moves} == {
        "tap 1 on 2": ("loss", 18, False),
        "tap 1 on 4": ("loss", 18, False),
        "tap 3 on 2": ("draw", None, True),
        "tap 3 on 4": ("loss", 18, False),
        "swap to 4-0": ("loss", 2, False),
        "swap to 2-2": ("draw", None, True),
    }


def test_levels_and_variants_are_told_apart(models):
    short = BoardModel(TapnSwap(Variant(limit=4)), "perfect")
    assert len({model.identity for model in (*models.values(), short)}) == len(LEVELS) + 1
    assert BoardModel(TapnSwap(), "perfect").identity == models["perfect"].identity
    assert [model.facts()["rules"] for model in (short, models["casual"])] == ["TapnSwap, limit 4", "TapnSwap, limit 5"]


def test_it_plays_in_one_way_alone(models):
    assert models["casual"].is_ready(None)
    with pytest.raises(NoAnswerError, match="casual-tapnswap does not play at 2, allowed is none"):
        models["casual"].agent(2.0)


def test_a_match_follows_from_its_seed_and_ends(models):
    perfect = models["perfect"]

    def events(seed):
        session = PlaySession(perfect.match(seed), (models["casual"].agent(None), perfect.agent(None)))
        session.begin()
        while session.is_on:
            session.reveal()
        return session.events

    assert events(1) == events(1)
    assert events(1) != events(2)


def test_endless_play_is_a_draw():
    # Swaps back and forth, where nobody has to tap.
    model = BoardModel(TapnSwap(), "perfect")
    session = PlaySession(model.match(1), (Person("Ann"), Person("Ben")))
    session.begin()
    while session.is_on:
        (seat,) = session.waiting
        session.choose(seat, session.legal(seat)[-1])
        session.reveal()
    assert session.winner is None
    assert len(session.events) == 201

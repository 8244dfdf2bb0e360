"""Whole games, played and traced again."""

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.games.learn.episodes import NONE, EpisodeError, play, play_out, retrace
from punish_fast.games.learn.movers import ValueMover, random_mover
from punish_fast.games.registry import make_game, vectorise
from punish_fast.games.solve.vector_games import vectorise_positions
from punish_fast.games.tapnswap import TapnSwap, Variant


@pytest.fixture(scope="module")
def tictactoe():
    return vectorise(make_game("tictactoe", {}))


@pytest.fixture
def generator():
    return np.random.default_rng(5)


def lowest(states):
    return np.tile(-np.arange(9.0), (len(states), 1))


@pytest.mark.parametrize(("name", "max_plies"), [("tictactoe", 9), ("incan-gold", 500)])
def test_traces_agree_with_the_game(name, max_plies, generator):
    vector = vectorise(make_game(name, {}))
    action = play(vector, [random_mover] * vector.game.n_players, 50, generator, max_plies)
    played, game = retrace(vector, action), vector.game
    for number, actions in enumerate(action):
        state = game.initial()
        for ply, each in enumerate(actions[actions != NONE].tolist()):
            assert played.player[number, ply] == game.player(state)
            state = game.apply(state, each)
        assert played.is_over[number]
        assert game.is_terminal(state)
        assert played.returns[number].tolist() == list(game.returns(state))
    assert played.is_legal[action != NONE].all()


def test_seats_move_by_their_own_values(tictactoe, generator):
    action = play(tictactoe, [ValueMover(lowest), ValueMover(lambda states: -lowest(states))], 3, generator, 9)
    assert action.tolist() == [[0, 8, 1, 7, 2]] * 3


def test_illegal_actions_end_a_game(tictactoe, generator):
    action = play(tictactoe, [ValueMover(lowest, keeps_rules=False)] * 2, 2, generator, 9)
    assert action.tolist() == [[0, 0]] * 2
    played = retrace(tictactoe, action)
    assert played.is_legal.tolist() == [[True, False]] * 2
    assert not played.is_over.any()
    assert not played.returns.any()


def test_openings_are_random(tictactoe, generator):
    action = play(tictactoe, [ValueMover(lowest)] * 2, 200, generator, 9, n_random=2)
    assert len(np.unique(action[:, :2], axis=0)) > 50
    assert len(np.unique(action, axis=0)) == len(np.unique(action[:, :2], axis=0))


def test_long_games_stop(generator):
    vector = vectorise_positions(TapnSwap(Variant(rolls_over=True)))
    action = play(vector, [random_mover] * 2, 20, generator, 6)
    assert action.shape == (20, 6)
    assert not retrace(vector, action).is_over.all()


def test_chance_draws_by_its_probabilities(generator):
    vector = vectorise(make_game("incan-gold", {}))
    cards = play(vector, [random_mover] * 3, 4000, generator, 1)[:, 0]
    (expected,) = vector.probabilities(vector.initial(1))
    assert np.bincount(cards, minlength=len(expected)) / len(cards) == pytest.approx(expected, abs=0.02)


def test_whole_games_have_the_returns_of_the_rules_and_illegal_actions_lose(tictactoe, generator):
    orderly = play_out(tictactoe, [ValueMover(lowest)] * 2, 2, generator, 9)
    assert orderly.tolist() == [[1, -1]] * 2
    careless = play_out(tictactoe, [ValueMover(lowest), ValueMover(lowest, keeps_rules=False)], 2, generator, 9)
    assert careless.tolist() == [[0, -1]] * 2
    with pytest.raises(EpisodeError, match=r"^max_plies: 3 are too few, 2 of 2 games are not over$"):
        play_out(tictactoe, [ValueMover(lowest)] * 2, 2, generator, 3)


@pytest.mark.parametrize(
    ("action", "text"),
    [
        # The artifact is drawn for a second time; a player answers with a card.
        ([[16, 1, 1, 1, 16]], "one is impossible for chance"),
        ([[16, 2]], "a number of a player is not from 0 to 1"),
    ],
)
def test_what_chance_and_players_cannot_do_is_refused(action, text):
    with pytest.raises(EpisodeError, match=text):
        retrace(vectorise(make_game("incan-gold", {})), np.array(action, dtype=np.int16))


@pytest.mark.parametrize(
    ("action", "text"),
    [
        ([[9]], "a number is not from -1 to 8"),
        ([[-2]], "a number is not from -1 to 8"),
        ([[0, NONE, 1]], "one follows the end of its game"),
        ([[0, 0, 1]], "one follows the end of its game"),
        ([[0, 3, 1, 4, 2, 5]], "one follows the end of its game"),
    ],
)
def test_what_are_no_games_is_refused(tictactoe, action, text):
    with pytest.raises(EpisodeError, match=text):
        retrace(tictactoe, np.array(action, dtype=np.int16))

"""Tic-tac-toe, many states at once, against the game in every state."""

from __future__ import annotations

import numpy as np
import pytest

from games.laws import check_vector_game
from punish_fast.games.positions import enumerate_positions
from punish_fast.games.tictactoe import TicTacToe
from punish_fast.games.vector_tictactoe import VectorTicTacToe, word_of

GAME = TicTacToe()
VECTOR = VectorTicTacToe(GAME)


@pytest.fixture(scope="module")
def positions():
    return enumerate_positions(GAME, is_folded=False)


@pytest.fixture(scope="module")
def words(positions):
    return np.array([[word_of(*state)] for state in positions.states], dtype=np.uint64)


def test_random_games_are_those_of_the_game():
    assert check_vector_game(VECTOR, 50) > 250
    assert VECTOR.initial(3).tolist() == [[word_of(*GAME.initial())]] * 3


def test_every_state_is_described_as_by_the_game(positions, words):
    assert VECTOR.player(words).tolist() == [GAME.player(state) for state in positions.states]
    assert np.array_equal(VECTOR.features(words), np.stack([GAME.features(state) for state in positions.states]))
    assert [np.flatnonzero(row).tolist() for row in VECTOR.legal(words)] == [GAME.actions(s) for s in positions.states]


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
def test_every_move_is_that_of_the_game(positions, words, dtype):
    before = words[positions.position_of_row]
    after, returns, ended = VECTOR.step(before, positions.action.astype(dtype))
    assert np.array_equal(after, words[positions.after])
    assert np.array_equal(ended, positions.is_terminal[positions.after])
    assert returns.tolist() == [list(GAME.returns(positions.states[number])) for number in positions.after]


def test_nothing_is_done_with_no_states():
    after, returns, ended = VECTOR.step(VECTOR.initial(0), np.zeros(0, dtype=np.int64))
    assert (after.shape, returns.shape, ended.shape) == ((0, 1), (0, 2), (0,))

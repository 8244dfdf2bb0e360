"""Many states of tic-tac-toe at once, on kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from punish_fast.games import _tictactoe
from punish_fast.games.contract import Game
from punish_fast.games.tictactoe import TicTacToeState


class VectorTicTacToe:
    """Tic-tac-toe; see `contract.VectorBoardGame`."""

    n_words = 1
    n_moves = _tictactoe.SQUARES
    feature_shape: tuple[int, ...] = (2, 3, 3)

    def __init__(self, game: Game) -> None:
        """Remember the game."""
        self.game = game

    def initial(self, n: int) -> np.ndarray:
        """``n`` empty boards."""
        return np.zeros((n, self.n_words), dtype=np.uint64)

    def player(self, states: np.ndarray) -> np.ndarray:
        """0 for X and 1 for O."""
        player = np.empty(len(states), dtype=np.int8)
        _tictactoe.find_player(states, player)
        return player

    def legal(self, states: np.ndarray) -> np.ndarray:
        """The empty squares."""
        legal = np.empty((len(states), _tictactoe.SQUARES), dtype=np.bool_)
        _tictactoe.find_legal(states, legal)
        return legal

    def features(self, states: np.ndarray) -> np.ndarray:
        """Stones of the mover, then of the opponent."""
        features = np.empty((len(states), 2 * _tictactoe.SQUARES), dtype=np.float32)
        _tictactoe.find_features(states, features)
        return features

    def step(self, states: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Put a stone in each state."""
        n = len(states)
        after, returns, ended = np.empty_like(states), np.empty((n, 2), dtype=np.float32), np.empty(n, dtype=np.bool_)
        _tictactoe.step(states, np.asarray(actions, dtype=np.int64), after, returns, ended)
        return after, returns, ended

    def pack(self, states: Sequence[TicTacToeState]) -> np.ndarray:
        """The words of states."""
        return np.array([[word_of(*state)] for state in states], dtype=np.uint64).reshape(-1, self.n_words)


def word_of(own: int, other: int) -> int:
    """The word of a state of the game."""
    return own | other << _tictactoe.SQUARES

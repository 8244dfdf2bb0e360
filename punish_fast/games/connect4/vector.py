"""Vector game of Connect Four."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from punish_fast.games.connect4 import _game as _connect4
from punish_fast.games.connect4.game import HEIGHT, WIDTH, Connect4State
from punish_fast.games.contract import Game
from punish_fast.games.solve.packed_states import room_for_steps, signed


class VectorConnect4:
    """Many states at once; see `contract.VectorBoardGame`. Their words are those of `connect4.Connect4State`."""

    n_words = 2
    n_moves = WIDTH
    feature_shape: tuple[int, ...] = (2, HEIGHT, WIDTH)

    def __init__(self, game: Game) -> None:
        self.game = game

    def initial(self, n: int) -> np.ndarray:
        """``n`` empty boards."""
        return np.zeros((n, self.n_words), dtype=np.uint64)

    def player(self, states: np.ndarray) -> np.ndarray:
        """The player to move."""
        return np.asarray(np.bitwise_count(states[:, 1]) % 2).astype(np.int8)

    def legal(self, states: np.ndarray) -> np.ndarray:
        """Whether each column takes a stone."""
        is_open = np.empty((len(states), WIDTH), dtype=np.bool_)
        _connect4.find_open_columns(signed(states), is_open)
        return is_open

    def features(self, states: np.ndarray) -> np.ndarray:
        """The stones of the player to move, then those of the other."""
        features = np.empty((len(states), *self.feature_shape), dtype=np.float32)
        _connect4.spread_stones(signed(states), features)
        return features.reshape(len(states), -1)

    def step(self, states: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Drop a stone into a column of each board."""
        after, returns, ended = room_for_steps(len(states), self.n_words, 2)
        _connect4.drop_stones(signed(states), np.ascontiguousarray(actions, np.int64), after, returns, ended)
        return after.view(np.uint64), returns, ended

    def pack(self, states: Sequence[Connect4State]) -> np.ndarray:
        """The words of states."""
        return np.array(states, dtype=np.uint64).reshape(-1, self.n_words)

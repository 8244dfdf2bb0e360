"""Implementation of `contract.VectorGame` for any small game by enumeration of its states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from punish_fast.games.contract import Game
from punish_fast.games.solve.positions import Positions, enumerate_positions

# Row of an illegal action.
_NONE = -1


class VectorPositions:
    """A `contract.VectorBoardGame` in which the single word of a state is its index among all reachable states."""

    n_words = 1

    def __init__(self, positions: Positions, feature_shape: tuple[int, ...] | None = None) -> None:
        self.positions = positions
        self.game: Game = positions.game
        self.n_moves = self.game.n_actions
        self.feature_shape: tuple[int, ...] = feature_shape or (self.game.n_features,)
        self._row = np.full((len(positions), self.game.n_actions), _NONE, dtype=np.int32)
        self._row[positions.position_of_row, positions.action] = np.arange(positions.n_rows)
        self._features = np.stack([self.game.features(state) for state in positions.states])
        self._player = np.array([self.game.player(state) for state in positions.states], dtype=np.int8)
        self._returns = np.array([self.game.returns(state) for state in positions.states], dtype=np.float32)

    def initial(self, n: int) -> np.ndarray:
        """Return ``n`` initial states."""
        return np.zeros((n, self.n_words), dtype=np.uint64)

    def player(self, states: np.ndarray) -> np.ndarray:
        """Return the player to move."""
        return np.asarray(self._player[_number(states)])

    def legal(self, states: np.ndarray) -> np.ndarray:
        """Return the legal actions."""
        return np.asarray(self._row[_number(states)] != _NONE)

    def features(self, states: np.ndarray) -> np.ndarray:
        """Return the features of states."""
        return np.asarray(self._features[_number(states)])

    def step(self, states: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Take a legal action in each state."""
        number = self.positions.after[self._row[_number(states), actions]]
        after = number.astype(np.uint64)[:, np.newaxis]
        return after, self._returns[number], self.positions.is_terminal[number]

    def pack(self, states: Sequence[Any]) -> np.ndarray:
        """Encode states."""
        numbers = [self.positions.find(state) for state in states]
        return np.array(numbers, dtype=np.uint64).reshape(-1, self.n_words)


def _number(states: np.ndarray) -> np.ndarray:
    return np.asarray(states[:, 0].astype(np.int64))


def vectorise_positions(game: Game, feature_shape: tuple[int, ...] | None = None) -> VectorPositions:
    """Vectorize a game by enumerating its states.

    Args:
        game: A game whose states can be enumerated.
        feature_shape: Shape of the features of a state, by default ``(n_features,)``.
    """
    return VectorPositions(enumerate_positions(game, is_folded=False), feature_shape)

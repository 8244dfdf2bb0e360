"""Vector game of Gwent Lite; ``gwent_state.py`` describes the words of a state."""

from __future__ import annotations

import numpy as np

from punish_fast.games.contract import Game
from punish_fast.games.gwent import _game as _gwent
from punish_fast.games.gwent.game import N_MOVES, Gwent
from punish_fast.games.gwent.state import words_of
from punish_fast.games.solve.packed_states import room_for_steps, signed


class VectorGwent:
    """Gwent Lite; see `contract.VectorChanceGame`."""

    n_words = _gwent.N_WORDS
    n_moves = N_MOVES
    feature_shape: tuple[int, ...] = (Gwent.n_features,)

    def __init__(self, game: Gwent) -> None:
        self.game: Game = game
        self._gwent = game
        self._initial = words_of(game.initial()).astype(np.uint64)

    def initial(self, n: int) -> np.ndarray:
        """``n`` states before the first card is drawn."""
        return np.tile(self._initial, (n, 1))

    def player(self, states: np.ndarray) -> np.ndarray:
        """The player to move, or `CHANCE`."""
        player = np.empty(len(states), dtype=np.int8)
        _gwent.find_gwent_players(signed(states), player)
        return player

    def legal(self, states: np.ndarray) -> np.ndarray:
        """To pass, and the slots with cards."""
        legal = np.empty((len(states), N_MOVES), dtype=np.bool_)
        _gwent.find_gwent_moves(signed(states), legal)
        return legal

    def probabilities(self, states: np.ndarray) -> np.ndarray:
        """The probability of each card to draw, or of each player to begin."""
        return self._gwent.find_shares(signed(states))

    def features(self, states: np.ndarray) -> np.ndarray:
        """What the player to move knows."""
        return self._gwent.find_features(signed(states))

    def step(self, states: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw a card, let a player begin, or move in each state."""
        after, returns, ended = room_for_steps(len(states), self.n_words, 2)
        actions = np.ascontiguousarray(actions, np.int64)
        _gwent.step_gwent(signed(states), actions, self._gwent.rules, after, returns, ended)
        return after.view(np.uint64), returns, ended

"""Vector game of Incan Gold.

Cards are drawn by chance, and the players inside answer one after the other; no answer can be seen in the features of
another player before all have answered.
"""

from __future__ import annotations

import numpy as np

from punish_fast.games.contract import Game
from punish_fast.games.incan_gold import _game as kernels
from punish_fast.games.incan_gold.game import N_KINDS, N_PLAYERS, STAY, IncanGold
from punish_fast.games.solve.packed_states import room_for_steps, signed


class VectorIncanGold:
    """Incan Gold; see `contract.VectorChanceGame`. ``_incan_gold.py`` describes the words."""

    n_words = 2
    n_moves = STAY + 1

    feature_shape: tuple[int, ...] = (IncanGold.n_features,)

    def __init__(self, game: Game) -> None:
        self.game = game
        self._is_by_taking = game.parameters()["artifact_value"] == "taken"

    def initial(self, n: int) -> np.ndarray:
        """``n`` games whose first card is to be drawn."""
        states = np.empty((n, self.n_words), np.int64)
        kernels.begin_temples(states)
        return states.view(np.uint64)

    def player(self, states: np.ndarray) -> np.ndarray:
        """The player who is asked, or `contract.CHANCE`."""
        player = np.empty(len(states), np.int8)
        kernels.find_askers(signed(states), player)
        return player

    def legal(self, states: np.ndarray) -> np.ndarray:
        """Whether a player is asked to leave or to stay."""
        legal = np.empty((len(states), self.n_moves), np.bool_)
        kernels.find_answers(signed(states), legal)
        return legal

    def probabilities(self, states: np.ndarray) -> np.ndarray:
        """The share of each kind of card in the deck; 0 where no card is to be drawn."""
        probabilities = np.empty((len(states), N_KINDS))
        kernels.find_card_shares(signed(states), probabilities)
        return probabilities

    def features(self, states: np.ndarray) -> np.ndarray:
        """What the player who is asked knows; see `incan_gold.IncanGold.features`."""
        features = np.empty((len(states), *self.feature_shape), np.float32)
        kernels.describe_temples(signed(states), features)
        return features

    def step(self, states: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw a card or take an answer in each state."""
        after, returns, ended = room_for_steps(len(states), self.n_words, N_PLAYERS)
        chosen = np.ascontiguousarray(actions, np.int64)
        kernels.take_temple_actions(signed(states), chosen, self._is_by_taking, after, returns, ended)
        return after.view(np.uint64), returns, ended

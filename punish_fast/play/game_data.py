"""Data of all games under the same rules: states, decks and the damage of a clash."""

from __future__ import annotations

import numpy as np

from punish_fast.duel.breath import damage_table
from punish_fast.duel.dealer import Dealer
from punish_fast.duel.decks import cumulate_draws
from punish_fast.duel.simulator import prepare_thresholds
from punish_fast.punish.states.space import StateSpace


class GameData:
    """Data that a game needs, without the graph of all games.

    Attributes:
        space: The information states, of the finest model among the players.
        dealer: The deals.
        draws: All decks and the draws from them.
        until: Their cumulated probabilities.
        damage: int64 ``[6, 6]``, damage by attack and defence; 5 is rest.
    """

    def __init__(self, space: StateSpace) -> None:
        self.space = space
        self.dealer = Dealer(space)
        self.draws = self.dealer.draws
        self.until = cumulate_draws(self.draws)
        self.damage = damage_table(space.rules)

    def thresholds(self, policy: np.ndarray) -> np.ndarray:
        """Return the thresholds of a policy, uint32 ``[n_rows]``, for a `PolicyPlayer`."""
        return prepare_thresholds(self.space, policy)

"""What all games under the same rules share: states, decks and the tables of a clash."""

from __future__ import annotations

import numpy as np

from punish_fast.duel.dealer import Dealer
from punish_fast.duel.decks import cumulate_draws
from punish_fast.duel.simulator import prepare_thresholds
from punish_fast.punish import _clash
from punish_fast.punish._clash import N_RESOLVED
from punish_fast.punish._multisets import N_KINDS
from punish_fast.punish.space import StateSpace


class Table:
    """The rules as a game needs them, without the graph of all games.

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
        self.damage = np.zeros((N_KINDS + 1, N_KINDS + 1), dtype=np.int64)
        _clash.tabulate_damage(space.rules, self.damage)
        self._statuses = [self._tabulate(is_last) for is_last in (False, True)]

    def _tabulate(self, is_last: bool) -> np.ndarray:
        statuses = np.empty((self.space.layout.n_statuses, N_RESOLVED, N_RESOLVED), dtype=np.int32)
        _clash.tabulate_statuses(self.space.rules, self.space.layout, is_last, statuses)
        return statuses

    def status_after(self, status: int, breath: int, resolved: tuple[int, int], feints: tuple[bool, bool]) -> int:
        """The code of the status after a clash, or `WIN` or `LOSS` of the first seat."""
        own, enemy = (2 * card + feint for card, feint in zip(resolved, feints, strict=True))
        return int(self._statuses[breath == self.space.rules.breaths][status, own, enemy])

    def thresholds(self, policy: np.ndarray) -> np.ndarray:
        """What an `Agent` plays by, uint32 ``[n_rows]``, from its policy, float64 ``[n_rows]``."""
        return prepare_thresholds(self.space, policy)

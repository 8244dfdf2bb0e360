"""Symmetric subgame-perfect equilibrium of the first round of Incan Gold.

Three players maximize their expected points in the round. In each state, all stay with the same probability ``p``,
which is a best response to itself: 1 if staying is optimal against two players who stay, 0 if leaving is optimal
against two who leave, or a root of the gain of staying, which is a quadratic polynomial in ``p``. There is at least one
equilibrium: if neither pure strategy is one, the gain of staying is positive at ``p = 0`` and negative at ``p = 1``. If
there are several, the one with the highest or the lowest payoff is selected.

With three players inside, the state consists of the set of treasures, the number of hazards and the location of the
artifact (see ``rounds.py``). When one has left with everything on the board, the state also includes the points that
each of the others holds and the new treasure on the board. For the last player, it includes the points on leaving.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from punish_fast.games.incan_gold import _rounds as kernels
from punish_fast.games.incan_gold.game import N_PLAYERS
from punish_fast.games.incan_gold.rounds import RoundSets
from punish_fast.runtime.parallel import for_each


@dataclass(frozen=True)
class RoundEquilibrium:
    """A symmetric equilibrium of three players."""

    sets: RoundSets
    last: np.ndarray  # float64, indexed by `last_place`, expected points of staying for the last player.
    pair: np.ndarray  # float64, indexed by `pair_place`, expected points of two players.
    pair_stay: np.ndarray  # float64, indexed by `pair_place`, probability of staying of two players.
    # float64 ``[n_sets, n_hazards + 1, 3, 2]``, expected points of three players if all stay, and in equilibrium.
    three: np.ndarray
    three_stay: np.ndarray  # float64 ``[n_sets, n_hazards + 1, 3]``, probability of staying of three players.

    @property
    def points(self) -> float:
        """Expected points of each player in the round."""
        begin = kernels.IN_DECK if self.sets.deck.n_artifacts else kernels.TAKEN
        return float(self.three[0, 0, begin, 0])

    def stay(self) -> np.ndarray:
        """Return the probability that each of three players stays, float64 ``[n_sets, n_hazards + 1, 2]``.

        The last index is 1 if the artifact is in the deck.
        """
        begin = kernels.ON_BOARD if self.sets.deck.n_artifacts else kernels.TAKEN
        return self.three_stay[..., begin : begin + 2]

    def all_stay(self) -> float:
        """Return the probability that all players are inside when the second hazard is drawn."""
        stay = self.stay() ** N_PLAYERS
        leaves = self.sets.reach(stay) * (1 - stay)
        leaves[0, 0, self.sets.deck.n_artifacts] = 0
        return float(1 - leaves.sum())


def solve_equilibrium(sets: RoundSets, is_best: bool = True) -> RoundEquilibrium:
    """Find a symmetric equilibrium by backward induction.

    Args:
        is_best: If a state has several equilibria, whether to select the best instead of the worst.
    """
    shape, best = (len(sets.counts), sets.deck.n_hazards + 1, 3), 1 if is_best else -1
    last, pair, pair_stay = (np.zeros(n) for n in (sets.n_last, sets.n_pair, sets.n_pair))
    three, three_stay = np.zeros((*shape, 2)), np.zeros(shape)
    common = (sets.arrays, sets.places)
    for layer in sets.layers:
        for_each(kernels.solve_last, len(layer), layer, *common, last)
        for_each(kernels.solve_pair, len(layer), layer, *common, best, last, pair, pair_stay)
        for_each(kernels.solve_three, len(layer), layer, *common, best, (last, pair, three), three_stay)
    return RoundEquilibrium(sets, last, pair, pair_stay, three, three_stay)

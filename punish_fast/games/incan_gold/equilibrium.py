"""The symmetric subgame-perfect equilibrium of the first round of Incan Gold.

Three players maximise the expected points of the round. In each state all of them stay with the same probability ``p``,
which is a best response to itself: 1 if staying is best against two who stay, 0 if leaving is best against two who
leave, or a root of the gain of staying, which is a quadratic in ``p``. There is at least one: if neither pure one is an
equilibrium, the gain of staying is positive at ``p = 0`` and negative at ``p = 1``. Where there are several, the one
that pays the players most is taken, or the one that pays least.

The state of three players is the set of treasures, the number of hazards and the place of the artifact (see
`incan_gold_rounds`). After one has left, with all that was on the board, the two others go on with what each of them
holds and what comes to lie on the board since. The last player needs no more than what it would leave with.
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

    sets: RoundSets  # The sets of treasures.
    last: np.ndarray  # float64, the expected points of going on for the last player inside, at `last_place`.
    pair: np.ndarray  # float64, the expected points of two players, at `pair_place`.
    pair_stay: np.ndarray  # float64, their probability of staying.
    # float64 ``[n_sets, n_hazards + 1, 3, 2]``, the expected points of going on, and of the state, for three.
    three: np.ndarray
    three_stay: np.ndarray  # float64 ``[n_sets, n_hazards + 1, 3]``, their probability of staying.

    @property
    def points(self) -> float:
        """The expected points of the round, for each player."""
        begin = kernels.IN_DECK if self.sets.deck.n_artifacts else kernels.TAKEN
        return float(self.three[0, 0, begin, 0])

    def stay(self) -> np.ndarray:
        """The probability with which each of three players stays, float64 ``[n_sets, n_hazards + 1, 2]``.

        The last axis tells whether the artifact is in the deck.
        """
        begin = kernels.ON_BOARD if self.sets.deck.n_artifacts else kernels.TAKEN
        return self.three_stay[..., begin : begin + 2]

    def all_stay(self) -> float:
        """The probability that all players are inside when the second hazard comes."""
        stay = self.stay() ** N_PLAYERS
        leaves = self.sets.reach(stay) * (1 - stay)
        leaves[0, 0, self.sets.deck.n_artifacts] = 0
        return float(1 - leaves.sum())


def solve_equilibrium(sets: RoundSets, is_best: bool = True) -> RoundEquilibrium:
    """Find a symmetric equilibrium by backward induction.

    Args:
        is_best: Take the equilibrium that pays most wherever there are several, instead of the one that pays least.
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

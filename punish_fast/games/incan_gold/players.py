"""Players of whole games of Incan Gold, many games at once: policies by points, and the equilibrium of the first round.

Each is a mover (`contract.Mover`) of `vector_incan_gold.VectorIncanGold`. It looks only at what the player who is asked
knows, not at answers of others.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

from punish_fast.games.contract import GameError, Mover
from punish_fast.games.incan_gold import _players as kernels
from punish_fast.games.incan_gold.equilibrium import RoundEquilibrium, solve_equilibrium
from punish_fast.games.incan_gold.game import ARTIFACT, FIRST_HAZARD, LEAVE, STAY, IncanGoldState
from punish_fast.games.incan_gold.playouts import N_HAZARDS, check_policy, random_policy, threshold_policy
from punish_fast.games.incan_gold.rounds import RoundDeck, RoundSets
from punish_fast.games.solve.packed_states import signed
from punish_fast.runtime.printable import printable

# Points of the round with which the rule of thumb leaves, by the number of hazards on the board.
LEAVE_AT = (44, 22, 8, 4, 3, 2)
NAMES = ("random", "leave-at-N", "leave-at-N-N-N-N-N-N", "rule-of-thumb", "equilibrium")


class PolicyMover:
    """Follows a policy of `incan_gold_playouts`: by players inside, hazards on the board and points collected."""

    def __init__(self, policy: np.ndarray) -> None:
        check_policy(policy)
        self._policy = np.ascontiguousarray(policy, np.float64)

    def stay(self, states: np.ndarray) -> np.ndarray:
        """The probability that the player who is asked stays, float64 ``[n]``."""
        stay = np.empty(len(states))
        kernels.follow_policy(signed(states), self._policy, stay)
        return stay

    def __call__(self, states: np.ndarray, _legal: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """To leave or to stay, in each state."""
        return drawn_answers(self.stay(states), generator)


class EquilibriumMover:
    """Plays the symmetric equilibrium of the first round in every round, by what lies open.

    It looks at the treasures drawn, the number of hazards, whether the artifact is in the deck or on the board, and,
    after a player has left, at the points collected and the treasure on the board. In the first round this is the
    equilibrium of players who want points. Later it is an approximation, since it ignores

    * the totals of the players, and so who needs points and how many rounds are left;
    * the second hazards that have left the game: it plays as if three cards of each kind were still there;
    * how many artifacts there are: several in the deck or on the board count as one, worth 5. For the last player
      inside, those on the board count with their worth. With more to take than the first round has, it does what it
      would do with the most of that.

    Attributes:
        equilibrium: The equilibrium.
    """

    def __init__(self, equilibrium: RoundEquilibrium) -> None:
        if equilibrium.sets.deck != RoundDeck():
            raise GameError("equilibrium: it is of another deck, it must be of that of the first round")
        self.equilibrium = equilibrium

    def stay(self, states: np.ndarray) -> np.ndarray:
        """The probability that the player who is asked stays, float64 ``[n]``."""
        stay, found = np.empty(len(states)), self.equilibrium
        tables = (found.last, found.pair_stay, found.three_stay)
        kernels.follow_equilibrium(signed(states), found.sets.arrays, found.sets.places, tables, stay)
        return stay

    def __call__(self, states: np.ndarray, _legal: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """To leave or to stay, in each state."""
        return drawn_answers(self.stay(states), generator)


def drawn_answers(stay: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Answers with these probabilities of staying, int64 ``[n]``."""
    return np.asarray(generator.random(len(stay)) < stay, dtype=np.int64)


@lru_cache(maxsize=1)
def equilibrium_mover() -> EquilibriumMover:
    """The equilibrium of the first round, solved once."""
    return EquilibriumMover(solve_equilibrium(RoundSets()))


def rule_of_thumb(state: IncanGoldState) -> int:
    """Return the answer of the player who is asked."""
    # The second hazard of a kind ends the round, so each kind counts at most once.
    hazards = sum(state.drawn[FIRST_HAZARD:ARTIFACT])
    return LEAVE if state.held[state.seats[len(state.answers)]] >= LEAVE_AT[hazards] else STAY


def player_named(name: str) -> Mover:
    """The player of a name.

    Args:
        name: ``"random"``; ``"leave-at-12"``, who leaves with 12 points or more of the round; the same by hazards on
            the board, ``"leave-at-44-22-8-4-3-2"``; ``"rule-of-thumb"``, which is that rule
            (`LEAVE_AT`); or ``"equilibrium"``.
    """
    found = re.fullmatch(r"leave-at-([1-9][0-9]?(?:-[1-9][0-9]?){0,5})", name, re.ASCII)
    points = [int(each) for each in found[1].split("-")] if found else []
    if len(points) in (1, N_HAZARDS):
        return PolicyMover(threshold_policy(points if len(points) > 1 else points[0]))
    if name == "random":
        return PolicyMover(random_policy())
    if name == "rule-of-thumb":
        return PolicyMover(threshold_policy(LEAVE_AT))
    if name == "equilibrium":
        return equilibrium_mover()
    raise GameError(f"player: {printable(name)!r} is unknown, allowed: {', '.join(NAMES)}, with N from 1 to 99")

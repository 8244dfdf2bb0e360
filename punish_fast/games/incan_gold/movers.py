"""Players of Incan Gold: policies based on points, the equilibrium of the first round, and best responses by threshold.

Players are movers (`contract.Mover`) for `game.VectorIncanGold`. They use only information of the player to move.

In this module, a *policy* is an array with probabilities of staying, float64 ``[3, 6, N_HELD]``. Its indices are the
number of players inside minus one, the number of hazards on the board, and the points collected in the round.

The *best threshold responder* to a player faces two copies of this player, and leaves at a fixed number of points.
Identical deterministic players make identical decisions, so they are easy to exploit. The responder's share of first
places measures the player's exploitability.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from punish_fast.games.contract import GameError, Mover, VectorGame
from punish_fast.games.enumeration.vector_games import filled
from punish_fast.games.episodes import MatchResult, match_of, play_match, returns_in_seat
from punish_fast.games.incan_gold import _movers as kernels
from punish_fast.games.incan_gold.rounds import RoundEquilibrium, RoundSets, solve_equilibrium
from punish_fast.games.incan_gold.state import N_PLAYERS, IncanGoldState, words_of
from punish_fast.runtime.errors import printable

# Length of a policy along the axis of points. Larger numbers of points use the last entry.
N_HELD = 128
N_HAZARDS = 6
_SHAPE = (N_PLAYERS, N_HAZARDS, N_HELD)
# Points in the round at which the rule of thumb leaves, by number of hazards on the board.
LEAVE_AT = (44, 22, 8, 4, 3, 2)
# Thresholds that `best_responder` tries by default.
THRESHOLDS = range(1, 41)
NAMES = ("random", "leave-at-N", "leave-at-N-N-N-N-N-N", "rule-of-thumb", "equilibrium")


@dataclass(frozen=True)
class StayMover:
    """A player with a given probability of staying in each state."""

    stay: Callable[[np.ndarray], np.ndarray]  # returns the probability in each state, float64 [n]

    def __call__(self, states: np.ndarray, _legal: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Return 0 to leave or 1 to stay in each state."""
        return np.asarray(generator.random(len(states)) < self.stay(states), dtype=np.int64)


def threshold_policy(points: int | Sequence[int]) -> np.ndarray:
    """Return the policy that leaves at ``points`` points in the round.

    If ``points`` is a sequence of six numbers, they apply to 0, 1, ..., 5 hazards on the board.
    """
    leaving = np.broadcast_to(np.asarray(points, dtype=np.int64), (N_HAZARDS,))
    return np.broadcast_to(np.arange(N_HELD) < leaving[:, np.newaxis], _SHAPE).astype(np.float64)


def policy_mover(policy: np.ndarray) -> StayMover:
    """Build a player that follows a policy."""
    return StayMover(lambda states: filled(kernels.follow_policy, states, np.float64, rules=(policy,)))


def equilibrium_mover(equilibrium: RoundEquilibrium) -> StayMover:
    """Build a player that follows an equilibrium of the first round in every round.

    The decision depends on the treasures drawn, the number of hazards, the location of the artifact (deck, board or
    taken) and, after a player has left, on the points collected and the treasure on the board. Later rounds are
    approximated: several artifacts in the deck or on the board count as one artifact of value 5. For the last player
    inside, artifacts on the board count at their actual values, and the payoff is limited to the maximum of the first
    round.
    """
    sets = equilibrium.sets
    rules = (sets.arrays, sets.places, (equilibrium.last, equilibrium.pair_stay, equilibrium.three_stay))
    return StayMover(lambda states: filled(kernels.follow_equilibrium, states, np.float64, rules=rules))


def rule_of_thumb(state: IncanGoldState) -> int:
    """Return the rule of thumb's answer, `LEAVE` or `STAY`, if a player has to answer."""
    return int(player_named("rule-of-thumb").stay(words_of(state)[np.newaxis])[0])


@lru_cache(maxsize=64)
def player_named(name: str) -> StayMover:
    """Build a player by name.

    The name is ``"random"``, ``"equilibrium"`` or ``"rule-of-thumb"``, which has the thresholds `LEAVE_AT`. It can also
    contain thresholds: ``"leave-at-12"`` leaves at 12 points in the round, and ``"leave-at-44-22-8-4-3-2"`` has a
    threshold for each number of hazards on the board.
    """
    found = re.fullmatch(r"leave-at-([1-9][0-9]?(?:-[1-9][0-9]?){0,5})", name, re.ASCII)
    points = [int(each) for each in found[1].split("-")] if found else []
    if len(points) in (1, N_HAZARDS):
        return policy_mover(threshold_policy(points if len(points) > 1 else points[0]))
    if name == "random":
        return policy_mover(np.full(_SHAPE, 0.5))
    if name == "rule-of-thumb":
        return policy_mover(threshold_policy(LEAVE_AT))
    if name == "equilibrium":
        return equilibrium_mover(solve_equilibrium(RoundSets()))
    raise GameError(f"player: {printable(name)!r} is unknown; use {', '.join(NAMES)}, with N from 1 to 99")


class ThresholdResponder(NamedTuple):
    """The best threshold responder and its results."""

    leave_at: int  # points in the round at which the responder leaves
    match: MatchResult  # result against two copies of the player, in games that were not used for the selection
    tried: tuple[float, ...]  # share of first places of each threshold in the games used for the selection


def best_responder(
    vector: VectorGame, player: Mover, n_games: int, seed: int = 0, thresholds: Sequence[int] = THRESHOLDS
) -> ThresholdResponder:
    """Find the threshold with the largest share of first places against two copies of a player.

    For the selection, each threshold plays ``n_games / 2`` games, rounded up. All these games are in the first seat,
    because the decisions of players do not depend on their seats. The best threshold then plays a match of ``n_games``
    games (see `episodes.play_match`). The result is free of selection bias, because it does not include the games used
    for the selection.
    """
    movers = [player_named(f"leave-at-{points}") for points in thresholds]
    n = -(-n_games // 2)
    tried = tuple(match_of(returns_in_seat(vector, mover, player, 0, n, 2 * seed)).first for mover in movers)
    best = int(np.argmax(tried))
    match = play_match(vector, movers[best], player, n_games, 2 * seed + 1)
    return ThresholdResponder(thresholds[best], match["all"], tried)

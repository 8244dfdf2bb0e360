"""The best response to any two policies in the first round of Incan Gold, and the best rule of thumb.

`round_response` is exact: backward induction over the states of `incan_gold_equilibrium`, with known probabilities of
the opponents. `best_rule` is the best among rules that leave with so many collected points, as people play; all rules
meet the same cards in many simulated rounds, so that their differences have small errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from punish_fast.games import _incan_gold_responses as kernels
from punish_fast.games import _incan_gold_rounds as rounds
from punish_fast.games.contract import GameError
from punish_fast.games.incan_gold import N_PLAYERS
from punish_fast.games.incan_gold_playouts import N_HAZARDS, check_policy, play_games, threshold_policy
from punish_fast.games.incan_gold_rounds import RoundSets
from punish_fast.runtime.parallel import for_each

# Hardly anybody has collected more than this in a round of three.
_MOST = 40


@dataclass(frozen=True)
class RoundResponse:
    """A best response.

    Attributes:
        points: Its expected points of the round.
        stay: bool ``[n_sets, n_hazards + 1, 2]``, whether it stays while all are inside; last, whether the artifact is
            in the deck.
    """

    points: float
    stay: np.ndarray


class RuleOfThumb(NamedTuple):
    """A rule that leaves with so many collected points.

    Attributes:
        leave_at: The points, by hazards on the board.
        points: The mean of its points in simulated rounds.
        error: The standard error of this mean.
    """

    leave_at: tuple[int, ...]
    points: float
    error: float


def round_response(sets: RoundSets, opponents: Sequence[np.ndarray]) -> RoundResponse:
    """Solve a round against two policies.

    Args:
        sets: The sets of treasures.
        opponents: Two policies, see `incan_gold_playouts`.

    Raises:
        GameError: There are not two opponents, or a policy has no probabilities.
    """
    if len(opponents) != N_PLAYERS - 1:
        raise GameError(f"opponents: {len(opponents)} are not allowed, only {N_PLAYERS - 1}")
    for policy in opponents:
        check_policy(policy)
    of_two = [np.ascontiguousarray(policy[1], dtype=np.float64) for policy in opponents]
    of_three = np.stack([policy[2] for policy in opponents]).astype(np.float64)
    shape = (len(sets.counts), sets.deck.n_hazards + 1, 3)
    last, first, three, stay = (
        np.zeros(sets.n_last),
        np.zeros(sets.n_pair),
        np.zeros((*shape, 2)),
        np.zeros(shape, bool),
    )
    is_same = np.array_equal(of_two[0], of_two[1])
    second = first if is_same else np.zeros(sets.n_pair)
    for layer in sets.layers:
        common = (len(layer), layer, sets.arrays, sets.places)
        for_each(rounds.solve_last, *common, last)
        for_each(kernels.respond_in_pair, *common, of_two[0], last, first)
        if not is_same:
            for_each(kernels.respond_in_pair, *common, of_two[1], last, second)
        for_each(kernels.respond_in_three, *common, of_three, (last, first, second, three), stay)
    begin = rounds.IN_DECK if sets.deck.n_artifacts else rounds.TAKEN
    board = rounds.ON_BOARD if sets.deck.n_artifacts else rounds.TAKEN
    return RoundResponse(float(three[0, 0, begin, 0]), stay[..., board : board + 2])


def best_rule(
    opponents: Sequence[np.ndarray], n_rounds: int = 100_000, seed: int = 0, by_hazards: bool = False
) -> RuleOfThumb:
    """The best rule of thumb against two policies, in simulated rounds.

    Args:
        opponents: Two policies, see `incan_gold_playouts`.
        n_rounds: Rounds to simulate with every rule.
        seed: Random seed of the cards.
        by_hazards: Whether the points may differ with the hazards on the board. One number after the other then takes
            the best of its values, until none improves.
    """

    def tried(leave_at: Sequence[int]) -> RuleOfThumb:
        points = play_games([threshold_policy(leave_at), *opponents], n_rounds, seed, n_rounds=1)[:, 0]
        return RuleOfThumb(tuple(leave_at), float(points.mean()), float(points.std() / np.sqrt(n_rounds)))

    def mean(rule: RuleOfThumb) -> float:
        return rule.points

    best = max((tried([points] * N_HAZARDS) for points in range(1, _MOST + 1)), key=mean)
    while by_hazards:
        before = best
        for hazards in range(N_HAZARDS):
            options = (
                tried([*before.leave_at[:hazards], points, *before.leave_at[hazards + 1 :]])
                for points in range(1, _MOST + 1)
            )
            found = max(options, key=mean)
            before = found if found.points > before.points else before
        if before.points <= best.points:
            break
        best = before
    return best

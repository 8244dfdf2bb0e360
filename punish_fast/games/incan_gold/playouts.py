"""Millions of games of Incan Gold between simple policies.

A *policy* here is the probability of staying by what most people look at: float64 ``[3, 6, N_HELD]``, by the number of
players inside less one, the hazards on the board, and the points collected in the round.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from punish_fast.games.contract import GameError
from punish_fast.games.incan_gold import _playouts as _incan_gold_playouts
from punish_fast.games.incan_gold.game import ARTIFACT_VALUES, N_PLAYERS, IncanGold, IncanGoldVariant
from punish_fast.runtime.parallel import for_each

# Further points do not change what a policy does.
N_HELD = 128
N_HAZARDS = 6
_SHAPE = (N_PLAYERS, N_HAZARDS, N_HELD)


def random_policy(stay: float = 0.5) -> np.ndarray:
    """Stay with a probability."""
    return np.full(_SHAPE, float(stay))


def threshold_policy(points: int | Sequence[int]) -> np.ndarray:
    """Leave with so many points of the round, or with those of the number of hazards on the board, 0 to 5."""
    leaving = np.broadcast_to(np.asarray(points, dtype=np.int64), (N_HAZARDS,))
    return np.broadcast_to(np.arange(N_HELD) < leaving[:, np.newaxis], _SHAPE).astype(np.float64)


def play_games(
    policies: Sequence[np.ndarray], n_games: int, seed: int = 0, artifact_value: str = ARTIFACT_VALUES[0]
) -> np.ndarray:
    """Play games, and count points.

    Args:
        policies: The policy of each player.
        artifact_value: See `incan_gold.IncanGoldVariant`.

    Returns:
        The points of each player, int32 ``[n_games, 3]``.
    """
    if len(policies) != N_PLAYERS:
        raise GameError(f"policies: {len(policies)} are not allowed, only {N_PLAYERS}")
    is_by_taking = IncanGold(IncanGoldVariant(artifact_value)).is_by_taking
    points = np.empty((n_games, N_PLAYERS), dtype=np.int32)
    stay = np.stack([_limits(policy) for policy in policies])
    for_each(_incan_gold_playouts.play_temple_games, n_games, np.uint64(seed), stay, is_by_taking, points)
    return points


def check_policy(policy: np.ndarray) -> None:
    """Check that an array is a policy."""
    if policy.shape != _SHAPE:
        raise GameError(f"policy: its shape is {policy.shape}, it must be {_SHAPE}")
    if not ((policy >= 0) & (policy <= 1)).all():
        raise GameError("policy: some numbers are no probabilities, they must be from 0 to 1")


def _limits(policy: np.ndarray) -> np.ndarray:
    """How many random words of 32 bits make a player stay."""
    check_policy(policy)
    return np.rint(policy * 2.0**32).astype(np.uint64)

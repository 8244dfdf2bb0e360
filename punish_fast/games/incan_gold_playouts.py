"""Millions of games of Incan Gold between simple policies.

A *policy* here is the probability of staying by what most people look at: float64 ``[3, 6, N_HELD]``, by the number of
players inside less one, the hazards on the board, and the points collected in the round. One to three players may play.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from punish_fast.games import _incan_gold
from punish_fast.games.contract import GameError
from punish_fast.games.incan_gold import ARTIFACT_VALUES, N_PLAYERS, N_ROUNDS
from punish_fast.runtime.parallel import for_each

# Further points do not change what a policy does.
N_HELD = _incan_gold.N_HELD
N_HAZARDS = 6
_SHAPE = (N_PLAYERS, N_HAZARDS, N_HELD)
# As many cards and answers as a game can have.
_LONGEST = 2 * N_ROUNDS * _incan_gold.ROOM


def random_policy(stay: float = 0.5) -> np.ndarray:
    """Stay with a probability."""
    return np.full(_SHAPE, float(stay))


def threshold_policy(points: int | Sequence[int]) -> np.ndarray:
    """Leave with so many points of the round, or with those of the number of hazards on the board, 0 to 5."""
    leaving = np.broadcast_to(np.asarray(points, dtype=np.int64), (N_HAZARDS,))
    return np.broadcast_to(np.arange(N_HELD) < leaving[:, np.newaxis], _SHAPE).astype(np.float64)


def play_games(
    policies: Sequence[np.ndarray],
    n_games: int,
    seed: int = 0,
    n_rounds: int = N_ROUNDS,
    artifact_value: str = ARTIFACT_VALUES[0],
) -> np.ndarray:
    """Play games, and count points.

    Args:
        policies: The policy of each player.
        n_games: Number of games.
        seed: Random seed.
        n_rounds: Rounds of each game.
        artifact_value: See `incan_gold.IncanGoldVariant`.

    Returns:
        The points of each player, int32 ``[n_games, n_players]``.

    Raises:
        GameError: There are no or too many players or rounds, or a policy has no probabilities.
    """
    return _played(policies, np.empty((n_games, 0), dtype=np.int8), seed, n_rounds, artifact_value)


def record_games(
    policies: Sequence[np.ndarray], n_games: int, seed: int = 0, artifact_value: str = ARTIFACT_VALUES[0]
) -> tuple[np.ndarray, list[list[int]]]:
    """Play games like `play_games`, and tell the actions of `incan_gold.IncanGold`.

    Returns:
        The points, and the actions of every game: cards and answers.
    """
    log = np.empty((n_games, _LONGEST), dtype=np.int8)
    points = _played(policies, log, seed, N_ROUNDS, artifact_value)
    return points, [_actions(row, len(policies)) for row in log.tolist()]


def _played(
    policies: Sequence[np.ndarray], log: np.ndarray, seed: int, n_rounds: int, artifact_value: str
) -> np.ndarray:
    if not 1 <= len(policies) <= N_PLAYERS:
        raise GameError(f"policies: {len(policies)} are not allowed, only 1 to {N_PLAYERS}")
    if not 1 <= n_rounds <= N_ROUNDS:
        raise GameError(f"n_rounds: {n_rounds} is not allowed, it must be from 1 to {N_ROUNDS}")
    if artifact_value not in ARTIFACT_VALUES:
        raise GameError(f"artifact_value: {artifact_value!r} is not allowed, only {' or '.join(ARTIFACT_VALUES)}")
    points = np.empty((len(log), len(policies)), dtype=np.int32)
    stay = np.stack([_limits(policy) for policy in policies])
    for_each(
        _incan_gold.play_temple_games, len(log), np.uint64(seed), stay, n_rounds, artifact_value == "taken", points, log
    )
    return points


def check_policy(policy: np.ndarray) -> None:
    """Check that an array is a policy.

    Raises:
        GameError: It has another shape, or numbers that are no probabilities.
    """
    if policy.shape != _SHAPE:
        raise GameError(f"policy: its shape is {policy.shape}, it must be {_SHAPE}")
    if not ((policy >= 0) & (policy <= 1)).all():
        raise GameError("policy: some numbers are no probabilities, they must be from 0 to 1")


def _limits(policy: np.ndarray) -> np.ndarray:
    """How many random words of 32 bits make a player stay."""
    check_policy(policy)
    return np.rint(policy * 2.0**32).astype(np.uint64)


def _actions(log: list[int], n_players: int) -> list[int]:
    """The actions of a log; who is inside follows from who has left."""
    actions: list[int] = []
    inside, hazards = list(range(n_players)), set()
    for entry in log:
        if entry < 0:
            break
        if entry >= _incan_gold.FIRST_ANSWER:
            leavers = entry - _incan_gold.FIRST_ANSWER
            actions += [int(not (leavers >> player) & 1) for player in inside]
            inside = [player for player in inside if not (leavers >> player) & 1]
        else:
            is_last = entry in hazards
            actions.append(entry)
            if _incan_gold.FIRST_HAZARD <= entry < _incan_gold.ARTIFACT:
                hazards.add(entry)
            if is_last:
                inside = []
        if not inside:
            inside, hazards = list(range(n_players)), set()
    return actions

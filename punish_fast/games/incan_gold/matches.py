"""Matches of Incan Gold: the strength of a player by many whole games, and how well a simple opponent can exploit it.

In a *match* a player sits among two equal opponents, in each seat equally often. Players who share the first place
neither win nor lose; the *share of first places* counts them as 1/2 or 1/3, so 1/3 is even.

The *best threshold responder* to a player meets two copies of it, and leaves with a fixed number of points. Identical
deterministic players make identical decisions, which makes them easy to exploit: the responder's share of first places
measures how much can be gained from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from punish_fast.games.contract import Mover, VectorGame
from punish_fast.games.incan_gold.players import player_named
from punish_fast.games.learn.episodes import MatchResult, match_of, returns_in_seat

# The numbers of points that responders try.
THRESHOLDS = range(1, 41)


class ThresholdResponder(NamedTuple):
    """The best threshold responder."""

    leave_at: int  # points with which it leaves
    match: MatchResult  # games against two copies of the player, others than those that chose it
    tried: tuple[float, ...]  # shares of first places of all `THRESHOLDS` in the games that chose it


def play_match(vector: VectorGame, player: Mover, opponent: Mover, n_games: int, seed: int = 0) -> MatchResult:
    """Play a player against two copies of an opponent.

    Args:
        n_games: Number of games, rounded up so that each seat comes equally often.
        seed: Random seed. Matches with the same seed begin with the same cards.
    """
    n, seats = -(-n_games // vector.game.n_players), range(vector.game.n_players)
    return match_of(np.concatenate([returns_in_seat(vector, player, opponent, seat, n, seed) for seat in seats]))


def best_responder(
    vector: VectorGame, player: Mover, n_games: int, seed: int = 0, thresholds: Sequence[int] = THRESHOLDS
) -> ThresholdResponder:
    """The threshold that takes the most first places from two copies of a player.

    Args:
        n_games: Number of games of the best threshold, as in `play_match`. Each is tried in half as many others, always
            in the first seat, since players do not know their seats. The luck of these games is no part of the result.
        thresholds: The numbers of points to try.
    """
    movers = [player_named(f"leave-at-{points}") for points in thresholds]
    n = -(-n_games // 2)
    tried = tuple(match_of(returns_in_seat(vector, mover, player, 0, n, 2 * seed)).first for mover in movers)
    best = int(np.argmax(tried))
    return ThresholdResponder(thresholds[best], play_match(vector, movers[best], player, n_games, 2 * seed + 1), tried)

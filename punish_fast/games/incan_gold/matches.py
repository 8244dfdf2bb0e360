"""Matches of Incan Gold, which measure the strength and the exploitability of a player.

In a *match*, a player faces two identical opponents, in each seat equally often. Players who tie for first place
neither win nor lose; the *share of first places* counts them as 1/2 or 1/3, so 1/3 is even.

The *best threshold responder* to a player faces two copies of it, and leaves at a fixed number of points. Identical
deterministic players make identical decisions, which makes them easy to exploit. The responder's share of first places
measures this exploitability.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from punish_fast.games.contract import Mover, VectorGame
from punish_fast.games.incan_gold.players import player_named
from punish_fast.games.learn.episodes import MatchResult, match_of, returns_in_seat

# Thresholds that are tried by default.
THRESHOLDS = range(1, 41)


class ThresholdResponder(NamedTuple):
    """The best threshold responder."""

    leave_at: int  # points at which the responder leaves
    match: MatchResult  # games against two copies of the player, independent of the selection
    tried: tuple[float, ...]  # share of first places of each threshold in the games used for selection


def play_match(vector: VectorGame, player: Mover, opponent: Mover, n_games: int, seed: int = 0) -> MatchResult:
    """Play a player against two copies of an opponent.

    Args:
        n_games: Number of games, rounded up so that the player has each seat equally often.
        seed: Random seed. Matches with the same seed start with the same cards.
    """
    n, seats = -(-n_games // vector.game.n_players), range(vector.game.n_players)
    return match_of(np.concatenate([returns_in_seat(vector, player, opponent, seat, n, seed) for seat in seats]))


def best_responder(
    vector: VectorGame, player: Mover, n_games: int, seed: int = 0, thresholds: Sequence[int] = THRESHOLDS
) -> ThresholdResponder:
    """Find the threshold with the largest share of first places against two copies of a player.

    The games that select the threshold are not part of the result, which is therefore free of selection bias.

    Args:
        n_games: Number of games of the best threshold, as in `play_match`. For the selection, each threshold plays half
            this number of games, all in the first seat because players do not know their seats.
        thresholds: Numbers of points to try.
    """
    movers = [player_named(f"leave-at-{points}") for points in thresholds]
    n = -(-n_games // 2)
    tried = tuple(match_of(returns_in_seat(vector, mover, player, 0, n, 2 * seed)).first for mover in movers)
    best = int(np.argmax(tried))
    return ThresholdResponder(thresholds[best], play_match(vector, movers[best], player, n_games, 2 * seed + 1), tried)

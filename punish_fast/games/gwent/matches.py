"""Matches of Gwent Lite, which measure the strength of a player against an opponent."""

from __future__ import annotations

import numpy as np

from punish_fast.games.contract import Mover, VectorGame
from punish_fast.games.learn.episodes import MatchResult, match_of, returns_in_seat


def play_duels(
    vector: VectorGame, player: Mover, opponent: Mover, n_games: int, seed: int = 0
) -> dict[str, MatchResult]:
    """Play a match between two players.

    Args:
        n_games: Number of games, rounded up so that the player has each seat equally often.
        seed: Random seed. Matches with the same seed and decks start with the same cards.

    Returns:
        Results of the player by seat: ``first``, ``second`` and ``both``.
    """
    n = -(-n_games // 2)
    first, second = (returns_in_seat(vector, player, opponent, seat, n, seed) for seat in range(2))
    seats = {"first": first, "second": second, "both": np.concatenate([first, second])}
    return {seat: match_of(returns) for seat, returns in seats.items()}

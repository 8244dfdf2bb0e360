"""How strong a player of Gwent Lite is, by many games against another one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.games.contract import Mover, VectorGame
from punish_fast.games.learn.episodes import play_out

# Up to 100 cards of each random deck, 30 draws, 30 cards played and 3 passes of each player, and who begins.
_MAX_PLIES = 400


class DuelMatch(NamedTuple):
    """Result of one player's games against another. Shares are fractions of all games."""

    games: int  # number of games
    win: float  # share of games won
    tie: float  # share of ties
    loss: float  # share of games lost
    errors: tuple[float, ...]  # standard errors of these shares


class SeatMatches(NamedTuple):
    """The results of a player in each seat, and in both."""

    first: DuelMatch
    second: DuelMatch
    both: DuelMatch


def play_duels(vector: VectorGame, player: Mover, opponent: Mover, n_games: int, seed: int = 0) -> SeatMatches:
    """Play a player against an opponent.

    Args:
        n_games: Number of games, rounded up so that each seat comes equally often.
        seed: Random seed. Matches with the same seed and decks begin with the same cards.
    """
    n = -(-n_games // 2)
    first = _returns(vector, (player, opponent), n, [seed, 0])[:, 0]
    second = _returns(vector, (opponent, player), n, [seed, 1])[:, 1]
    return SeatMatches(duel_match_of(first), duel_match_of(second), duel_match_of(np.concatenate([first, second])))


def _returns(vector: VectorGame, movers: tuple[Mover, Mover], n_games: int, seed: list[int]) -> np.ndarray:
    return play_out(vector, movers, n_games, np.random.default_rng(seed), _MAX_PLIES)


def duel_match_of(returns: np.ndarray) -> DuelMatch:
    """The match of games with these returns of the player: 1, 0 or -1."""
    shares = (returns > 0, returns == 0, returns < 0)
    win, tie, loss = (float(np.mean(share)) for share in shares)
    errors = tuple(float(np.std(share) / np.sqrt(len(returns))) for share in shares)
    return DuelMatch(len(returns), win, tie, loss, errors)

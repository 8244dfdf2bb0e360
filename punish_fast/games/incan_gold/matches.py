"""How strong a player of Incan Gold is, by many whole games, and how well a simple opponent can exploit it.

In a *match* a player sits among two equal opponents, in each seat equally often. Players who share the first place have
not won alone, but none of them has lost; the *share of first places* counts them as 1/2 or 1/3, so 1/3 is even.

The *best threshold responder* to a player meets two copies of it, and leaves with some fixed number of points. Equal
players who never mix decide alike and take their points together, so a responder knows them well: its share of first
places tells how much is to be gained from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from punish_fast.games.contract import Mover, VectorGame
from punish_fast.games.incan_gold.players import player_named
from punish_fast.games.learn.episodes import play_out

# The numbers of points that responders try.
THRESHOLDS = range(1, 41)
# Five rounds of at most 25 cards and the answers of three players.
_MAX_PLIES = 500


class TempleMatch(NamedTuple):
    """Result of one player's games against two opponents. Shares are fractions of all games."""

    games: int  # number of games
    win: float  # share of games in which the player was the only winner
    tie: float  # share of games in which it shared the first place
    loss: float  # share of games that others won
    first: float  # share of first places
    errors: tuple[float, ...]  # standard errors of these four shares


class ThresholdResponder(NamedTuple):
    """The best threshold responder."""

    leave_at: int  # points with which it leaves
    match: TempleMatch  # games against two copies of the player, others than those that chose it
    tried: tuple[float, ...]  # shares of first places of all `THRESHOLDS` in the games that chose it


def play_match(vector: VectorGame, player: Mover, opponent: Mover, n_games: int, seed: int = 0) -> TempleMatch:
    """Play a player against two copies of an opponent.

    Args:
        n_games: Number of games, rounded up so that each seat comes equally often.
        seed: Random seed. Matches with the same seed begin with the same cards.
    """
    seats = range(vector.game.n_players)
    n = -(-n_games // len(seats))
    return match_of(np.concatenate([_returns(vector, (player, opponent), seat, n, seed) for seat in seats]))


def _returns(vector: VectorGame, pair: tuple[Mover, Mover], seat: int, n_games: int, seed: int) -> np.ndarray:
    """The returns of games of a player in a seat and two copies of another, the player first."""
    movers = [pair[1]] * vector.game.n_players
    movers[seat] = pair[0]
    returns = play_out(vector, movers, n_games, np.random.default_rng([seed, seat]), _MAX_PLIES)
    return np.roll(returns, -seat, axis=1)


def match_of(returns: np.ndarray) -> TempleMatch:
    """The match of games with these returns.

    Args:
        returns: ``[n, n_players]``, those of the player first: 1 for a winner alone, 0 for a shared first place, -1.
    """
    own, n_first = returns[:, 0], (returns >= 0).sum(axis=1)
    shares = (own > 0, own == 0, own < 0, (own >= 0) / n_first)
    means = [float(np.mean(share)) for share in shares]
    errors = tuple(float(np.std(share) / np.sqrt(len(own))) for share in shares)
    return TempleMatch(len(own), means[0], means[1], means[2], means[3], errors)


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
    tried = tuple(match_of(_returns(vector, (mover, player), 0, n, 2 * seed)).first for mover in movers)
    best = int(np.argmax(tried))
    return ThresholdResponder(thresholds[best], play_match(vector, movers[best], player, n_games, 2 * seed + 1), tried)

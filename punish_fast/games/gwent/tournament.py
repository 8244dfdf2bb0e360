"""Tournaments of decks of Gwent Lite: what each deck wins more than it loses, and how much of that is luck.

In a round-robin each of ``n`` decks meets each other one in ``m`` games, half of them in either seat, all played by the
same policy. The fitness of a deck is its mean over ``m (n - 1)`` games of 1, 0 or -1 for a win, a tie or a loss. With
``v`` the variance of a game between two given decks, its standard error is ``e = sqrt(v / (m (n - 1)))``; ``v`` is
estimated from the differences between the games of the same two decks, so neither the strength of decks nor who beats
whom adds to it.

Fitnesses scatter for two reasons: decks differ, and games are luck. What one deck wins by luck another one loses, so
luck alone makes their variance ``e^2 n / (n - 1)`` on average. The *spread*, the standard deviation of the decks' true
strengths, is the root of what is left of the variance, 0 if nothing is. A choice of the best by fitness picks strong
decks rather than lucky ones if the spread is above the standard error: then more than half of the variance is strength.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from punish_fast.games.contract import GameError
from punish_fast.games.gwent.decks import random_decks
from punish_fast.games.gwent.players import play_games

# Games that are played in one go; further ones have a random seed of their own.
_MOST_AT_ONCE = 1 << 20

OnGames = Callable[[int, int], None]


class RoundRobin(NamedTuple):
    """The result of a round-robin, in whole numbers."""

    points: np.ndarray  # Wins less losses of each deck, int64 ``[n_decks]``.
    games: int  # Games of each two decks.
    decided: int  # Number of games that were not ties.
    pair_squares: int  # Sum over pairs of decks of the squared difference of wins.

    @property
    def fitness(self) -> np.ndarray:
        """The mean of wins less losses of each deck, float64 ``[n_decks]``."""
        result: np.ndarray = self.points / (self.games * (len(self.points) - 1))
        return result

    @property
    def error(self) -> float:
        """The standard error of one fitness."""
        n = len(self.points)
        n_pairs = n * (n - 1) // 2
        variance = (self.decided - self.pair_squares / self.games) / (n_pairs * (self.games - 1))
        return math.sqrt(max(variance, 0.0) / (self.games * (n - 1)))

    @property
    def strength_variance(self) -> float:
        """The estimated variance of the true strengths; without bias, so it may be below 0."""
        n = len(self.points)
        return float(self.fitness.var(ddof=1)) - self.error**2 * n / (n - 1)

    @property
    def spread(self) -> float:
        """The estimated standard deviation of the true strengths, 0 if nothing is left of their variance."""
        return math.sqrt(max(self.strength_variance, 0.0))


class FreshGames(NamedTuple):
    """The results of games against random decks, one for each game."""

    games: int  # The number of games.
    wins: int  # Games won.
    losses: int  # Games lost.

    @property
    def strength(self) -> float:
        """The mean of wins less losses."""
        return (self.wins - self.losses) / self.games

    @property
    def error(self) -> float:
        """The standard error of the strength."""
        return math.sqrt(max((self.wins + self.losses) / self.games - self.strength**2, 0.0) / self.games)


def play_round_robin(
    decks: np.ndarray, policy: str, games: int, seed: int, on_games: OnGames | None = None
) -> RoundRobin:
    """Let each deck meet each other one.

    Args:
        decks: Integers ``[n_decks, width]``, with zeros behind the last card.
        policy: One of `players.POLICIES`, for both players.
        games: Games of each two decks, an even number; each deck has either seat in half of them.
        on_games: Called with the games that are done, and how many there are in all.
    """
    if len(decks) < 2:
        raise GameError(f"decks: {len(decks)} are not enough, there must be at least 2")
    if games < 2 or games % 2:
        raise GameError(f"games: {games} is not allowed, it must be an even number of at least 2")
    first, second = np.triu_indices(len(decks), k=1)
    # Game k of a pass has the decks k of this: every pair in one order, then every pair in the other.
    seated = np.stack([decks[np.append(first, second)], decks[np.append(second, first)]], axis=1)
    won, decided = np.zeros(len(first), dtype=np.int64), 0
    passes, per_batch = games // 2, max(_MOST_AT_ONCE // len(seated), 1)
    seeds = np.random.SeedSequence(seed).generate_state(-(-passes // per_batch), np.uint64)
    for k, batch_seed in enumerate(seeds.tolist()):
        n = min(per_batch, passes - k * per_batch)
        returns = play_games(seated, (policy, policy), n * len(seated), batch_seed).returns.reshape(n, 2, len(first))
        won += returns[:, 0].sum(axis=0, dtype=np.int64) - returns[:, 1].sum(axis=0, dtype=np.int64)
        decided += int(np.count_nonzero(returns))
        if on_games is not None:
            on_games((k * per_batch + n) * len(seated), passes * len(seated))
    points = np.zeros(len(decks), dtype=np.int64)
    np.add.at(points, first, won)
    np.subtract.at(points, second, won)
    return RoundRobin(points, games, decided, int((won**2).sum()))


def play_random_decks(decks: np.ndarray, policy: str, n_games: int, seed: int) -> FreshGames:
    """Let decks meet random ones, in turn, a new one in every game; in every other game they have the second seat.

    Args:
        decks: Integers ``[n_decks, width]``, with zeros behind the last card.
        policy: One of `players.POLICIES`, for both players.
        n_games: Number of games of all decks together.
        seed: Random seed, of the random decks, too.
    """
    if n_games < 1:
        raise GameError(f"n_games: {n_games} is not allowed, it must be at least 1")
    generator, game = np.random.default_rng([seed, 1]), np.arange(n_games)
    others = random_decks(generator, n_games)
    width = max(decks.shape[1], others.shape[1])
    seated = np.zeros((n_games, 2, width), dtype=np.int8)
    seat = game // len(decks) % 2
    seated[game, seat, : decks.shape[1]] = decks[game % len(decks)]
    seated[game, 1 - seat, : others.shape[1]] = others
    returns = play_games(seated, (policy, policy), n_games, seed).returns * (1 - 2 * seat)
    return FreshGames(n_games, int((returns > 0).sum()), int((returns < 0).sum()))

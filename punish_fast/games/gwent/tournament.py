"""Tournaments of Gwent Lite decks, which measure the fitness of each deck and the contribution of luck to fitness.

In a round-robin, each pair of the ``n`` decks plays ``m`` games, half of them with swapped seats. The same policy plays
all decks. The fitness of a deck is its mean result over ``m (n - 1)`` games, with 1 for a win, 0 for a tie and -1 for a
loss. If ``v`` is the variance of the result of a game between two given decks, the standard error of the fitness is
``e = sqrt(v / (m (n - 1)))``. The estimate of ``v`` uses the variation among the games of each pair, so it includes
neither differences in strength nor intransitivity.

Fitness varies because decks differ in strength and because games are random. Luck that favors one deck hurts its
opponent, so the variance of fitness due to luck is ``e^2 n / (n - 1)`` on average. The *spread*, which estimates the
standard deviation of true strengths, is the square root of the remaining variance, or 0 if the remaining variance is
negative. If the spread exceeds the standard error, more than half of the variance is due to strength, so selection by
fitness favors strong decks over lucky ones.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from punish_fast.games.gwent.decks import random_decks
from punish_fast.games.gwent.players import play_games

# Maximum number of games per batch. Each batch has its own random seed.
_MOST_AT_ONCE = 1 << 20

OnGames = Callable[[int, int], None]


class RoundRobin(NamedTuple):
    """Results of a round-robin, stored as integers."""

    points: np.ndarray  # Wins minus losses of each deck, int64 ``[n_decks]``.
    games: int  # Number of games per pair of decks.
    decided: int  # Number of games that were not ties.
    pair_squares: int  # Sum over all pairs of decks of the squared difference between their wins.

    @property
    def fitness(self) -> np.ndarray:
        """Wins minus losses per game of each deck, float64 ``[n_decks]``."""
        return np.asarray(self.points / (self.games * (len(self.points) - 1)))

    @property
    def error(self) -> float:
        """Standard error of a deck's fitness."""
        n = len(self.points)
        n_pairs = n * (n - 1) // 2
        variance = (self.decided - self.pair_squares / self.games) / (n_pairs * (self.games - 1))
        return math.sqrt(max(variance, 0.0) / (self.games * (n - 1)))

    @property
    def strength_variance(self) -> float:
        """Unbiased estimate of the variance of true strengths; may be negative."""
        n = len(self.points)
        return float(self.fitness.var(ddof=1)) - self.error**2 * n / (n - 1)

    @property
    def spread(self) -> float:
        """Estimated standard deviation of true strengths; 0 if the estimated variance is negative."""
        return math.sqrt(max(self.strength_variance, 0.0))


class FreshGames(NamedTuple):
    """Results of games against random decks, with a new deck in each game."""

    games: int
    wins: int
    losses: int

    @property
    def strength(self) -> float:
        """Wins minus losses per game."""
        return (self.wins - self.losses) / self.games

    @property
    def error(self) -> float:
        """Standard error of the strength."""
        return math.sqrt(max((self.wins + self.losses) / self.games - self.strength**2, 0.0) / self.games)


def play_round_robin(
    decks: np.ndarray, policy: str, games: int, seed: int, on_games: OnGames | None = None
) -> RoundRobin:
    """Run a round-robin tournament of decks, integers ``[n_decks, width]``, padded with zeros.

    ``policy``, one of `players.POLICIES`, plays both seats. ``games`` is the number of games per pair, which must be
    even; decks swap seats in half of these games. ``on_games`` is called with the number of games done and the total.
    """
    first, second = np.triu_indices(len(decks), k=1)
    # In each pass, every pair plays one game in each order of seats.
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
    """Play decks, integers ``[n_decks, width]``, in turn against random decks; each game has a new random deck."""
    generator, game = np.random.default_rng([seed, 1]), np.arange(n_games)
    others = random_decks(generator, n_games)
    width = max(decks.shape[1], others.shape[1])
    seated = np.zeros((n_games, 2, width), dtype=np.int8)
    seat = game // len(decks) % 2
    seated[game, seat, : decks.shape[1]] = decks[game % len(decks)]
    seated[game, 1 - seat, : others.shape[1]] = others
    returns = play_games(seated, (policy, policy), n_games, seed).returns * (1 - 2 * seat)
    return FreshGames(n_games, int((returns > 0).sum()), int((returns < 0).sum()))

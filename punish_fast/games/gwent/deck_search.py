"""Genetic search for decks of Gwent Lite.

A *pool* contains a fixed number of decks with 25 cards, initially random. In each generation, the decks play a
round-robin tournament. The same policy plays both seats. The next pool consists of

1. *survivors*: the decks with the highest fitness, best first,
2. *offspring* of randomly chosen survivors: a normal deviate is added to each card, and the deck is repaired,
3. *newcomers*: random decks.

The decks of a pool are distinct. Fitness depends partly on luck, and is relative to a pool that becomes stronger over
time. The strength of the survivors is therefore measured against random decks, in separate games that do not affect
selection.

Random numbers are derived from the random seed, the index of the generation and their purpose, so the generations of a
short search are the first generations of a longer search with the same seed.

**Fitness and luck.** In a round-robin, each pair of the ``n`` decks plays ``m`` games, half of them with swapped seats.
The fitness of a deck is its mean result over ``m (n - 1)`` games, with 1 for a win, 0 for a tie and -1 for a loss. If
the result of a game between two given decks has variance ``v``, the standard error of the fitness is
``e = sqrt(v / (m (n - 1)))``. The estimate of ``v`` uses only the variation among the games of each pair, so
differences in strength do not affect it.

Fitness varies because decks differ in strength and because games are random. Luck that favors one deck hurts its
opponent, so the variance of fitness due to luck is ``e^2 n / (n - 1)`` on average. The *spread*, which estimates the
standard deviation of true strengths, is the square root of the remaining variance, or 0 if the remaining variance is
negative. If the spread is much greater than the standard error, most of the variance is due to strength, so selection
by fitness favors strong decks over lucky decks.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from punish_fast.games.gwent.decks import MIN_CARDS, deck_rows, random_decks, repaired_deck
from punish_fast.games.gwent.movers import POLICIES, play_games
from punish_fast.games.learn.hyperparameters import CheckedMethod, LearnError, hyperparameter
from punish_fast.games.learn.trainer import check_seed
from punish_fast.runtime.errors import brief, check_allowed, is_whole

# Maximum number of games per batch. Each batch has its own random seed.
_MOST_AT_ONCE = 1 << 20

OnGames = Callable[[int, int], None]


class RoundRobin(NamedTuple):
    """Results of a round-robin tournament as integers."""

    points: np.ndarray  # Wins minus losses of each deck, int64 ``[n_decks]``.
    games: int  # Number of games per pair of decks.
    decided: int  # Number of games that were not ties.
    pair_squares: int  # Squared difference between the wins of two decks, summed over all pairs.

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
        """Unbiased estimate of the true strengths' variance. It may be negative."""
        n = len(self.points)
        return float(self.fitness.var(ddof=1)) - self.error**2 * n / (n - 1)

    @property
    def spread(self) -> float:
        """Estimated standard deviation of true strengths, or 0 if the estimated variance is negative."""
        return math.sqrt(max(self.strength_variance, 0.0))


class FreshStrength(NamedTuple):
    """Result of games against random decks, with a new deck in each game."""

    strength: float  # Wins minus losses per game.
    error: float  # Standard error of the strength.


def play_round_robin(
    decks: np.ndarray, policy: str, games: int, seed: int, on_games: OnGames | None = None
) -> RoundRobin:
    """Run a round-robin tournament of decks, integers ``[n_decks, width]``, padded with zeros.

    ``policy``, one of `movers.POLICIES`, plays both seats. ``games``, an even number, is the number of games per pair.
    Decks swap seats in half of these games. ``on_games`` is called with the number of games done and the total.
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


def play_random_decks(decks: np.ndarray, policy: str, n_games: int, seed: int) -> FreshStrength:
    """Play ``n_games`` games with ``decks``, integers ``[n_decks, width]``, in rotation.

    Every opponent is a new random deck.
    """
    generator, game = np.random.default_rng([seed, 1]), np.arange(n_games)
    others = random_decks(generator, n_games)
    width = max(decks.shape[1], others.shape[1])
    seated = np.zeros((n_games, 2, width), dtype=np.int8)
    seat = game // len(decks) % 2
    seated[game, seat, : decks.shape[1]] = decks[game % len(decks)]
    seated[game, 1 - seat, : others.shape[1]] = others
    returns = play_games(seated, (policy, policy), n_games, seed).returns * (1 - 2 * seat)
    strength, decided = float(returns.mean()), float(np.abs(returns).mean())
    return FreshStrength(strength, math.sqrt(max(decided - strength**2, 0.0) / n_games))


MAX_GENERATIONS = 100_000
# Number of games against random decks for each measurement of strength.
FRESH_GAMES = 40_000
# Purposes of random numbers. Seeds are derived from them.
_BREEDING, _TOURNAMENT, _SURVIVORS, _BEST = range(4)


@dataclass(frozen=True)
class SearchMethod(CheckedMethod):
    """Settings of a deck search."""

    pool: int = hyperparameter(50, (2, 1000), "Number of decks in each generation.")
    games: int = hyperparameter(400, (2, 1_000_000), "Even number of games per pair of decks in each generation.")
    survivors: int = hyperparameter(10, (1, 999), "Number of fittest decks that survive.")
    newcomers: int = hyperparameter(5, (0, 999), "Number of random decks added to each generation.")
    # With a much smaller deviation, most decks would not change after rounding.
    deviation: float = hyperparameter(0.7, (0.3, 100.0), "Standard deviation of changes to the cards of offspring.")
    player: str = hyperparameter("rule-of-thumb", POLICIES[::-1], "Policy that plays both seats in all games.")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_allowed(self.games % 2 == 0, LearnError, "games", self.games, "even, since decks swap seats")
        if self.survivors + self.newcomers > self.pool or self.survivors == self.pool:
            told = f"{self.survivors} survivors and {self.newcomers} newcomers"
            raise LearnError(f"pool: {told} do not fit into a pool of {self.pool}; at least one deck must be new")


class Generation(NamedTuple):
    """A pool and the results of its tournament."""

    decks: np.ndarray  # int8 [n_decks, 25], the decks of the pool, each in ascending order
    tournament: RoundRobin
    fresh: FreshStrength  # strength of the survivors


@dataclass(eq=False)
class DeckSearch:
    """A deck search and its generations so far."""

    method: SearchMethod
    seed: int = 0
    history: list[Generation] = field(default_factory=list)

    def __post_init__(self) -> None:
        check_seed(self.seed)


def run_search(
    search: DeckSearch,
    n_generations: int,
    on_generation: Callable[[int, int], None] | None = None,
    on_games: OnGames | None = None,
) -> None:
    """Continue a search until its history contains ``n_generations`` generations.

    ``on_generation`` is called with the number of generations done and the total. ``on_games`` is called with the
    number of games done in the current tournament and their total.
    """
    if not is_whole(n_generations, 1, MAX_GENERATIONS):
        allowed = f"it must be a whole number from 1 to {MAX_GENERATIONS}"
        raise LearnError(f"generations: {brief(n_generations)} is not allowed; {allowed}")
    while len(search.history) < n_generations:
        search.history.append(_next_generation(search, on_games))
        if on_generation is not None:
            on_generation(len(search.history), n_generations)


def best_decks(search: DeckSearch, n: int) -> list[dict[str, Any]]:
    """Return the ``n`` fittest decks of the last generation, with their strengths against random decks.

    The keys are ``deck`` (cards in ascending order), ``text``, ``since`` (index of the generation in which the deck
    joined the pool), ``strength`` (wins minus losses per game), its standard error ``strength_error``, and
    ``fresh_games`` (number of games against random decks).
    """
    last, number, found = search.history[-1], len(search.history) - 1, []
    for rank, place in enumerate(ranking(last.tournament.points)[:n]):
        deck = last.decks[place]
        seed = _seed(search, _BEST, number, rank)
        strength, error = play_random_decks(deck[np.newaxis], search.method.player, FRESH_GAMES, seed)
        about = {"deck": deck.tolist(), "text": deck_text(deck), "since": first_seen(search, deck)}
        found.append(about | {"strength": strength, "strength_error": error, "fresh_games": FRESH_GAMES})
    return found


def ranking(points: np.ndarray) -> np.ndarray:
    """Return the indices of decks in descending order of points. Tied decks keep their order."""
    return np.asarray(np.argsort(-points, kind="stable"))


def random_pool(method: SearchMethod, generator: np.random.Generator) -> np.ndarray:
    """Return the initial pool, int8 ``[n_decks, 25]``."""
    return _with_newcomers({}, method.pool, generator)


def next_pool(
    method: SearchMethod, decks: np.ndarray, points: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """Return the next pool, int8 ``[n_decks, 25]``: survivors (best first), offspring and newcomers.

    ``decks``, integers ``[n_decks, 25]``, is the current pool. ``points``, ``[n_decks]``, contains the points of each
    deck in its tournament.
    """
    parents = decks[ranking(points)[: method.survivors]]
    pool = dict.fromkeys(map(tuple, parents.tolist()))
    while len(pool) < method.pool - method.newcomers:
        parent = parents[generator.integers(len(parents))]
        # The loop continues after a duplicate, because a duplicate does not enlarge the pool.
        pool[repaired_deck((parent + generator.normal(0, method.deviation, len(parent))).tolist())] = None
    return _with_newcomers(pool, method.pool, generator)


def _with_newcomers(pool: dict[tuple[int, ...], None], n_decks: int, generator: np.random.Generator) -> np.ndarray:
    """Add random decks to ``pool`` until it has ``n_decks`` decks, and return all, int8 ``[n_decks, 25]``."""
    while len(pool) < n_decks:
        pool[tuple(random_decks(generator, 1, MIN_CARDS)[0].tolist())] = None
    return deck_rows(list(pool))


def _next_generation(search: DeckSearch, on_games: OnGames | None) -> Generation:
    number, method = len(search.history), search.method
    generator = np.random.default_rng(_seed(search, _BREEDING, number))
    if number == 0:
        decks = random_pool(method, generator)
    else:
        last = search.history[-1]
        decks = next_pool(method, last.decks, last.tournament.points, generator)
    seed = _seed(search, _TOURNAMENT, number)
    tournament = play_round_robin(decks, method.player, method.games, seed, on_games)
    survivors = decks[ranking(tournament.points)[: method.survivors]]
    seed = _seed(search, _SURVIVORS, number)
    return Generation(decks, tournament, play_random_decks(survivors, method.player, FRESH_GAMES, seed))


def _seed(search: DeckSearch, purpose: int, *numbers: int) -> int:
    return int(np.random.SeedSequence((search.seed, purpose, *numbers)).generate_state(1, np.uint64)[0])


def deck_text(deck: np.ndarray) -> str:
    """Return the distinct cards of a deck with their numbers of copies, such as ``"1, 2 x 3, 3 x 21"``."""
    cards, copies = np.unique(deck, return_counts=True)
    return ", ".join(
        f"{card} x {number}" if number > 1 else str(card) for card, number in zip(cards, copies, strict=True)
    )


def first_seen(search: DeckSearch, deck: np.ndarray) -> int:
    """Return the index of the generation since which a deck of the last pool has been in every pool."""
    number = len(search.history) - 1
    while number > 0 and (search.history[number - 1].decks == deck).all(axis=1).any():
        number -= 1
    return number


def noise_of(history: list[Generation]) -> tuple[float, float]:
    """Return the spread and the standard error of a fitness, as square roots of mean variances over all generations.

    The first value is 0 if the mean variance of strengths is negative.
    """
    tournaments = [each.tournament for each in history]
    variance = sum(each.strength_variance for each in tournaments) / len(tournaments)
    square = sum(each.error**2 for each in tournaments) / len(tournaments)
    return math.sqrt(max(variance, 0.0)), math.sqrt(square)


def curve_of(search: DeckSearch) -> list[dict[str, Any]]:
    """Return a summary of each generation, with its index and the strength of its survivors, as JSON values."""
    return [
        {"generation": number, "spread": each.tournament.spread, "error": each.tournament.error}
        | {"strength": each.fresh.strength, "strength_error": each.fresh.error}
        for number, each in enumerate(search.history)
    ]

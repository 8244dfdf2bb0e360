"""A genetic search over decks of Gwent Lite.

A *pool* has a fixed number of decks of 25 cards, at first random ones. In each generation they meet in a round-robin
(`games/gwent_tournament.py`), in games that one and the same player plays on both sides. The next pool has

1. the *survivors*: the decks of the highest fitness, the best first;
2. *offspring* of survivors drawn at random: to each card a normal deviate is added, and the deck is repaired;
3. *newcomers*: random decks.

No deck is twice in a pool. Fitness is luck, too, and is relative to a pool that gets stronger. So the strength of the
survivors is measured apart, against random decks in games that selection never sees.

Everything random in a generation follows from the random seed, the number of the generation and what it is for. So a
search that resumes ends with the same bits, and so does one that is made longer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from punish_fast.games.gwent_decks import MIN_CARDS, deck_rows, random_decks, repaired_deck
from punish_fast.games.gwent_tournament import (
    FreshGames,
    OnGames,
    RoundRobin,
    play_random_decks,
    play_round_robin,
)
from punish_fast.learn.qlearning import LAST_SEED, LearnError
from punish_fast.runtime.json_values import brief, is_number, is_whole

# Those who may play the games, and what `gwent_playouts.POLICIES` calls them.
PLAYERS = {"rule-of-thumb": "rule", "random": "random"}
MAX_DECKS = 1000
MAX_GAMES = 1_000_000
MAX_GENERATIONS = 100_000
# Games against random decks that measure a strength.
FRESH_GAMES = 40_000
# Below, rounding leaves most decks as they are.
LEAST_DEVIATION, MOST_DEVIATION = 0.3, 100.0
# What random numbers are for.
_BREEDING, _TOURNAMENT, _SURVIVORS, _BEST = range(4)


@dataclass(frozen=True)
class SearchMethod:
    """The settings of a search.

    Attributes:
        pool: Decks in the pool.
        games: Games of each two decks in a generation, an even number.
        survivors: Decks that stay.
        newcomers: Random decks that join in each generation.
        deviation: The standard deviation of what is added to the cards of offspring.
        player: Who plays, one of `PLAYERS`.

    Raises:
        LearnError: A setting is out of range.
    """

    pool: int = 50
    games: int = 400
    survivors: int = 10
    newcomers: int = 5
    deviation: float = 0.7
    player: str = "rule-of-thumb"

    def __post_init__(self) -> None:
        for name, low, high in (
            ("pool", 2, MAX_DECKS),
            ("games", 2, MAX_GAMES),
            ("survivors", 1, MAX_DECKS - 1),
            ("newcomers", 0, MAX_DECKS - 1),
        ):
            if not is_whole(value := getattr(self, name), low, high):
                raise LearnError(f"{name}: {brief(value)} is not allowed, it must be a whole number {low} to {high}")
        if self.games % 2:
            raise LearnError(f"games: {self.games} is not allowed, it must be even, since each deck has either seat")
        if self.survivors + self.newcomers > self.pool or self.survivors == self.pool:
            told = f"{self.survivors} survivors and {self.newcomers} newcomers"
            raise LearnError(f"pool: {told} do not fit into a pool of {self.pool} that changes")
        if not is_number(self.deviation, LEAST_DEVIATION, MOST_DEVIATION):
            allowed = f"it must be from {LEAST_DEVIATION:g} to {MOST_DEVIATION:g}"
            raise LearnError(f"deviation: {brief(self.deviation)} is not allowed, {allowed}")
        if self.player not in PLAYERS:
            raise LearnError(f"player: {brief(self.player)} is not allowed, it must be one of {', '.join(PLAYERS)}")

    def __str__(self) -> str:
        offspring = self.pool - self.survivors - self.newcomers
        return (
            f"{self.pool} decks ({self.survivors} survivors, {offspring} offspring, {self.newcomers} newcomers), "
            f"{self.games} games of each two, deviation {self.deviation:g}, played by {self.player}"
        )


class Preset(NamedTuple):
    """Settings with a name.

    Attributes:
        method: The settings.
        generations: Generations.
    """

    method: SearchMethod
    generations: int


PRESETS = {
    "default": Preset(SearchMethod(), 40),
    # So few games that a fitness is mostly luck.
    "documents": Preset(SearchMethod(pool=20, games=2, survivors=4, newcomers=2, deviation=1.0, player="random"), 40),
}


class Generation(NamedTuple):
    """A generation and its results.

    Attributes:
        decks: The pool, int8 ``[n_decks, 25]``, cards ascending.
        tournament: The round-robin.
        fresh: The games of the survivors, chosen by it, against random decks.
    """

    decks: np.ndarray
    tournament: RoundRobin
    fresh: FreshGames

    @property
    def ranking(self) -> np.ndarray:
        """The decks by fitness, the best first; of equals, the first one."""
        return ranking(self.tournament.points)


@dataclass(eq=False, repr=False)
class DeckSearch:
    """A search, finished or not.

    Attributes:
        method: Its settings.
        seed: Its random seed.
        wanted: Generations in all.
        history: The generations that are done.
    """

    method: SearchMethod
    seed: int
    wanted: int
    history: list[Generation] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not is_whole(self.seed, 0, LAST_SEED):
            raise LearnError(f"seed: {brief(self.seed)} is not allowed, it must be a whole number 0 to {LAST_SEED}")
        if not is_whole(self.wanted, 1, MAX_GENERATIONS):
            allowed = f"it must be a whole number 1 to {MAX_GENERATIONS}"
            raise LearnError(f"generations: {brief(self.wanted)} is not allowed, {allowed}")
        if len(self.history) > self.wanted:
            raise LearnError(f"generations: {self.wanted} is not allowed, {len(self.history)} are done")

    def __repr__(self) -> str:
        return f"DeckSearch({self.method}; {len(self.history)} of {self.wanted} generations)"

    @property
    def policy(self) -> str:
        """The player as `gwent_playouts.POLICIES` calls it."""
        return PLAYERS[self.method.player]


def run_search(
    search: DeckSearch, on_generation: Callable[[], None] | None = None, on_games: OnGames | None = None
) -> None:
    """Breed and try generations until there are as many as wanted.

    Args:
        search: The search, whose history grows by whole generations, also if it is interrupted.
        on_generation: Called after each generation.
        on_games: Called with the games of a tournament that are done, and how many it has.
    """
    while len(search.history) < search.wanted:
        search.history.append(_next_generation(search, on_games))
        if on_generation is not None:
            on_generation()


def best_decks(search: DeckSearch, n: int) -> list[tuple[np.ndarray, FreshGames]]:
    """The fittest decks of the last generation, and how they do against random decks in games of their own.

    Args:
        search: A search with a generation.
        n: How many decks.
    """
    last, number = search.history[-1], len(search.history) - 1
    chosen = [last.decks[place] for place in last.ranking[:n]]
    seeds = [_seed(search, _BEST, number, rank) for rank in range(len(chosen))]
    return [
        (deck, play_random_decks(deck[np.newaxis], search.policy, FRESH_GAMES, seed))
        for deck, seed in zip(chosen, seeds, strict=True)
    ]


def ranking(points: np.ndarray) -> np.ndarray:
    """Places of numbers, the highest first; of equals, the first one."""
    result: np.ndarray = np.argsort(-points, kind="stable")
    return result


def random_pool(method: SearchMethod, generator: np.random.Generator) -> np.ndarray:
    """The first pool, int8 ``[n_decks, 25]``."""
    pool: dict[tuple[int, ...], None] = {}
    _join_newcomers(pool, method.pool, generator)
    return deck_rows(list(pool))


def next_pool(
    method: SearchMethod, decks: np.ndarray, points: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """The pool after a tournament: survivors, the best first, then offspring, then newcomers.

    Args:
        method: The settings.
        decks: The pool, integers ``[n_decks, 25]``.
        points: What to select by, ``[n_decks]``.
        generator: Random numbers.

    Returns:
        int8 ``[n_decks, 25]``.
    """
    parents = decks[ranking(points)[: method.survivors]]
    pool = dict.fromkeys(map(tuple, parents.tolist()))
    while len(pool) < method.pool - method.newcomers:
        parent = parents[generator.integers(len(parents))]
        # One that is there already adds nothing; then another one is drawn.
        pool[repaired_deck((parent + generator.normal(0, method.deviation, len(parent))).tolist())] = None
    _join_newcomers(pool, method.pool, generator)
    return deck_rows(list(pool))


def _join_newcomers(pool: dict[tuple[int, ...], None], n_decks: int, generator: np.random.Generator) -> None:
    while len(pool) < n_decks:
        pool[tuple(random_decks(generator, 1, MIN_CARDS)[0].tolist())] = None


def bred_pool(search: DeckSearch, number: int) -> np.ndarray:
    """The pool of a generation, as it follows from the random seed and the generation before, int8 ``[n_decks, 25]``.

    Args:
        search: A search with all generations before.
        number: The generation, from 0.
    """
    generator = np.random.default_rng(_seed(search, _BREEDING, number))
    if number == 0:
        return random_pool(search.method, generator)
    last = search.history[number - 1]
    return next_pool(search.method, last.decks, last.tournament.points, generator)


def _next_generation(search: DeckSearch, on_games: OnGames | None) -> Generation:
    number, method = len(search.history), search.method
    decks = bred_pool(search, number)
    seed = _seed(search, _TOURNAMENT, number)
    tournament = play_round_robin(decks, search.policy, method.games, seed, on_games)
    survivors = decks[ranking(tournament.points)[: method.survivors]]
    seed = _seed(search, _SURVIVORS, number)
    return Generation(decks, tournament, play_random_decks(survivors, search.policy, FRESH_GAMES, seed))


def _seed(search: DeckSearch, purpose: int, *numbers: int) -> int:
    """A random seed for one purpose."""
    words = np.random.SeedSequence((search.seed, purpose, *numbers)).generate_state(1, np.uint64)
    return int(words[0])


def method_of(mapping: Any) -> SearchMethod:
    """The settings of a mapping, as `dataclasses.asdict` makes it.

    Raises:
        LearnError: The mapping holds something else.
    """
    names = [each.name for each in fields(SearchMethod)]
    if not isinstance(mapping, dict) or sorted(mapping) != sorted(names):
        raise LearnError(f"method: {brief(mapping)} is not allowed, it must have {', '.join(names)}")
    if not isinstance(mapping["player"], str):
        raise LearnError(f"player: {brief(mapping['player'])} is not allowed, it must be one of {', '.join(PLAYERS)}")
    return SearchMethod(**mapping)


def deck_text(deck: np.ndarray) -> str:
    """The cards of a deck, with how many there are of each: ``"1, 2 x 3, 3 x 21"``."""
    cards, copies = np.unique(deck, return_counts=True)
    return ", ".join(
        f"{card} x {number}" if number > 1 else str(card) for card, number in zip(cards, copies, strict=True)
    )


def first_seen(search: DeckSearch, deck: np.ndarray) -> int:
    """The generation in which a deck of the last one joined the pool."""
    number = len(search.history) - 1
    while number > 0 and (search.history[number - 1].decks == deck).all(axis=1).any():
        number -= 1
    return number


def noise_of(history: Sequence[Generation]) -> tuple[float, float]:
    """The spread of the decks' true strengths and the standard error of a fitness, as root mean squares over pools.

    One small pool tells its spread badly; the mean over many tells it well.
    """
    tournaments = [each.tournament for each in history]
    variance = sum(each.strength_variance for each in tournaments) / len(tournaments)
    square = sum(each.error**2 for each in tournaments) / len(tournaments)
    return math.sqrt(max(variance, 0.0)), math.sqrt(square)


def curve_of(search: DeckSearch) -> list[dict[str, Any]]:
    """Each generation in numbers.

    Returns:
        For each its ``generation`` from 0, the ``spread`` of the decks' true strengths, the standard ``error`` of a
        fitness, and the ``strength`` of the survivors with its ``strength_error``.
    """
    return [
        {
            "generation": number,
            "spread": each.tournament.spread,
            "error": each.tournament.error,
            "strength": each.fresh.strength,
            "strength_error": each.fresh.error,
        }
        for number, each in enumerate(search.history)
    ]

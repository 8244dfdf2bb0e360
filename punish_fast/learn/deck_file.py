"""Searches over decks in files: the settings, and every generation with its results."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np

from punish_fast.games.gwent_decks import MAX_SUM, MIN_CARDS
from punish_fast.games.gwent_tournament import FreshGames, RoundRobin
from punish_fast.learn.deck_search import DeckSearch, Generation, method_of, ranking
from punish_fast.learn.qlearning import LearnError
from punish_fast.runtime.files import ReadError
from punish_fast.runtime.json_values import brief
from punish_fast.store.deck_pools import PoolFile, load_pools, save_pools

_NAMES = ("method", "seed", "wanted")


def save_search(path: Path, search: DeckSearch) -> None:
    """Write a search that has a generation, whole or not at all.

    Raises:
        OutputError: The file cannot be written there.
        WriteError: Writing failed.
    """
    history, shape = search.history, (len(search.history), search.method.pool)
    tournaments, fresh = [each.tournament for each in history], [each.fresh for each in history]
    content = PoolFile(
        search={"method": asdict(search.method), "seed": search.seed, "wanted": search.wanted},
        deck=np.array([each.decks for each in history], dtype=np.int8).reshape(*shape, MIN_CARDS),
        points=np.array([each.points for each in tournaments], dtype=np.int64).reshape(shape),
        decided=np.array([each.decided for each in tournaments], dtype=np.int64),
        pair_squares=np.array([each.pair_squares for each in tournaments], dtype=np.int64),
        wins=np.array([each.wins for each in fresh], dtype=np.int64),
        losses=np.array([each.losses for each in fresh], dtype=np.int64),
        games=np.array([each.games for each in fresh], dtype=np.int64),
    )
    save_pools(path, content)


def load_search(path: Path) -> DeckSearch:
    """Read a search.

    Raises:
        ReadError: The file is not readable, holds no search, or numbers that no search comes to.
    """
    file = load_pools(path)
    try:
        if sorted(file.search) != sorted(_NAMES):
            raise LearnError(f"search: {brief(file.search)} is not allowed, it must have {', '.join(_NAMES)}")
        method, seed, wanted = (file.search[name] for name in _NAMES)
        search = DeckSearch(method_of(method), seed, wanted)
        _check(search, file)
        search.history = [_generation(search, file, number) for number in range(len(file.deck))]
    except LearnError as error:
        raise ReadError(f"{path}: {error}") from None
    return search


def _generation(search: DeckSearch, file: PoolFile, number: int) -> Generation:
    decided, squares = int(file.decided[number]), int(file.pair_squares[number])
    fresh = FreshGames(*(int(array[number]) for array in (file.games, file.wins, file.losses)))
    tournament = RoundRobin(file.points[number], search.method.games, decided, squares)
    return Generation(file.deck[number], tournament, fresh)


def _check(search: DeckSearch, file: PoolFile) -> None:
    """Check that the arrays of a file are the generations of a search.

    Raises:
        LearnError: They are not; the message names the first field that is wrong.
    """
    method, (n_generations, n_decks, n_cards) = search.method, file.deck.shape
    if n_generations > search.wanted or (n_decks, n_cards) != (method.pool, MIN_CARDS):
        raise LearnError(f"/pool/deck: its shape is {file.deck.shape}, the search has {method.pool} decks")
    if (file.deck.sum(axis=2, dtype=np.int64) > MAX_SUM).any() or (np.diff(file.deck, axis=2) < 0).any():
        raise LearnError(f"/pool/deck: a deck does not ascend, or its sum is above {MAX_SUM}")
    for number, decks in enumerate(file.deck):
        if len(np.unique(decks, axis=0)) < n_decks:
            raise LearnError(f"/pool/deck: a deck is twice in generation {number}")
        best = file.deck[number - 1][ranking(file.points[number - 1])] if number else decks
        if not np.array_equal(decks[: method.survivors], best[: method.survivors]):
            raise LearnError(f"/pool/deck: generation {number} does not begin with the survivors of the one before")
    n_pairs = n_decks * (n_decks - 1) // 2
    is_sound = {
        "/pool/points": (np.abs(file.points) <= method.games * (n_decks - 1)).all(axis=1) & (file.points.sum(1) == 0),
        "/pool/decided": file.decided <= method.games * n_pairs,
        # By the inequality of Cauchy and Schwarz.
        "/pool/pair_squares": file.pair_squares <= method.games * file.decided,
        "/fresh/games": file.games >= 1,
        "/fresh/wins": file.wins + file.losses <= file.games,
    }
    for name, sound in is_sound.items():
        if not sound.all():
            raise LearnError(f"{name}: the numbers of generation {int(np.argmin(sound))} are impossible")

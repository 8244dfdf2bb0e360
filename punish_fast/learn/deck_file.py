"""Searches over decks in files: the settings, and every generation with its results."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np

from punish_fast.games.gwent_decks import MIN_CARDS
from punish_fast.games.gwent_tournament import FreshGames, RoundRobin
from punish_fast.learn.deck_search import DeckSearch, Generation, bred_pool, method_of
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

    Pools are bred again and must come out the same. Games are not played again, but their results must be possible.

    Raises:
        ReadError: The file is not readable, holds no search, pools that its random seed does not breed, or results
            that no games have.
    """
    file = load_pools(path)
    try:
        if sorted(file.search) != sorted(_NAMES):
            raise LearnError(f"search: {brief(file.search)} is not allowed, it must have {', '.join(_NAMES)}")
        method, seed, wanted = (file.search[name] for name in _NAMES)
        search = DeckSearch(method_of(method), seed, wanted)
        _check_results(search, file)
        search.history = [_generation(search, file, number) for number in range(len(file.deck))]
        _check_pools(search)
    except LearnError as error:
        raise ReadError(f"{path}: {error}") from None
    return search


def _generation(search: DeckSearch, file: PoolFile, number: int) -> Generation:
    decided, squares = int(file.decided[number]), int(file.pair_squares[number])
    fresh = FreshGames(*(int(array[number]) for array in (file.games, file.wins, file.losses)))
    tournament = RoundRobin(file.points[number], search.method.games, decided, squares)
    return Generation(file.deck[number], tournament, fresh)


def _check_results(search: DeckSearch, file: PoolFile) -> None:
    """Check that the arrays of a file have the shape of a search, and results that games can have.

    Let ``w`` be what one deck of a pair wins more than it loses in its ``m`` games, of which ``d`` are no ties. So
    ``|w| <= d <= m``, and ``w`` is even or odd as ``d``. Over all pairs, the squares of ``w`` sum to at most ``m``
    times the decided games, and to a number that is even or odd as these. The points of a deck are the sum of its
    ``w``: their absolute values sum to at most twice the decided games. Of all ``w`` with given points of ``n`` decks,
    the differences of points divided by ``n`` have the least squares, so the squares of points sum to at most ``n``
    times those of ``w``.

    Raises:
        LearnError: They have not; the message names the first field that is wrong.
    """
    method, (n_generations, n_decks, n_cards) = search.method, file.deck.shape
    if n_generations > search.wanted:
        raise LearnError(f"/pool/deck: {n_generations} generations are too many, the search has {search.wanted}")
    if (n_decks, n_cards) != (method.pool, MIN_CARDS):
        told = f"the search has {method.pool} decks of {MIN_CARDS} cards"
        raise LearnError(f"/pool/deck: its shape is {file.deck.shape}, {told}")
    n_pairs = n_decks * (n_decks - 1) // 2
    size = np.abs(file.points)
    # Sums of the squares of many points do not fit into 64 bits.
    squares, pair_squares = (size.astype(object) ** 2).sum(axis=1), file.pair_squares.astype(object)
    is_sound = {
        "/pool/points": (size <= method.games * (n_decks - 1)).all(axis=1) & (file.points.sum(axis=1) == 0),
        "/pool/decided": (file.decided <= method.games * n_pairs) & (size.sum(axis=1) <= 2 * file.decided),
        "/pool/pair_squares": (file.pair_squares <= method.games * file.decided)
        & (file.pair_squares % 2 == file.decided % 2)
        & (squares <= n_decks * pair_squares).astype(bool),
        "/fresh/games": file.games >= 1,
        "/fresh/wins": file.wins + file.losses <= file.games,
    }
    for name, sound in is_sound.items():
        if not sound.all():
            raise LearnError(f"{name}: the numbers of generation {int(np.argmin(sound))} are impossible")


def _check_pools(search: DeckSearch) -> None:
    """Check that each pool is what follows from the random seed and the generation before.

    Raises:
        LearnError: One is not; the message names the first generation where that is so.
    """
    for number, each in enumerate(search.history):
        if not np.array_equal(each.decks, bred_pool(search, number)):
            raise LearnError(f"/pool/deck: generation {number} is not what random seed {search.seed} breeds")

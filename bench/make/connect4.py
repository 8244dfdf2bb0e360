"""Make the position sets or the opening book of Connect Four: ``python -m bench.make.connect4 sets|book``.

The sets for ``punish_fast/games/connect4/known_scores.py`` are random positions with scores from our solver.
``punish_fast/games/connect4/oracle.py`` describes the book. Computing the book takes about an hour on one core. The
program saves the file every minute and continues from an existing file. To start a new book, choose a new file.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.games.connect4 import known_scores as connect4_sets
from punish_fast.games.connect4.game import Connect4, Connect4State, line_squares
from punish_fast.games.connect4.known_scores import FULL, SETS, PositionSet
from punish_fast.games.connect4.oracle import MOST_STONES, MOST_STONES_OF_PLAY, NO_COLUMN, OpeningBook, read_book
from punish_fast.games.connect4.search import Connect4Solver, distance_to_center, plies_to_end
from punish_fast.runtime._jit import set_threads

_GAME = Connect4()
# Size of the transposition table, in MB.
_MEMORY = 2200
_SECONDS = 60
_SIZE = 1000
# Minimum and maximum stones in each part of the game. Positions with at most `EASY_PLIES` moves to the end are easy.
STONES = {"ends": (26, 32), "middles": (14, 24)}
EASY_PLIES = 12


def set_of(n_stones: int, plies: int | None) -> str | None:
    """Return the name of the set for a position, or None.

    ``plies`` is the number of moves to the end under perfect play, or None if the position is a draw.
    """
    for part, (fewest, most) in STONES.items():
        if fewest <= n_stones <= most:
            return f"easy-{part}" if plies is not None and plies <= EASY_PLIES else f"hard-{part}"
    return None


def is_win(state: Connect4State, action: int) -> bool:
    """Return True if a legal action completes a line of four."""
    after = _GAME.apply(state, action)
    return line_squares(after.filled ^ after.own) != 0


def random_position(generator: random.Random, n_stones: int) -> Connect4State | None:
    """Return a position after random moves, or None if the game has ended or the next move can win."""
    state = _GAME.initial()
    while state.n_stones < n_stones and not _GAME.is_terminal(state):
        state = _GAME.apply(state, generator.choice(_GAME.actions(state)))
    is_won = any(is_win(state, action) for action in _GAME.actions(state))
    return None if state.n_stones < n_stones or _GAME.is_terminal(state) or is_won else state


def make_sets(size: int = _SIZE, seed: int = 0) -> dict[str, PositionSet]:
    """Return sets of ``size`` different random positions with their scores, by name."""
    generator, solver = random.Random(seed), Connect4Solver()
    found: dict[str, dict[Connect4State, list[int]]] = {name: {} for name in SETS}
    ranges = list(STONES.values())
    while any(len(each) < size for each in found.values()):
        state = random_position(generator, generator.randint(*generator.choice(ranges)))
        if state is None:
            continue
        score = solver.solve(state)[0]
        name = set_of(state.n_stones, plies_to_end(state.n_stones, score) if score else None)
        if name is not None and len(found[name]) < size and state not in found[name]:
            found[name][state] = [FULL if each is None else each for each in solver.score_moves(state)[0]]
    return {
        name: PositionSet(np.array(list(each), dtype=np.uint64), np.array(list(each.values()), dtype=np.int8))
        for name, each in found.items()
    }


def save_sets(sets: dict[str, PositionSet], path: Path = connect4_sets.FILE) -> None:
    """Write position sets to the file that `position_sets` reads."""
    arrays: dict[str, Any] = {}
    for name, each in sets.items():
        arrays |= {f"{name}/boards": each.boards, f"{name}/scores": each.scores}
    np.savez_compressed(path, **arrays)


def save_book(book: OpeningBook, path: Path) -> None:
    """Write an opening book in the format that `read_book` reads."""
    positions = sorted(book.scores)
    np.savez_compressed(
        path,
        boards=np.array(positions, dtype=np.uint64).reshape(-1, 2),
        scores=np.array([book.scores[each] for each in positions], dtype=np.int8),
        columns=np.array([book.columns.get(each, NO_COLUMN) for each in positions], dtype=np.int8),
    )


class BookMaker:
    """An opening book in progress. ``book`` contains the positions scored so far."""

    def __init__(self, path: Path, memory: int) -> None:
        """Start from the entries of a file, if it exists. ``memory`` is the size of the transposition table in MB."""
        self._path, self._solver = path, Connect4Solver(memory)
        self.book = read_book(path) if path.exists() else OpeningBook()
        self._saved = time.monotonic()

    def add_all(self, most_stones: int) -> None:
        """Add all positions of up to ``most_stones`` stones, and the best columns of positions with fewer stones."""
        layers = [{_GAME.initial()}]
        while len(layers) <= most_stones:
            layers.append(set(_successors(layers[-1])))
        # Searches of neighboring positions have most positions in common, so sort the positions.
        for state in sorted(layers.pop()):
            self._score(state)
        for layer in reversed(layers):
            for state in layer:
                self._add_by_successors(state)

    def _add_by_successors(self, state: Connect4State) -> None:
        columns = sorted(_GAME.actions(state), key=distance_to_center)
        scores = [-self.book.scores[_GAME.position(_GAME.apply(state, column))] for column in columns]
        self.book.scores[state] = max(scores)
        self.book.columns[state] = columns[scores.index(max(scores))]

    def add_play(self, most_stones: int, seat: int) -> None:
        """Add the positions that occur if the player in ``seat`` follows the book, up to ``most_stones`` stones."""
        layer = {_GAME.initial()} if seat == 0 else set(_successors([_GAME.initial()]))
        while layer and next(iter(layer)).n_stones <= most_stones:
            answers = [self._answer(state) for state in sorted(layer) if not _GAME.is_terminal(state)]
            layer = set(_successors(answers))

    def _answer(self, state: Connect4State) -> Connect4State:
        score = self._score(state)
        if state not in self.book.columns:
            self.book.columns[state] = self._solver.best_column(state, score)
        after = _GAME.position(_GAME.apply(state, self.book.columns[state]))
        self.book.scores[after] = -score
        return after

    def _score(self, state: Connect4State) -> int:
        if state not in self.book.scores:
            self.book.scores[state] = self._solver.solve(state)[0]
            if time.monotonic() > self._saved + _SECONDS:
                self.save()
                print(f"{len(self.book.scores):,} positions", flush=True)
        return self.book.scores[state]

    def save(self) -> None:
        """Write the book to its file."""
        save_book(self.book, self._path)
        self._saved = time.monotonic()


def _successors(states: Iterable[Connect4State]) -> list[Connect4State]:
    return [_GAME.position(_GAME.apply(state, action)) for state in states for action in _GAME.actions(state)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Generate position sets or an opening book."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("kind", choices=("sets", "book"))
    parser.add_argument("file", nargs="?", type=Path, default=Path("connect4_book.npz"), help="file of the book")
    parser.add_argument("--size", type=int, default=_SIZE, help="positions of each set")
    parser.add_argument("--memory", type=int, default=_MEMORY, metavar="MB", help="memory of the solver's table")
    options = parser.parse_args(arguments)
    set_threads(1)
    if options.kind == "sets":
        save_sets(make_sets(options.size))
        return 0
    maker = BookMaker(options.file, options.memory)
    maker.add_all(MOST_STONES)
    for seat in range(_GAME.n_players):
        maker.add_play(MOST_STONES_OF_PLAY, seat)
    maker.save()
    print(f"{options.file}: {len(maker.book.scores):,} positions")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

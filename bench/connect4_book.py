"""Make the opening book of Connect Four anew: ``python -m bench.connect4_book [FILE]``.

``punish_fast/games/connect4_book.py`` says what is in it. The file is written every minute. An interrupted run goes on
with what the file has; a new book needs a new file. It takes about an hour of one core.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from punish_fast.games.connect4 import Connect4, Connect4State
from punish_fast.games.connect4_book import MOST_STONES, MOST_STONES_OF_PLAY, OpeningBook, read_book
from punish_fast.games.connect4_solver import Connect4Solver, distance_to_centre
from punish_fast.runtime._jit import set_threads

_GAME = Connect4()
# MB of the table.
_MEMORY = 2200
_SECONDS = 60


class BookMaker:
    """A book in the making.

    Attributes:
        book: What is known so far.
    """

    def __init__(self, path: Path, memory: int) -> None:
        """Go on with what a file has.

        Args:
            path: The file.
            memory: Of the solver's table, in MB.
        """
        self._path, self._solver = path, Connect4Solver(memory)
        self.book = read_book(path) if path.exists() else OpeningBook()
        self._saved = time.monotonic()

    def add_all(self, most_stones: int) -> None:
        """Add all positions with up to ``most_stones`` stones, and the best columns of those with fewer."""
        layers = [{_GAME.initial()}]
        while len(layers) <= most_stones:
            layers.append(set(_successors(layers[-1])))
        # Neighbours share most of their search.
        for state in sorted(layers.pop()):
            self._score(state)
        for layer in reversed(layers):
            for state in layer:
                self._add_by_successors(state)

    def _add_by_successors(self, state: Connect4State) -> None:
        columns = sorted(_GAME.actions(state), key=distance_to_centre)
        scores = [-self.book.scores[_GAME.position(_GAME.apply(state, column))] for column in columns]
        self.book.scores[state] = max(scores)
        self.book.columns[state] = columns[scores.index(max(scores))]

    def add_play(self, most_stones: int, seat: int) -> None:
        """Add the positions with up to ``most_stones`` stones that come up if the player of a seat plays perfectly."""
        layer = {_GAME.initial()} if seat == 0 else set(_successors([_GAME.initial()]))
        while layer and next(iter(layer)).n_stones <= most_stones:
            answers = [self._answer(state) for state in sorted(layer) if not _GAME.is_terminal(state)]
            layer = set(_successors(answers))

    def _answer(self, state: Connect4State) -> Connect4State:
        """The position after the perfect move."""
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
        """Write the file."""
        self.book.save(self._path)
        self._saved = time.monotonic()


def _successors(states: Iterable[Connect4State]) -> list[Connect4State]:
    """The positions after each move."""
    return [_GAME.position(_GAME.apply(state, action)) for state in states for action in _GAME.actions(state)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Make a book."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("file", nargs="?", type=Path, default=Path("connect4_book.npz"))
    parser.add_argument("--all", type=int, default=MOST_STONES, help="all positions with up to so many stones")
    parser.add_argument("--play", type=int, default=MOST_STONES_OF_PLAY, help="and those of perfect play up to so many")
    parser.add_argument("--memory", type=int, default=_MEMORY, metavar="MB", help="of the solver's table")
    options = parser.parse_args(arguments)
    set_threads(1)
    maker = BookMaker(options.file, options.memory)
    maker.add_all(options.all)
    for seat in range(_GAME.n_players):
        maker.add_play(options.play, seat)
    maker.save()
    print(f"{options.file}: {len(maker.book.scores):,} positions")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Opening book of Connect Four: scores and best moves of positions that take seconds or longer to solve.

The book has the scores of all positions with up to 5 stones. It also has the best move in all positions with up to 11
stones that occur if either player plays perfectly and the opponent plays arbitrarily. A player who follows the book
starts to search with at least twelve stones on the board. ``bench/make/connect4.py`` builds the book.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from punish_fast.games.connect4.game import WIDTH, Connect4, Connect4State

# The book has all positions with up to MOST_STONES stones, and those with up to MOST_STONES_OF_PLAY stones that occur
# if one player plays perfectly.
MOST_STONES, MOST_STONES_OF_PLAY = 5, 11
FILE = Path(__file__).with_name("book.npz")
# Marks an unknown best move in the file.
_NONE = -1
_GAME = Connect4()


class OpeningBook:
    """Scores and best columns of positions and their mirror images."""

    def __init__(self) -> None:
        # Scores by position (`Connect4.position`), as defined in ``solver.py``.
        self.scores: dict[Connect4State, int] = {}
        # For some positions, the best column that is nearest to the centre.
        self.columns: dict[Connect4State, int] = {}

    def score(self, state: Connect4State) -> int | None:
        """Return the score of a state, or None if it is not in the book."""
        return self.scores.get(_GAME.position(state))

    def best_column(self, state: Connect4State) -> int | None:
        """Return the best column of a state, or None if it is not in the book."""
        position = _GAME.position(state)
        column = self.columns.get(position)
        return column if column is None or position == state else WIDTH - 1 - column

    def save(self, path: Path) -> None:
        """Write the book to an .npz file."""
        positions = sorted(self.scores)
        np.savez_compressed(
            path,
            boards=np.array(positions, dtype=np.uint64).reshape(-1, 2),
            scores=np.array([self.scores[each] for each in positions], dtype=np.int8),
            columns=np.array([self.columns.get(each, _NONE) for each in positions], dtype=np.int8),
        )


def read_book(path: Path) -> OpeningBook:
    """Read a book written by `OpeningBook.save`."""
    book = OpeningBook()
    with np.load(path) as file:
        arrays = [file[name].tolist() for name in ("boards", "scores", "columns")]
    for board, score, column in zip(*arrays, strict=True):
        book.scores[Connect4State(*board)] = score
        if column != _NONE:
            book.columns[Connect4State(*board)] = column
    return book


@lru_cache(maxsize=1)
def opening_book() -> OpeningBook:
    """Return the book included in the package."""
    return read_book(FILE)

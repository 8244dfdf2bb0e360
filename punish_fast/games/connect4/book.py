"""The opening book of Connect Four: scores and best moves that take seconds or more to find.

It has the scores of all positions with up to 5 stones. Of those with up to 11 stones that come up if one player plays
perfectly and the other one as it likes, for either player, it has the perfect move, too. So whoever plays by the book
has twelve stones or more on the board when it begins to search. ``bench/make/connect4.py`` makes it anew.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from punish_fast.games.connect4.game import WIDTH, Connect4, Connect4State

# All positions with so many stones are in the book, and of those with more, the ones that perfect play meets.
MOST_STONES, MOST_STONES_OF_PLAY = 5, 11
FILE = Path(__file__).with_name("book.npz")
# In the file, for a best move that is not known.
_NONE = -1
_GAME = Connect4()


class OpeningBook:
    """Scores and best columns of positions and, without saying so, of their mirror images.

    Attributes:
        scores: Scores by position (`Connect4.position`); see ``solver.py``.
        columns: For some of them, the best column that is nearest to the centre.
    """

    def __init__(self) -> None:
        self.scores: dict[Connect4State, int] = {}
        self.columns: dict[Connect4State, int] = {}

    def score(self, state: Connect4State) -> int | None:
        """The score of a state, or None if it is not in the book."""
        return self.scores.get(_GAME.position(state))

    def best_column(self, state: Connect4State) -> int | None:
        """The best column of a state, or None if it is not in the book."""
        position = _GAME.position(state)
        column = self.columns.get(position)
        return column if column is None or position == state else WIDTH - 1 - column

    def save(self, path: Path) -> None:
        """Write a file that `read_book` reads."""
        positions = sorted(self.scores)
        np.savez_compressed(
            path,
            boards=np.array(positions, dtype=np.uint64).reshape(-1, 2),
            scores=np.array([self.scores[each] for each in positions], dtype=np.int8),
            columns=np.array([self.columns.get(each, _NONE) for each in positions], dtype=np.int8),
        )


def read_book(path: Path) -> OpeningBook:
    """Read a book that `OpeningBook.save` wrote."""
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
    """The book that comes with the package."""
    return read_book(FILE)

"""Perfect play of Connect Four by an opening book and a search.

The opening book contains the scores of all positions with up to 5 stones. It also contains the best move in all
positions with up to 11 stones that can occur if one player follows the book. This player therefore does not search
before 12 stones are on the board. ``bench/make/connect4.py`` builds the book.
"""

import math
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TypeVar

import numpy as np

from punish_fast.games.connect4.game import WIDTH, Connect4, Connect4State
from punish_fast.games.connect4.search import Connect4Solver, OutOfTimeError, compile_search, plies_to_end
from punish_fast.games.contract import MoveValue, Oracle

T = TypeVar("T")

# Maximum number of stones in the book: in all positions, and in positions that occur if one player follows the book.
MOST_STONES, MOST_STONES_OF_PLAY = 5, 11
FILE = Path(__file__).with_name("book.npz")
# Entry of the file for an unknown best column.
NO_COLUMN = -1
_GAME = Connect4()


class OpeningBook:
    """Scores and best columns of positions and their mirror images."""

    def __init__(self) -> None:
        # Scores by position (`Connect4.position`), as defined in ``search.py``.
        self.scores: dict[Connect4State, int] = {}
        # Best column of some positions. Ties go to the column nearest to the center.
        self.columns: dict[Connect4State, int] = {}

    def score(self, state: Connect4State) -> int | None:
        """Return the score of a state, or None if the book does not contain it."""
        return self.scores.get(_GAME.position(state))

    def best_column(self, state: Connect4State) -> int | None:
        """Return the best column of a state, or None if the book does not contain it."""
        position = _GAME.position(state)
        column = self.columns.get(position)
        return column if column is None or position == state else WIDTH - 1 - column


def read_book(path: Path) -> OpeningBook:
    """Read a book from an .npz file."""
    book = OpeningBook()
    with np.load(path) as file:
        arrays = [file[name].tolist() for name in ("boards", "scores", "columns")]
    for board, score, column in zip(*arrays, strict=True):
        book.scores[Connect4State(*board)] = score
        if column != NO_COLUMN:
            book.columns[Connect4State(*board)] = column
    return book


@lru_cache(maxsize=1)
def opening_book() -> OpeningBook:
    """Return the book included in the package."""
    return read_book(FILE)


# Maximum number of answers in each cache. An answer takes up to 1,000 bytes.
_MOST_ANSWERS = 20_000


class Connect4Oracle(Oracle):
    """Perfect play by the book or by search. In some positions with 6 to 10 stones, a search takes seconds."""

    is_quick = False

    def __init__(self, game: Connect4) -> None:
        self.game: Connect4 = game
        # Answers are cached because agents query a position several times, first for the policy and then for the move.
        self._columns: dict[Connect4State, int] = {}
        self._values: dict[Connect4State, list[MoveValue | None]] = {}

    @cached_property
    def _solver(self) -> Connect4Solver:
        return Connect4Solver()

    @property
    def n_positions(self) -> int:
        """Number of positions of the game, counting mirror images separately."""
        return self.game.n_positions

    def open(self) -> None:
        """Read the book, and compile the search or load it from the cache."""
        opening_book()
        compile_search()

    def prepare(self, state: Connect4State, until: float) -> bool:
        """Search until a ``time.monotonic`` deadline. Return True if `best_action` needs no further search."""
        try:
            self._best_column(state, until)
        except OutOfTimeError:
            return False
        return True

    def known_values(self, state: Connect4State, until: float) -> tuple[list[MoveValue | None], bool]:
        """Return the values known by a ``time.monotonic`` deadline, and True if they are final (see `move_values`)."""
        if state in self._values:
            return self._values[state], True
        actions = self.game.actions(state)
        bounds = -self._bounds([self.game.apply(state, action) for action in actions], until)[:, ::-1]
        found = [_value_of(state, k, action, bounds) for k, action in enumerate(actions)]
        is_exact = bool((bounds[:, 0] == bounds[:, 1]).all())
        if is_exact:
            _remember(self._values, state, found)
        return found, is_exact

    def move_values(self, state: Connect4State) -> list[MoveValue]:
        """Return the value of each action of a state, in the order of ``game.actions``."""
        return [value for value in self.known_values(state, math.inf)[0] if value is not None]

    def best_action(self, state: Connect4State) -> int:
        """Return the best action. Ties go to the column nearest to the center."""
        return self._best_column(state, math.inf)

    def _bounds(self, states: list[Connect4State], until: float) -> np.ndarray:
        """Return score bounds, int64 ``[n, 2]``, from the book if possible and otherwise from a search."""
        known = [opening_book().score(state) for state in states]
        unknown = [k for k, score in enumerate(known) if score is None]
        bounds = np.array([(score or 0, score or 0) for score in known], dtype=np.int64).reshape(-1, 2)
        bounds[unknown] = self._solver.bounds([states[k] for k in unknown], until)
        return bounds

    def _best_column(self, state: Connect4State, until: float) -> int:
        column = self._columns.get(state)
        if column is None:
            column = opening_book().best_column(state)
        if column is None:
            ((low, high),) = self._bounds([state], until).tolist()
            if low < high:
                raise OutOfTimeError
            column = self._solver.best_column(state, low, until)
            _remember(self._columns, state, column)
        return column


def _value_of(state: Connect4State, k: int, action: int, bounds: np.ndarray) -> MoveValue | None:
    """Return the value of move ``k`` given score bounds for all moves, int64 ``[n_moves, 2]``.

    Return None if the bounds do not determine the outcome of the move.
    """
    low, high = bounds[k].tolist()
    is_best = bool(low >= np.delete(bounds[:, 1], k).max(initial=low))
    if low == high:
        return MoveValue(action, int(np.sign(low)), plies_to_end(state.n_stones, low) if low else None, is_best)
    return MoveValue(action, 1 if low > 0 else -1, None, is_best) if low > 0 or high < 0 else None


def _remember(answers: dict[Connect4State, T], state: Connect4State, answer: T) -> None:
    answers[state] = answer
    if len(answers) > _MOST_ANSWERS:
        answers.pop(next(iter(answers)), None)

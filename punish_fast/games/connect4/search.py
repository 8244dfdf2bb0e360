"""Solver for the exact scores of Connect Four positions. ``_search.py`` describes the algorithm.

A score is from the perspective of the player to move. A win scores 22 minus the number of stones that the winner
will have played, a loss scores the negative of the winner's score, and a draw scores 0. The fastest win, with the
winner's fourth stone, scores 18. A higher score means a faster win or a slower loss.
"""

import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from punish_fast.games.connect4 import _search as _connect4_search
from punish_fast.games.connect4._search import HIGH, IS_RUNNING, LOW, N_JOB_WORDS, NODES, STACK_WORDS
from punish_fast.games.connect4.game import N_SQUARES, WIDTH, Connect4, Connect4State
from punish_fast.runtime._jit import threads
from punish_fast.runtime.limits import require_memory
from punish_fast.runtime.parallel import for_each

# Default size of the transposition table in MB.
DEFAULT_MEMORY = 256
_WORD_BYTES = 8
# Initial number of table entries in use, small enough for the CPU cache. The number increases with the number of nodes
# searched. Each increase hides some entries, because indices of boards depend on the number. Entries remain valid.
_SMALL_TABLE = 1 << 20
# Upper bound on all scores.
MOST = N_SQUARES // 2
# Number of nodes that a worker searches between possible interruptions. They take a few tenths of a second.
_BUDGET = 1 << 22
_GAME = Connect4()
# Number of nodes between two checks of the deadline. A search with a deadline uses one thread.
_BUDGET_WITH_DEADLINE = 1 << 19
# A position that is solved with ten nodes.
_LATE = "24653743375777726665165611551112433"


class OutOfTimeError(Exception):
    """Raised when a search reaches its deadline before it finds an answer."""


class Solutions(NamedTuple):
    """Scores of positions and the numbers of nodes searched."""

    score: np.ndarray  # int64 ``[n]``, scores, or 1 for any win and -1 for any loss if ``exact`` was False.
    # int64 ``[n]``, numbers of nodes searched. They depend on earlier searches and, with several threads, on timing.
    nodes: np.ndarray


class Connect4Solver:
    """A solver whose transposition table persists between calls."""

    def __init__(self, memory: int = DEFAULT_MEMORY) -> None:
        """Allocate an empty table of at most ``memory`` MB, with a power of two as its number of entries."""
        require_memory(memory * 1_000_000, "the table")
        n_entries = 1 << ((memory * 1_000_000 // _WORD_BYTES).bit_length() - 1)
        self._table = np.zeros(n_entries, dtype=np.int64)

    def solve(self, state: Connect4State, exact: bool = True) -> tuple[int, int]:
        """Return the score of a position and the number of nodes searched (see `Solutions`)."""
        found = self.solve_many([state], exact)
        return int(found.score[0]), int(found.nodes[0])

    def solve_many(self, states: Sequence[Connect4State], exact: bool = True) -> Solutions:
        """Solve positions in parallel. If ``exact`` is False, determine only the winners."""
        jobs = _jobs(states, exact)
        self._finish(jobs)
        return Solutions(jobs[:, LOW] if exact else np.sign(jobs[:, LOW]), jobs[:, NODES])

    def bounds(self, states: Sequence[Connect4State], until: float) -> np.ndarray:
        """Return the bounds on the scores of positions, int64 ``[n, 2]``, known at a ``time.monotonic`` deadline."""
        jobs = _jobs(states, exact=True)
        self._finish(jobs, until)
        return jobs[:, (LOW, HIGH)]

    def _finish(self, jobs: np.ndarray, until: float = math.inf) -> None:
        """Search in rounds. Before each round, distribute the jobs that have not started evenly among the workers."""
        queue = np.flatnonzero(jobs[:, LOW] < jobs[:, HIGH])
        if len(queue) == 0:
            return
        n_workers, budget = (1, _BUDGET_WITH_DEADLINE) if until < math.inf else (min(threads(), len(queue)), _BUDGET)
        stacks = np.zeros((n_workers, STACK_WORDS), dtype=np.int64)
        ranges = np.zeros((n_workers, 2), dtype=np.int64)
        ranges[0, 1] = len(queue)
        n_entries = _SMALL_TABLE
        while ranges[:, 0].tolist() != ranges[:, 1].tolist() and time.monotonic() < until:
            queue, ranges = _dealt(queue, ranges, jobs)
            for_each(
                _connect4_search.search_jobs, n_workers, ranges, queue, jobs, stacks, self._table[:n_entries], budget
            )
            running = queue[ranges[ranges[:, 0] < ranges[:, 1], 0]]
            n_entries = max(n_entries, 1 << int(jobs[running, NODES].max(initial=0)).bit_length())

    def score_moves(self, state: Connect4State, exact: bool = True) -> tuple[list[int | None], int]:
        """Return the score of each column (None if it is full or the game is over) and the number of nodes searched."""
        actions = _GAME.actions(state)
        found = self.solve_many([_GAME.apply(state, action) for action in actions], exact)
        scores = dict(zip(actions, (-found.score).tolist(), strict=True))
        return [scores.get(column) for column in range(WIDTH)], int(found.nodes.sum())

    def best_column(self, state: Connect4State, score: int, until: float = math.inf) -> int:
        """Return the best column of a nonterminal position with a given score. Ties go to the most central column.

        Raise `OutOfTimeError` at the ``time.monotonic`` deadline ``until``.
        """
        columns = sorted(_GAME.actions(state), key=distance_to_center)
        # No move has a higher score than ``score``. The last column is not searched, because it is best if no other is.
        return next((c for c in columns[:-1] if self._is_at_most(_GAME.apply(state, c), -score, until)), columns[-1])

    def _is_at_most(self, state: Connect4State, score: int, until: float) -> bool:
        """Return True if the score of a position, which must not be below ``score``, equals ``score``."""
        job = _jobs([state], exact=True)
        if job[0, LOW] < job[0, HIGH]:
            job[0, LOW], job[0, HIGH] = score, score + 1
            self._finish(job, until)
            if job[0, LOW] < job[0, HIGH]:
                raise OutOfTimeError
        return bool(job[0, LOW] == job[0, HIGH] == score)

    def line(self, state: Connect4State, score: int) -> list[int]:
        """Return the columns of perfect play to the end of the game. Ties go to the column nearest to the center."""
        columns = []
        while not _GAME.is_terminal(state):
            columns.append(self.best_column(state, score))
            state, score = _GAME.apply(state, columns[-1]), -score
        return columns


def compile_search() -> None:
    """Compile the search, or load it from the cache, so that later measurements exclude compilation."""
    Connect4Solver(memory=1).solve(_GAME.state_of(_LATE))


def distance_to_center(column: int) -> int:
    """Return the distance of a column from the central column."""
    return abs(column - WIDTH // 2)


def value_of(score: int) -> str:
    """Return ``"win"``, ``"draw"`` or ``"loss"`` for a score."""
    return "draw" if score == 0 else "win" if score > 0 else "loss"


def plies_to_end(n_stones: Any, score: Any) -> Any:
    """Return the number of moves to the end under perfect play with ``n_stones`` on the board and a score other than 0.

    Both arguments are integers or arrays of integers.
    """
    n_of_winner = (n_stones + (score < 0)) // 2
    return 2 * (MOST + 1 - abs(score) - n_of_winner) - (score > 0)


def _jobs(states: Sequence[Connect4State], exact: bool) -> np.ndarray:
    """Create search jobs for positions. Some need no search, because `open_jobs` finishes them."""
    boards = np.array(states, dtype=np.int64).reshape(-1, 2)
    jobs = np.empty((len(boards), N_JOB_WORDS), dtype=np.int64)
    _connect4_search.open_jobs(0, len(boards), boards, exact, jobs)
    return jobs


def _dealt(queue: np.ndarray, ranges: np.ndarray, jobs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distribute the jobs that have not started evenly among workers. Return the new queue and the workers' ranges."""
    parts = [queue[begin:end] for begin, end in ranges.tolist()]
    begun = [part[: int(jobs[part[0], IS_RUNNING])] if len(part) else part for part in parts]
    free = np.concatenate([part[len(running) :] for part, running in zip(parts, begun, strict=True)])
    parts = [np.concatenate(pair) for pair in zip(begun, np.array_split(free, len(parts)), strict=True)]
    ends = np.cumsum([len(part) for part in parts])
    return np.concatenate(parts), np.column_stack([np.append(0, ends[:-1]), ends])

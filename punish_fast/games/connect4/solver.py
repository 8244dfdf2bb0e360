"""Exact scores of Connect Four by search; ``_search.py`` tells how.

A score is from the view of the player to move: 22 less the stones that the winner will have played if it wins, the same
below 0 if it loses, 0 for a draw. So the fastest win, with the fourth stone, scores 18, and a higher score wins sooner
or loses later.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from punish_fast.games.connect4 import _search as _connect4_search
from punish_fast.games.connect4._search import (
    HIGH,
    IS_RUNNING,
    LOW,
    N_JOB_WORDS,
    NODES,
    STACK_WORDS,
)
from punish_fast.games.connect4.game import N_SQUARES, WIDTH, Connect4, Connect4State
from punish_fast.games.contract import GameError
from punish_fast.runtime._jit import threads
from punish_fast.runtime.limits import require_memory
from punish_fast.runtime.parallel import for_each

# Of the table, in MB.
DEFAULT_MEMORY = 256
_LEAST_MEMORY, _MOST_MEMORY = 1, 1 << 20
_WORD_BYTES = 8
# Entries in use at first, which fit a cache; a position of more nodes gets more. Where a board is in the table depends
# on their number, so some are not found again when it grows; but an entry is sound anywhere.
_SMALL_TABLE = 1 << 20
# No score is above.
MOST = N_SQUARES // 2
# Nodes of a worker between two moments at which the search can be interrupted: tenths of a second.
_BUDGET = 1 << 22
_GAME = Connect4()
# A search with a deadline uses one thread, and looks at the clock this often.
_BUDGET_WITH_DEADLINE = 1 << 19
# A position that takes ten nodes.
_LATE = "24653743375777726665165611551112433"


class OutOfTimeError(Exception):
    """A search that reached its deadline before it found the answer."""


class Solutions(NamedTuple):
    """The scores of positions."""

    score: np.ndarray  # int64 ``[n]``; 1 for any win and -1 for any loss if only the value was asked for.
    # int64 ``[n]``, positions searched; depends on earlier searches, and on timing if there are several threads.
    nodes: np.ndarray


class MoveScores(NamedTuple):
    """The scores of the moves of a position."""

    # Score of each column, as in `Solutions`; None if the column is full or the game is over.
    scores: list[int | None]
    nodes: int  # Positions searched.


class Connect4Solver:
    """A solver and its table, which remembers positions from one call to the next."""

    def __init__(self, memory: int = DEFAULT_MEMORY) -> None:
        """Make an empty table.

        Args:
            memory: Its largest size in MB; half of it or more is used.
        """
        if not _LEAST_MEMORY <= memory <= _MOST_MEMORY:
            raise GameError(f"memory: {memory} is not allowed, it must be from {_LEAST_MEMORY} to {_MOST_MEMORY} MB")
        require_memory(memory * 1_000_000, "the table")
        n_entries = 1 << ((memory * 1_000_000 // _WORD_BYTES).bit_length() - 1)
        self._table = np.zeros(n_entries, dtype=np.int64)

    def solve(self, state: Connect4State, exact: bool = True) -> tuple[int, int]:
        """The score of a position, and the nodes searched; see `Solutions`."""
        found = self.solve_many([state], exact)
        return int(found.score[0]), int(found.nodes[0])

    def solve_many(self, states: Sequence[Connect4State], exact: bool = True) -> Solutions:
        """The scores of positions, which the threads share.

        Args:
            exact: Find the scores; or else only who wins, which is faster.
        """
        jobs = _jobs(states, exact)
        self._finish(jobs)
        return Solutions(jobs[:, LOW] if exact else np.sign(jobs[:, LOW]), jobs[:, NODES])

    def bounds(self, states: Sequence[Connect4State], until: float) -> np.ndarray:
        """Bounds of the scores of positions, int64 ``[n, 2]``, found until a moment of ``time.monotonic``."""
        jobs = _jobs(states, exact=True)
        self._finish(jobs, until)
        return jobs[:, (LOW, HIGH)]

    def _finish(self, jobs: np.ndarray, until: float = math.inf) -> None:
        """Search in rounds; before each, jobs that nobody has begun are dealt out anew."""
        queue = np.flatnonzero(jobs[:, LOW] < jobs[:, HIGH])
        if len(queue) == 0:
            return
        has_deadline = until < math.inf
        n_workers, budget = (1, _BUDGET_WITH_DEADLINE) if has_deadline else (min(threads(), len(queue)), _BUDGET)
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

    def score_moves(self, state: Connect4State, exact: bool = True) -> MoveScores:
        """The score of each column for the player to move."""
        actions = _GAME.actions(state)
        found = self.solve_many([_GAME.apply(state, action) for action in actions], exact)
        scores = dict(zip(actions, (-found.score).tolist(), strict=True))
        return MoveScores([scores.get(column) for column in range(WIDTH)], int(found.nodes.sum()))

    def best_column(self, state: Connect4State, score: int, until: float = math.inf) -> int:
        """The column that keeps the score; of several, the one nearest to the centre.

        Args:
            state: A position that is not over.
            until: The deadline, a moment of ``time.monotonic``.
        """
        columns = sorted(_GAME.actions(state), key=distance_to_centre)
        # No move is worth more, so one question tells whether a move is worth less; and the last one needs none.
        return next((c for c in columns[:-1] if self._is_at_most(_GAME.apply(state, c), -score, until)), columns[-1])

    def _is_at_most(self, state: Connect4State, score: int, until: float) -> bool:
        """Whether a position, whose score is this or more, has this score."""
        job = _jobs([state], exact=True)
        if job[0, LOW] < job[0, HIGH]:
            job[0, LOW], job[0, HIGH] = score, score + 1
            self._finish(job, until)
            if job[0, LOW] < job[0, HIGH]:
                raise OutOfTimeError
        return bool(job[0, LOW] == job[0, HIGH] == score)

    def line(self, state: Connect4State, score: int) -> list[int]:
        """The columns of best play to the end, of equal ones the one nearest to the centre."""
        columns = []
        while not _GAME.is_terminal(state):
            columns.append(self.best_column(state, score))
            state, score = _GAME.apply(state, columns[-1]), -score
        return columns


def compile_search() -> None:
    """Compile the search, or load it from the cache, so that times measured later are those of the search alone."""
    Connect4Solver(_LEAST_MEMORY).solve(_GAME.state_of(_LATE))


def distance_to_centre(column: int) -> int:
    """Columns between a column and the one in the centre."""
    return abs(column - WIDTH // 2)


def value_of(score: int) -> str:
    """``"win"``, ``"draw"`` or ``"loss"``."""
    return "draw" if score == 0 else "win" if score > 0 else "loss"


def plies_to_end(state: Connect4State, score: int) -> int | None:
    """The number of moves until the win or loss that a score tells of; None for a draw."""
    if score == 0:
        return None
    n_own, n_other = state.n_stones // 2, (state.n_stones + 1) // 2
    return 2 * (MOST + 1 - score - n_own) - 1 if score > 0 else 2 * (MOST + 1 + score - n_other)


def _jobs(states: Sequence[Connect4State], exact: bool) -> np.ndarray:
    """The jobs of positions, of which some are finished."""
    boards = np.array(states, dtype=np.int64).reshape(-1, 2)
    jobs = np.empty((len(boards), N_JOB_WORDS), dtype=np.int64)
    _connect4_search.open_jobs(0, len(boards), boards, exact, jobs)
    return jobs


def _dealt(queue: np.ndarray, ranges: np.ndarray, jobs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The queue and the ranges of the workers, after jobs that nobody has begun were dealt out evenly."""
    parts = [queue[begin:end] for begin, end in ranges.tolist()]
    begun = [part[: int(jobs[part[0], IS_RUNNING])] if len(part) else part for part in parts]
    free = np.concatenate([part[len(running) :] for part, running in zip(parts, begun, strict=True)])
    parts = [np.concatenate(pair) for pair in zip(begun, np.array_split(free, len(parts)), strict=True)]
    ends = np.cumsum([len(part) for part in parts])
    return np.concatenate(parts), np.column_stack([np.append(0, ends[:-1]), ends])

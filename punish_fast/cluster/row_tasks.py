"""Work of the workers: make the rows of some batches, back up their states, and return the results.

A worker lists the states of the game once and keeps them. Everything else it needs comes with a task: the values of the
layer that its blocks lead to, and, where they are not the game's own, the rewards of its rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from punish_fast.mdp.process import NonzeroCount, Payment, RowChoices
from punish_fast.punish.rules import Rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions import row_backups
from punish_fast.punish.transitions.row_builder import BlockRange, MadeRows, RowBuilder, RowMaker


class SharedGame(NamedTuple):
    """A game against an enemy."""

    rules: Rules
    enemy: str  # a name for the enemy's policy, unique in this run; empty for uniform play


class LayerValues(NamedTuple):
    """Values of the states that a layer leads to."""

    first: int  # index of the first state
    v: np.ndarray  # float64 ``[n]``
    terminals: np.ndarray  # float64 ``[2]``, values of win and loss


class RowTask(NamedTuple):
    """Consecutive batches of a layer."""

    number: int  # index of the task in its layer
    game: SharedGame
    batches: tuple[BlockRange, ...]  # blocks of each batch
    states: slice  # states of all batches
    rows: slice  # rows of all batches
    n_entries: int  # number of entries of all rows


class RowArrays(NamedTuple):
    """Arrays of the states and rows of a task; None if not needed."""

    discount: float  # the factor of the successors' values
    reward: np.ndarray | None = None  # float64 ``[n_rows]``; the game's own rewards if None
    q: np.ndarray | None = None  # float64 ``[n_rows]``, values of rows
    choice: np.ndarray | None = None  # int64 ``[n_states]``, the best row of each state


class TaskResult(NamedTuple):
    """Result of a task."""

    number: int  # the number of the task
    seconds: float  # duration
    arrays: dict[str, np.ndarray]  # new values, by the names of `RowArrays`
    # Further results of each batch: counts, or the statistics that `row_backups.close` returns, whose first number
    # is unused.
    parts: list[Any]


def find_rewards(task: RowTask, policy: np.ndarray | None) -> TaskResult:
    """The rewards of the rows, and how many successors they have."""
    reward = np.empty(task.rows.stop - task.rows.start)

    def work(made: MadeRows, _states: slice, rows: slice) -> NonzeroCount:
        reward[rows] = made.tensor.reward
        return row_backups.possible_entries(made)

    return _done(task, policy, {"reward": reward}, work)


def sweep(task: RowTask, policy: np.ndarray | None, arrays: RowArrays, following: LayerValues) -> TaskResult:
    """Take the best row of each state."""
    v, out = _columns(task, policy, following), _values(task)

    def work(made: MadeRows, states: slice, rows: slice) -> float:
        return row_backups.sweep(made, _payment(made, arrays, rows), v, out[states])

    return _done(task, policy, {"v": out}, work)


def evaluate(
    task: RowTask, policy: np.ndarray | None, arrays: RowArrays, following: LayerValues, weight: np.ndarray
) -> TaskResult:
    """Take each row of the game with its probability, ``weight``."""
    v, out, weight = _columns(task, policy, following), _values(task), weight[task.rows]

    def work(made: MadeRows, states: slice, rows: slice) -> float:
        return row_backups.evaluate(made, _payment(made, arrays, rows), weight[rows], v, out[states])

    return _done(task, policy, {"v": out}, work)


def close(task: RowTask, policy: np.ndarray | None, arrays: RowArrays, following: LayerValues) -> TaskResult:
    """Take the best row of each state, and update values of rows and choices."""
    assert arrays.q is not None and arrays.choice is not None
    v, out = _columns(task, policy, following), _values(task)
    q, choice = arrays.q.copy(), arrays.choice.copy()

    def work(made: MadeRows, states: slice, rows: slice) -> np.ndarray:
        own = RowChoices(q[rows], choice[states])
        return row_backups.close(made, _payment(made, arrays, rows), own, v, out[states])

    return _done(task, policy, {"v": out, "q": q, "choice": choice}, work)


class _Kept:
    """Data that a process keeps between tasks: the maker of the rows of its last game, and the last values."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._game: tuple[SharedGame, RowMaker] | None = None
        self._values: tuple[LayerValues, np.ndarray] | None = None

    def maker(self, game: SharedGame, policy: np.ndarray | None) -> RowMaker:
        """Return the maker of the rows of a game."""
        with self._lock:
            if self._game is None or self._game[0] != game:
                self._game = None
                self._game = game, RowMaker(RowBuilder(StateSpace(game.rules), policy))
            return self._game[1]

    def columns(self, n_states: int, following: LayerValues) -> np.ndarray:
        """Values of all columns, of which only those that are read take memory."""
        with self._lock:
            if self._values is None or self._values[0] is not following:
                v = np.empty(n_states + len(following.terminals))
                v[following.first : following.first + len(following.v)] = following.v
                v[n_states:] = following.terminals
                self._values = following, v
            return self._values[1]


_kept = _Kept()


def _columns(task: RowTask, policy: np.ndarray | None, following: LayerValues) -> np.ndarray:
    return _kept.columns(_kept.maker(task.game, policy).space.n_states, following)


def _values(task: RowTask) -> np.ndarray:
    """Room for the new values of the states; how much they change is for the client to find, who has the old ones."""
    return np.zeros(task.states.stop - task.states.start)


def _payment(made: MadeRows, arrays: RowArrays, rows: slice) -> Payment:
    return Payment(made.tensor.reward if arrays.reward is None else arrays.reward[rows], arrays.discount)


def _done(
    task: RowTask,
    policy: np.ndarray | None,
    arrays: dict[str, np.ndarray],
    work: Callable[[MadeRows, slice, slice], object],
) -> TaskResult:
    """Call ``work(made, states, rows)`` for each batch, with places counted from the first of the task."""
    maker, begin, parts = _kept.maker(task.game, policy), time.perf_counter(), []
    for blocks in task.batches:
        made = maker.make(blocks)
        parts.append(work(made, _from(task.states, made.states), _from(task.rows, made.rows)))
    return TaskResult(task.number, time.perf_counter() - begin, arrays, parts)


def _from(origin: slice, part: slice) -> slice:
    return slice(part.start - origin.start, part.stop - origin.start)

"""Backups of a layer's states on the workers of a cluster.

Each worker enumerates the states of the game once. The values of the next layer are sent to one worker. Every other
worker fetches these values once. Each task backs up consecutive batches and returns the new values. There are two tasks
per layer and thread, or more if a task would otherwise take longer than ten seconds.

A single task backs up each state, so values are bitwise identical for any number of workers and tasks. Dask moves the
tasks of a lost worker to other workers. If this fails, for example because all copies of a value are lost, the
unfinished tasks of the layer are submitted again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import numpy as np

from punish_fast.punish.rules import Rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.row_batches import BlockRange, RowArrays, RowBatches, RowBuilder, back_up
from punish_fast.runtime.cluster.connection import n_threads
from punish_fast.runtime.cluster.tasks import finished, hand_out, submit
from punish_fast.runtime.parallel import balanced_chunks, cumulated

if TYPE_CHECKING:
    from distributed import Client, Future

# Callback with the index of a layer, the number of finished tasks, and the total number of tasks in the layer.
TaskProgress = Callable[[int, int, int], None]

_TASKS_PER_THREAD = 2
# Maximum duration of a task in seconds. Long tasks delay the end of a layer, and their loss wastes more work.
_MOST_SECONDS = 10.0
# Initial estimate of the seconds that a thread needs to compute an entry of a row.
_USUAL_PACE = 1e-8


# Rules, and unique id of the enemy's policy in this run (empty if the enemy is uniform).
SharedGame = tuple[Rules, str]
# Consecutive batches of a layer.
RowTask = Sequence[BlockRange]


class LayerValues(NamedTuple):
    """Values of a layer's successors."""

    first: int  # index of the first state
    v: np.ndarray  # float64 [n]
    terminals: np.ndarray  # float64 [2], values of win and loss


class TaskResult(NamedTuple):
    """Result of a task."""

    pace: float  # seconds per entry of a row
    arrays: dict[str, np.ndarray]  # updated arrays of the task's `RowArrays`, by field
    # Statistics of each batch. The client sets the largest change later, because workers do not have the old values.
    statistics: list[np.ndarray]


class ClusterBlocks:
    """Executor (see ``row_batches.py``) that uses the workers of a cluster."""

    def __init__(self, client: Client, batches: RowBatches, progress: TaskProgress | None = None) -> None:
        """Prepare the executor. ``progress`` is called after each task."""
        self._client, self._batches, self._progress = client, batches, progress
        self._layer_ptr = batches.space.layer_ptr
        self._game = batches.space.rules, "" if batches.policy is None else uuid4().hex
        self._own_reward: np.ndarray | None = None
        # The enemy's policy on the cluster, fetched by all workers.
        self._policy: Future[Any] | None = None
        # Seconds that a thread needs to compute an entry of a row.
        self._entry_seconds = _USUAL_PACE

    def __call__(self, layer: int, arrays: RowArrays) -> list[np.ndarray]:
        """Back up all batches of a layer on the workers."""
        if arrays.v is None:
            self._own_reward = arrays.reward
        # Workers compute the rewards of the game.
        given = arrays._replace(reward=None if arrays.reward is self._own_reward else arrays.reward)
        paces: list[float] = []
        statistics: dict[int, list[np.ndarray]] = {}
        tasks = self._tasks(layer)
        for task, found in finished(self._client, tasks, partial(self._submit, layer, given), self._forget):
            paces.append(found.pace)
            statistics[task[0].begin] = _received(arrays.part(*_places(self._batches.builder, task)), found)
            if self._progress is not None:
                self._progress(layer, len(statistics), len(tasks))
        # A layer without states has no tasks. The median ignores the first tasks, whose times include compilation.
        if paces:
            self._entry_seconds = float(np.median(paces))
        return [batch for first in sorted(statistics) for batch in statistics[first]]

    def _forget(self) -> None:
        self._policy = None

    def _submit(self, layer: int, given: RowArrays, tasks: list[RowTask]) -> list[Future[Any]]:
        """Submit tasks with their arrays, and return the futures."""
        if self._policy is None:
            self._policy = hand_out(self._client, [self._batches.policy])[0]
        following = [] if given.v is None else hand_out(self._client, [self._following(layer, given.v)])
        sent = given._replace(v=None, values=None)
        own: list[Any] = [sent.part(*_places(self._batches.builder, task)) for task in tasks]
        if any(isinstance(each, np.ndarray) for each in sent):
            # Keep tasks small by sending their arrays to the workers separately.
            own = hand_out(self._client, own)
        return [
            submit(self._client, do_task, self._game, task, self._policy, each, *following)
            for task, each in zip(tasks, own, strict=True)
        ]

    def _following(self, layer: int, v: np.ndarray) -> LayerValues:
        """Return the values of a layer's successors."""
        following = (layer + 1) % (len(self._layer_ptr) - 1)
        first, end = self._layer_ptr[following : following + 2].tolist()
        return LayerValues(first, v[first:end].copy(), v[self._layer_ptr[-1] :].copy())

    def _tasks(self, layer: int) -> list[RowTask]:
        """Divide a layer into tasks of similar size."""
        ranges, nnz = self._batches.ranges[layer], self._batches.n_entries_of[layer]
        threads = max(1, n_threads(self._client))
        seconds = nnz.sum() * self._entry_seconds / threads
        # The number of tasks is a multiple of the number of threads, so that all threads finish at about the same time.
        per_thread = max(_TASKS_PER_THREAD, math.ceil(seconds / _MOST_SECONDS))
        ends = balanced_chunks(cumulated(nnz), per_thread * threads).tolist()
        return [ranges[begin:end] for begin, end in pairwise(ends)]


def _places(builder: RowBuilder, task: RowTask) -> tuple[slice, slice]:
    """Return the states and rows of a task."""
    return builder.places(BlockRange(task[0].layer, task[0].begin, task[-1].end))


def _received(arrays: RowArrays, found: TaskResult) -> list[np.ndarray]:
    """Copy a task's updated arrays to ``arrays``. Return the statistics of its batches with the largest change."""
    if arrays.values is not None:
        largest = np.abs(found.arrays["values"] - arrays.values).max(initial=0)
        for batch in found.statistics:
            batch[0] = largest
    for name, array in found.arrays.items():
        getattr(arrays, name)[:] = array
    return found.statistics


class _Kept:
    """Data that a worker process reuses in later tasks: the `RowBuilder` of the last game, and the last values sent."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._game: tuple[SharedGame, RowBuilder] | None = None
        self._values: tuple[LayerValues, np.ndarray] | None = None

    def builder(self, game: SharedGame, policy: np.ndarray | None) -> RowBuilder:
        """Return the `RowBuilder` of a game."""
        with self._lock:
            if self._game is None or self._game[0] != game:
                self._game = None
                self._game = game, RowBuilder(StateSpace(game[0]), policy)
            return self._game[1]

    def columns(self, n_states: int, following: LayerValues) -> np.ndarray:
        """Return the values of all columns. States outside the next layer are uninitialized and use no memory."""
        with self._lock:
            if self._values is None or self._values[0] is not following:
                v = np.empty(n_states + len(following.terminals))
                v[following.first : following.first + len(following.v)] = following.v
                v[n_states:] = following.terminals
                self._values = following, v
            return self._values[1]


_kept = _Kept()


def do_task(
    game: SharedGame,
    task: RowTask,
    policy: np.ndarray | None,
    given: RowArrays,
    following: LayerValues | None = None,
) -> TaskResult:
    """Back up the batches of a task in a worker process, on copies of the arrays."""
    builder, v = _kept.builder(game, policy), None
    states, rows = _places(builder, task)
    updated: dict[str, Any]
    if following is None:
        updated = {"reward": np.empty(rows.stop - rows.start)}
    else:
        v = _kept.columns(builder.space.n_states, following)
        old = {"q": given.q, "choice": given.choice}
        updated = {name: array.copy() for name, array in old.items() if array is not None}
        updated["values"] = np.zeros(states.stop - states.start)
    arrays, begin, statistics, nnz = given._replace(v=v, **updated), time.perf_counter(), [], 0
    for blocks in task:
        made = builder.make(blocks)
        statistics.append(back_up(made, arrays))
        nnz += int(made.tensor.indptr[-1])
    return TaskResult((time.perf_counter() - begin) / nnz, updated, statistics)

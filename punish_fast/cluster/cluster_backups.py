"""Backups of the states of a layer, spread over the workers of a cluster.

The values of the layer that follows are handed to a worker, from which each of the others fetches them once; each task
backs up a run of batches and sends the new values back. Each thread gets two tasks of a layer, more if these would take
longer than ten seconds, and one if handing out a second took more than a tenth of its time, as measured.

Every state has one owner, so values have the same bits for any number of workers and any tasks. Dask gives the tasks of
a worker that died to others. If that fails, for example because no worker has some values any more, the layer is done
again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from punish_fast.cluster import row_tasks
from punish_fast.cluster.cluster_tasks import finished, hand_out, submit
from punish_fast.cluster.connection import n_threads
from punish_fast.cluster.row_tasks import LayerValues, RowArrays, RowTask, SharedGame, TaskResult
from punish_fast.cluster.sweep_progress import SweepProgress, TaskProgress
from punish_fast.mdp.process import NonzeroCount, Payment, RowChoices
from punish_fast.punish.transitions import row_backups
from punish_fast.punish.transitions.row_batches import RowBatches
from punish_fast.punish.transitions.row_builder import BlockRange
from punish_fast.runtime.parallel import balanced_chunks, cumulated

if TYPE_CHECKING:
    from distributed import Client, Future

Work = Callable[..., TaskResult]

# Number of times that Dask repeats a failed task.
_RETRIES = 10
_TASKS_PER_THREAD = 2
# A longer task would be too much to lose with a worker, and too long to wait for at the end of a layer.
_MOST_SECONDS = 10.0
# Work of a task, as a multiple of the time to hand it out.
_LEAST_WORK = 10
_SAMPLE = 32
# Seconds to make an entry, until it is measured.
_USUAL_PACE = 1e-8


@dataclass(frozen=True)
class Overhead:
    """Measured costs of tasks."""

    task: float  # seconds to submit a task and fetch its result
    entry: float  # seconds of a thread to make an entry of a row


class ClusterBackups:
    """Backups by the workers of a cluster."""

    def __init__(self, client: Client, batches: RowBatches, progress: TaskProgress | None = None) -> None:
        """Measure the cost of a task.

        Args:
            client: The cluster.
            batches: The rows of the game.
            progress: Called as ``progress(done, tasks, seconds_left)`` after each task of a sweep.
        """
        self._client = client
        self._batches = batches
        self._layer_ptr = batches.space.layer_ptr
        self._game = SharedGame(batches.space.rules, "" if batches.policy is None else uuid4().hex)
        self._own_reward: np.ndarray | None = None
        # Arrays of all workers, by name.
        self._shared: dict[str, tuple[np.ndarray | None, Future[Any]]] = {}
        self._progress = SweepProgress([int(n.sum()) for n in batches.n_entries_of], progress)
        self.overhead = Overhead(_seconds_of_a_task(client), _USUAL_PACE)

    def find_rewards(self, layer: int, reward: np.ndarray) -> NonzeroCount:
        """Write the rewards of the rows of a layer, float64 ``[n_rows]``; return how many successors these have."""
        self._own_reward = reward
        counts: list[NonzeroCount] = []
        for task, found in self._spread(row_tasks.find_rewards, layer):
            reward[task.rows] = found.arrays["reward"]
            counts.extend(found.parts)
        return row_backups.total(counts)

    def sweep(self, layer: int, payment: Payment, v: np.ndarray, out: np.ndarray) -> float:
        """Take the best row of each state; return the largest change."""

        def arrays(task: RowTask) -> RowArrays:
            return RowArrays(payment.discount, self._reward(payment, task))

        return _replace(out, self._spread(row_tasks.sweep, layer, arrays, v))

    def evaluate(self, layer: int, payment: Payment, weight: np.ndarray, v: np.ndarray, out: np.ndarray) -> float:
        """Take row ``r`` with probability ``weight[r]``; return the largest change."""

        def arrays(task: RowTask) -> RowArrays:
            return RowArrays(payment.discount, self._reward(payment, task))

        return _replace(out, self._spread(row_tasks.evaluate, layer, arrays, v, weight))

    def close(self, layer: int, payment: Payment, choices: RowChoices, v: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Take the best row, and update values of rows and choices; see `punish_fast.mdp.process.Backups.close`."""

        def arrays(task: RowTask) -> RowArrays:
            own = RowArrays(payment.discount, self._reward(payment, task))
            return own._replace(q=choices.q[task.rows], choice=choices.row[task.states])

        parts: dict[int, list[np.ndarray]] = {}

        def done() -> Iterator[tuple[RowTask, TaskResult]]:
            for task, found in self._spread(row_tasks.close, layer, arrays, v):
                choices.q[task.rows] = found.arrays["q"]
                choices.row[task.states] = found.arrays["choice"]
                parts[task.number] = found.parts
                yield task, found

        change = _replace(out, done())
        sums = row_backups.total_change([part for number in sorted(parts) for part in parts[number]])
        return np.append(change, sums[1:])

    def _reward(self, payment: Payment, task: RowTask) -> np.ndarray | None:
        """Rewards of the rows; None if workers have them."""
        return None if payment.reward is self._own_reward else payment.reward[task.rows]

    def _spread(
        self,
        work: Work,
        layer: int,
        arrays: Callable[[RowTask], RowArrays] | None = None,
        v: np.ndarray | None = None,
        shared: np.ndarray | None = None,
    ) -> Iterator[tuple[RowTask, TaskResult]]:
        """Do all tasks of a layer by ``work``; yield their results as they complete.

        Each task gets its part of ``arrays``, values of the states of the next layer from ``v``, and ``shared`` whole.
        """
        paces: list[float] = []

        def begin() -> dict[int, RowTask]:
            tasks = self._tasks(layer)
            self._progress.begin_layer(layer, len(tasks))
            return {task.number: task for task in tasks}

        def submit_all(tasks: list[RowTask]) -> list[Future[Any]]:
            return self._submit(work, layer, tasks, (arrays, shared), v)

        for task, found in finished(self._client, begin, submit_all, self._shared.clear):
            paces.append(found.seconds / task.n_entries)
            self._progress.end_task(task.n_entries)
            yield task, found
        if paces:  # a layer may have no states; the first tasks may compile
            self.overhead = replace(self.overhead, entry=float(np.median(paces)))

    def _handed(self, name: str, value: np.ndarray | None) -> Future[Any]:
        """A value that all workers have; it is sent once."""
        known = self._shared.get(name)
        if known is None or known[0] is not value:
            known = self._shared[name] = value, hand_out(self._client, [value])[0]
        return known[1]

    def _submit(
        self,
        work: Work,
        layer: int,
        tasks: list[RowTask],
        given: tuple[Callable[[RowTask], RowArrays] | None, np.ndarray | None],
        v: np.ndarray | None,
    ) -> list[Future[Any]]:
        """Submit tasks together with their shared arrays."""
        arrays, shared = given
        policy = self._handed("policy", self._batches.policy)
        following = [] if v is None else hand_out(self._client, [self._following(layer, v)])
        if shared is not None:
            following.append(self._handed("weight", shared))
        own: list[Any] = [] if arrays is None else [arrays(task) for task in tasks]
        if any(isinstance(each, np.ndarray) for each in (own[0] if own else ())):
            # Arrays go to workers as data, since tasks themselves should be small.
            own = hand_out(self._client, own)

        def submit_one(task: RowTask, *given: Any) -> Future[Any]:
            return submit(self._client, work, task, policy, *given, *following, retries=_RETRIES)

        return list(map(submit_one, tasks, own)) if own else list(map(submit_one, tasks))

    def _following(self, layer: int, v: np.ndarray) -> LayerValues:
        """The values that a layer leads to."""
        following = (layer + 1) % (len(self._layer_ptr) - 1)
        first, end = self._layer_ptr[following : following + 2].tolist()
        return LayerValues(first, v[first:end].copy(), v[self._layer_ptr[-1] :].copy())

    def _tasks(self, layer: int) -> list[RowTask]:
        """Cut a layer into tasks of similar work."""
        ranges, n_entries = self._batches.ranges[layer], self._batches.n_entries_of[layer]
        threads = max(1, n_threads(self._client))
        seconds = n_entries.sum() * self.overhead.entry / threads
        # As many for each thread, so that none waits for another.
        worthwhile = math.ceil(seconds / (_LEAST_WORK * self.overhead.task))
        per_thread = max(min(_TASKS_PER_THREAD, worthwhile), math.ceil(seconds / _MOST_SECONDS))
        ends = balanced_chunks(cumulated(n_entries), per_thread * threads).tolist()
        return [
            self._task(number, tuple(ranges[begin:end]), int(n_entries[begin:end].sum()))
            for number, (begin, end) in enumerate(pairwise(ends))
        ]

    def _task(self, number: int, batches: tuple[BlockRange, ...], n_entries: int) -> RowTask:
        (states, rows), (last_states, last_rows) = (self._batches.places(batches[place]) for place in (0, -1))
        states, rows = slice(states.start, last_states.stop), slice(rows.start, last_rows.stop)
        return RowTask(number, self._game, batches, states, rows, n_entries)


def _replace(out: np.ndarray, done: Iterator[tuple[RowTask, TaskResult]]) -> float:
    """Write new values over old ones; return the largest change."""
    largest = 0.0
    for task, found in done:
        change = np.abs(found.arrays["v"] - out[task.states]).max(initial=0)
        largest = max(largest, float(change))
        out[task.states] = found.arrays["v"]
    return largest


def _seconds_of_a_task(client: Client) -> float:
    """Seconds to hand out a task that does nothing, and to fetch its result; the smaller of two measurements."""
    sample, seconds = dict(enumerate(range(_SAMPLE))), []

    def submit_all(numbers: list[int]) -> list[Future[Any]]:
        return [submit(client, _do_nothing, number, retries=_RETRIES) for number in numbers]

    for _ in range(2):
        begin = time.perf_counter()
        list(finished(client, lambda: sample, submit_all, lambda: None))
        seconds.append((time.perf_counter() - begin) / _SAMPLE)
    return min(seconds)


def _do_nothing(number: int) -> int:
    return number

"""The decision process of a game without its transitions: rows are made again in each sweep, and thrown away.

The transitions of a game take some hundred bytes a state, its values eight. So a large game is solved *matrix-free*: a
thread makes the rows of a few blocks, backs up their states, and uses the same memory for the next blocks. Left are the
state index (`StateSpace`), the rewards and values of rows, and a *batch* of rows for each thread.

The rows are those of a compact tensor, made by the same kernels (``row_builder.py``) and backed up by the same kernels
(``punish_fast/mdp/_bellman.py``) in the same order. So all values have the same bits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from punish_fast.mdp import _bellman
from punish_fast.mdp.process import NonzeroCount, Payment, RowChoices
from punish_fast.punish._tensor import TensorRows, place_rows
from punish_fast.punish.row_builder import RowBuilder, RowCounts
from punish_fast.punish.space import Progress, StateSpace
from punish_fast.punish.tensor import TERMINAL_REWARD
from punish_fast.runtime.memory import require_memory
from punish_fast.runtime.parallel import cumulated, for_chunks, for_each

# Entries of a batch, unless a single block has more: few enough for a processor's cache, enough for calls to pay.
_BATCH = 1 << 18
# Rows that are counted at once.
_COUNTED = 1 << 18
_ONE_CHUNK = (0, 1)


class BlockRange(NamedTuple):
    """Consecutive blocks of a layer whose rows are made at once.

    Attributes:
        layer: The number of the layer.
        begin: The first block.
        end: The block after the last.
    """

    layer: int
    begin: int
    end: int


class _Memory(NamedTuple):
    """Room for the rows of a batch: as in `TensorRows`, but for the owners, which become ``data_ptr``."""

    indptr: np.ndarray
    owner: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    reward: np.ndarray


class MatrixFree:
    """A process that makes its transitions when they are needed.

    It has the attributes of `punish_fast.mdp.model.MDP` that solvers use, except for the transitions.

    Attributes:
        state_ptr: int64 ``[n_states + 1]``, where the rows of each state begin.
        reward: float64 ``[n_rows]``, expected immediate rewards.
        terminal_reward: float64 ``[2]``, those of win and loss at every step.
        layer_ptr: int64 ``[n_layers + 1]``, where the states of each layer begin.
        action: uint8 ``[n_rows]``, the two-digit codes of the actions.
        longest_rows: int64 ``[n_layers]``, entries of the longest row of each layer.
        n_entries: Entries of all rows, impossible ones included.
    """

    # Every layer leads only to the next one, and the last to the first.
    is_cycle = True

    def __init__(self, space: StateSpace, policy: np.ndarray | None = None, progress: Progress | None = None) -> None:
        """Count the rows and find their rewards.

        Args:
            space: The states of the game.
            policy: The enemy's policy, float64 ``[n_rows]`` along ``space.action``; uniform if None.
            progress: Called as ``progress("rows", done, layers)`` when those of a layer are counted.

        Raises:
            PolicyError: the policy does not belong to these states.
            InformationError: the states are not of the model ``view``.
            MemoryError: the values would not fit into memory.
        """
        self._builder = RowBuilder(space, policy)
        self._space = space
        self.state_ptr, self.action, self.layer_ptr = space.state_ptr, space.action, space.layer_ptr
        self.terminal_reward = TERMINAL_REWARD.copy()
        n_rows = len(self.action)
        require_memory(space.nbytes + 17 * n_rows + 48 * space.n_states, f"the values of {n_rows:,} rows")
        self.reward = np.zeros(n_rows)
        self.longest_rows = np.zeros(self.n_layers, dtype=np.int64)
        self._batches: list[list[BlockRange]] = []
        self.n_entries = 0
        self._nonzeros = NonzeroCount(0, 0)
        self._most_rows = self._most_entries = 0
        self._own = threading.local()
        for layer in range(self.n_layers):
            self._batches.append(self._cut(layer))
            if progress is not None:
                progress("rows", layer + 1, self.n_layers)
        for layer in range(self.n_layers):
            self._find_rewards(layer)

    def __repr__(self) -> str:
        sizes = f"{self.n_states:,} states, {self.n_rows:,} rows, {self.n_entries:,} entries, {self.n_layers} layers"
        return f"MatrixFree({sizes})"

    @property
    def n_states(self) -> int:
        """States, without terminals."""
        return len(self.state_ptr) - 1

    @property
    def n_rows(self) -> int:
        """State-action pairs."""
        return len(self.action)

    @property
    def n_layers(self) -> int:
        """Layers."""
        return len(self.layer_ptr) - 1

    @property
    def n_columns(self) -> int:
        """States and terminals."""
        return self.n_states + len(self.terminal_reward)

    @property
    def longest_row(self) -> int:
        """Entries of the longest row."""
        return int(self.longest_rows.max(initial=0))

    @cached_property
    def backups(self) -> MadeBackups:
        """How its states are backed up."""
        return MadeBackups(self)

    def nonzeros(self) -> NonzeroCount:
        """How many successors rows have."""
        return self._nonzeros

    def is_independent(self, _layer: int) -> bool:
        """That the states of a layer can be updated in place: none leads to another of them."""
        return True

    def for_rows(self, layer: int, work: Callable[[int, slice, slice, TensorRows], None]) -> int:
        """Make the rows of a layer, and call ``work(batch, states, rows, made)`` for each batch, spread over threads.

        Returns:
            The number of batches.
        """
        batches = self._batches[layer]

        def make(begin: int, end: int) -> None:
            for number in range(begin, end):
                batch = batches[number]
                work(number, *self._places(batch), self._make(batch))

        for_each(make, len(batches))
        return len(batches)

    def _places(self, batch: BlockRange) -> tuple[slice, slice]:
        """The states and rows of a batch."""
        first, end = self._space.layers[batch.layer].first[[batch.begin, batch.end]].tolist()
        return slice(first, end), slice(*self.state_ptr[[first, end]].tolist())

    def _make(self, batch: BlockRange) -> TensorRows:
        """The rows of a batch, in memory that the thread uses again for its next one."""
        room = self._room()
        _, rows = self._places(batch)
        n_rows = rows.stop - rows.start
        counts = RowCounts(rows.start, room.indptr[1 : n_rows + 1], room.owner[:n_rows])
        self._builder.count(batch.begin, batch.end, batch.layer, counts)
        indptr, owner = room.indptr[: n_rows + 1], room.owner[:n_rows]
        n_data = int(place_rows(indptr, owner))
        arrays = (indptr, room.indices[: indptr[-1]], owner, room.data[:n_data], room.reward[:n_rows])
        made = TensorRows(self.state_ptr, *arrays, rows.start)
        self._builder.fill(batch.begin, batch.end, batch.layer, made)
        return made

    def _room(self) -> _Memory:
        """The memory of this thread."""
        room = getattr(self._own, "room", None)
        if room is None:
            most_rows, most_entries = self._most_rows, self._most_entries
            room = _Memory(
                np.zeros(most_rows + 1, dtype=np.int64),
                np.zeros(most_rows, dtype=np.int64),
                np.zeros(most_entries, dtype=np.int32),
                np.zeros(most_entries),
                np.zeros(most_rows),
            )
            self._own.room = room
        return room

    def _cut(self, layer: int) -> list[BlockRange]:
        """Cut a layer into batches of similar size."""
        first = self._space.layers[layer].first
        n_entries = np.zeros(len(first) - 1, dtype=np.int64)
        longest = np.zeros(len(first) - 1, dtype=np.int64)

        def count(begin: int, end: int) -> None:
            while begin < end:
                row = self.state_ptr[first[begin]]
                ptr = self.state_ptr[first[begin : end + 1]]
                stop = begin + max(1, int(np.searchsorted(ptr, row + _COUNTED, side="right")) - 1)
                length = np.empty(ptr[stop - begin] - row, dtype=np.int64)
                self._builder.count(begin, stop, layer, RowCounts(int(row), length, np.empty_like(length)))
                places = ptr[: stop - begin] - row
                n_entries[begin:stop] = np.add.reduceat(length, places)
                longest[begin:stop] = np.maximum.reduceat(length, places)
                begin = stop

        for_chunks(count, first)
        self.longest_rows[layer] = longest.max(initial=0)
        begins = cumulated(n_entries)
        self.n_entries += int(begins[-1])
        batches, begin = [], 0
        while begin < len(n_entries):
            end = max(begin + 1, int(np.searchsorted(begins, begins[begin] + _BATCH, side="right")) - 1)
            batches.append(BlockRange(layer, begin, end))
            _, rows = self._places(batches[-1])
            self._most_rows = max(self._most_rows, rows.stop - rows.start)
            self._most_entries = max(self._most_entries, int(begins[end] - begins[begin]))
            begin = end
        return batches

    def _find_rewards(self, layer: int) -> None:
        """Write the rewards of the rows of a layer, and count the entries that are possible."""
        counts: list[NonzeroCount] = [self._nonzeros]

        def keep(_batch: int, _states: slice, rows: slice, made: TensorRows) -> None:
            # Between two measures nothing is paid.
            self.reward[rows] = made.reward if layer < self.n_layers - 1 else 0.0
            length = np.diff(made.indptr)
            if not made.data.all():
                _bellman.count_shared(0, len(length), made.indptr, made.data_ptr, made.data, length)
            counts.append(NonzeroCount(int(length.sum()), int(length.max(initial=0))))

        self.for_rows(layer, keep)
        self._nonzeros = NonzeroCount(sum(count.total for count in counts), max(count.longest for count in counts))


class MadeBackups:
    """Backups of a process that makes its transitions."""

    def __init__(self, process: MatrixFree) -> None:
        self._process = process

    def sweep(self, layer: int, payment: Payment, v: np.ndarray, out: np.ndarray) -> float:
        """Take the best row of each state; return the largest change."""
        residual: list[float] = []

        def work(_batch: int, states: slice, rows: slice, made: TensorRows) -> None:
            change = np.zeros(1)
            _bellman.sweep(*_ONE_CHUNK, *self._settings(states, rows, made, payment), v, out[states], change)
            residual.append(float(change[0]))

        self._process.for_rows(layer, work)
        return max(residual, default=0.0)

    def evaluate(self, layer: int, payment: Payment, weight: np.ndarray, v: np.ndarray, out: np.ndarray) -> float:
        """Take row ``r`` with probability ``weight[r]``; return the largest change."""
        residual: list[float] = []

        def work(_batch: int, states: slice, rows: slice, made: TensorRows) -> None:
            change = np.zeros(1)
            settings = self._settings(states, rows, made, payment)
            _bellman.evaluate_policy(*_ONE_CHUNK, *settings, weight[rows], v, out[states], change)
            residual.append(float(change[0]))

        self._process.for_rows(layer, work)
        return max(residual, default=0.0)

    def close(self, layer: int, payment: Payment, choices: RowChoices, v: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Take the best row, and update values of rows and choices; see `punish_fast.mdp.process.Backups.close`."""
        found: dict[int, np.ndarray] = {}

        def work(batch: int, states: slice, rows: slice, made: TensorRows) -> None:
            statistics = np.zeros((1, 3))
            choice = (choices.row[states] - rows.start).view(np.uint64)
            settings = self._settings(states, rows, made, payment)
            arrays = (v, choices.q[rows], out[states], choice, statistics)
            _bellman.back_up_rows(*_ONE_CHUNK, *settings, *arrays)
            choices.row[states] = choice.view(np.int64) + rows.start
            found[batch] = statistics[0]

        # Sums in the order of batches, so that they have the same bits for any number of threads.
        parts = np.array([found[batch] for batch in range(self._process.for_rows(layer, work))]).reshape(-1, 3)
        return np.append(parts[:, 0].max(initial=0), parts[:, 1:].sum(axis=0))

    def _settings(self, states: slice, rows: slice, made: TensorRows, payment: Payment) -> tuple[Any, ...]:
        """What the kernels take of a batch, as one chunk of states."""
        chunk = np.array([0, states.stop - states.start], dtype=np.uint64)
        state_ptr = (self._process.state_ptr[states.start : states.stop + 1] - rows.start).view(np.uint64)
        indptr, indices = made.indptr.view(np.uint64), made.indices.view(np.uint32)
        tensor = _bellman.Tensor(state_ptr, indptr, indices, made.data, payment.reward[rows])
        return chunk, tensor, made.data_ptr.view(np.uint64), payment.discount

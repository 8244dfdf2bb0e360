"""Rows of a game in batches that are computed, backed up and discarded.

A *batch* is a run of consecutive blocks. A thread counts and fills the rows of a batch, passes them to a function and
reuses the memory for the next batch, so all rows of a game can be processed without storing a tensor.

Each kind of backup is a function (`Work`) of the rows of some blocks and of the arrays of these states and rows. An
executor calls the function for all batches of a layer: local threads write to the arrays directly,
whereas workers of a cluster return new values (``cluster_blocks.py``). Results are summed in the
order of the batches, so sums do not depend on the executor.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from punish_fast.mdp.model import _bellman
from punish_fast.mdp.model.process import NonzeroCount
from punish_fast.punish.states.space import Progress, StateSpace
from punish_fast.punish.transitions.row_builder import BlockRange, MadeRows, RowBuilder, count_rows, in_order
from punish_fast.runtime.parallel import cumulated, for_chunks, for_each

_ONE_CHUNK = (0, 1)
# Fields of `RowArrays` with one element per state, and with one element per row.
_OF_STATES, _OF_ROWS = ("values", "choice"), ("reward", "policy", "q")


class RowArrays(NamedTuple):
    """Arrays of some states and their rows, or None if a backup does not need them."""

    discount: float = 1.0  # factor by which successors' values are multiplied
    v: np.ndarray | None = None  # float64 [n_columns], values of all columns, read for successors only
    reward: np.ndarray | None = None  # float64 [n_rows], or the game's own rewards if None
    policy: np.ndarray | None = None  # float64 [n_rows], probability of each row in its state
    q: np.ndarray | None = None  # float64 [n_rows], values of rows, updated
    choice: np.ndarray | None = None  # int64 [n_states], best row of each state, updated
    values: np.ndarray | None = None  # float64 [n_states], values of states, updated

    def part(self, states: slice, rows: slice) -> RowArrays:
        """Return views of the arrays of some of the states and rows."""
        places = dict.fromkeys(_OF_STATES, states) | dict.fromkeys(_OF_ROWS, rows)
        arrays = ((name, getattr(self, name)) for name in places)
        return self._replace(**{name: array[places[name]] for name, array in arrays if array is not None})


# A backup of the states of a batch.
Work = Callable[[MadeRows, RowArrays], Any]


# Calls a function for each batch of a layer and returns the results in order. The function gets the batch's part of the
# arrays, which it may update.
Executor = Callable[[Work, int, RowArrays], list[Any]]


def find_rewards(made: MadeRows, arrays: RowArrays) -> NonzeroCount:
    """Write the rewards of the rows and count the entries with positive probability."""
    tensor = made.tensor
    if arrays.reward is not None:
        arrays.reward[:] = tensor.reward
    length = np.diff(tensor.indptr)
    if not tensor.data.all():
        _bellman.count_shared(0, len(length), tensor.indptr, tensor.data_ptr, tensor.data, length)
    return NonzeroCount(int(length.sum()), int(length.max(initial=0)))


def sweep(made: MadeRows, arrays: RowArrays) -> np.ndarray:
    """Back up each state with its best row, and return float64 ``[3]`` with the largest change first."""
    statistics = np.zeros(3)
    _bellman.sweep(*_ONE_CHUNK, *_settings(made, arrays), arrays.v, arrays.values, statistics)
    return statistics


def evaluate(made: MadeRows, arrays: RowArrays) -> np.ndarray:
    """Back up each state with the weighted mean of its rows. Return float64 ``[3]``, the largest change first."""
    statistics = np.zeros(3)
    _bellman.evaluate_policy(*_ONE_CHUNK, *_settings(made, arrays), arrays.policy, arrays.v, arrays.values, statistics)
    return statistics


def close(made: MadeRows, arrays: RowArrays) -> np.ndarray:
    """Back up each state with its best row, update ``q`` and ``choice``, and return float64 ``[3]``.

    The elements are the largest change, the sum of squared changes of ``q``, and the number of changed choices.
    """
    assert arrays.choice is not None
    statistics = np.zeros((1, 3))
    choice = (arrays.choice - made.rows.start).view(np.uint64)
    settings = _settings(made, arrays)
    _bellman.back_up_rows(*_ONE_CHUNK, *settings, arrays.v, arrays.q, arrays.values, choice, statistics)
    arrays.choice[:] = choice.view(np.int64) + made.rows.start
    return np.ravel(statistics)


def total(counts: Sequence[NonzeroCount]) -> NonzeroCount:
    """Return the total number of entries and the length of the longest row of all parts."""
    return NonzeroCount(sum(count.total for count in counts), max((count.longest for count in counts), default=0))


def total_change(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return the maximum of the largest changes, and the other statistics, summed in the order of the batches."""
    table = np.array(parts).reshape(-1, 3)
    return np.append(table[:, 0].max(initial=0), table[:, 1:].sum(axis=0))


def _settings(made: MadeRows, arrays: RowArrays) -> tuple[Any, ...]:
    """Return the arguments of the kernels for one chunk of states."""
    states, rows, tensor = made
    chunk = np.array([0, states.stop - states.start], dtype=np.uint64)
    state_ptr = (tensor.state_ptr[states.start : states.stop + 1] - rows.start).view(np.uint64)
    indptr, indices = tensor.indptr.view(np.uint64), tensor.indices.view(np.uint32)
    reward = tensor.reward if arrays.reward is None else arrays.reward
    transitions = _bellman.Tensor(state_ptr, indptr, indices, tensor.data, reward)
    return chunk, transitions, tensor.data_ptr.view(np.uint64), arrays.discount


# Maximum number of entries of a batch, unless a single block has more. Batches should fit into the CPU cache, and be
# large enough to make the overhead of calls negligible.
_BATCH = 1 << 18
# Maximum number of rows counted in one call, unless a single block has more.
_COUNTED = 1 << 18
# Bytes per entry and per row of a batch.
_ENTRY_BYTES, _ROW_BYTES = 12, 24


class RowBatches:
    """The rows of a game, divided into batches."""

    def __init__(self, space: StateSpace, policy: np.ndarray | None = None, progress: Progress | None = None) -> None:
        """Count the entries of all rows if the enemy follows ``policy``, float64 ``[n_rows]``, or None if uniform."""
        self.space = space
        self.policy = policy
        self.builder = RowBuilder(space, policy)
        # Number of entries of the longest row of each layer.
        self.longest_rows = np.zeros(len(space.layers), dtype=np.int64)
        # Number of entries of all rows (including entries of probability 0), and number of probabilities in a compact
        # tensor.
        self.nnz = self.n_probabilities = 0
        self._most_rows = self._most_entries = 0
        # Blocks and number of entries (int64) of each batch, by layer.
        self.ranges: list[list[BlockRange]] = []
        self.n_entries_of: list[np.ndarray] = []
        for layer in range(len(space.layers)):
            self._cut(layer)
            if progress is not None:
                progress("rows", layer + 1, len(space.layers))

    def __repr__(self) -> str:
        return f"RowBatches({self.space!r}, {self.nnz:,} entries)"

    @property
    def nbytes(self) -> int:
        """Maximum size of a batch in bytes. Each thread holds one batch."""
        return _ENTRY_BYTES * self._most_entries + _ROW_BYTES * self._most_rows

    def map_blocks(self, work: Work, layer: int, arrays: RowArrays) -> list[Any]:
        """Implement `Executor`: make the rows of a layer in local threads, and call ``work`` for each batch."""
        ranges = self.ranges[layer]
        found: list[Any] = [None] * len(ranges)

        def make(begin: int, end: int) -> None:
            for number in range(begin, end):
                made = self.builder.make(ranges[number])
                found[number] = work(made, arrays.part(made.states, made.rows))

        for_each(make, len(ranges))
        return found

    def seconds_to_make(self, n_batches: int = 32) -> float:
        """Return the mean seconds that one thread needs to make an entry, measured on a sample of batches."""
        ranges = [blocks for layer in self.ranges for blocks in layer]
        sample = ranges[:: max(1, len(ranges) // n_batches)]
        # Make two batches first: these calls can trigger compilation, and the last layer uses a different kernel.
        self.builder.make(sample[0])
        self.builder.make(ranges[-1])
        begin = time.perf_counter()
        nnz = sum(int(self.builder.make(blocks).tensor.indptr[-1]) for blocks in sample)
        return (time.perf_counter() - begin) / nnz

    def _cut(self, layer: int) -> None:
        """Count the rows of a layer, and divide it into batches of similar size."""
        first, state_ptr = self.space.layers[layer].first, self.space.state_ptr
        nnz, n_shared, longest = np.zeros((3, len(first) - 1), dtype=np.int64)

        def count(begin: int, end: int) -> None:
            while begin < end:
                row = int(state_ptr[first[begin]])
                ptr = state_ptr[first[begin : end + 1]] - row
                stop = begin + max(1, int(np.searchsorted(ptr, _COUNTED, side="right")) - 1)
                length, owner = np.empty((2, ptr[stop - begin]), dtype=np.int64)
                count_rows(in_order(self.space, BlockRange(layer, begin, stop)), layer, self.space, row, length, owner)
                places = ptr[: stop - begin]
                nnz[begin:stop] = np.add.reduceat(length, places)
                longest[begin:stop] = np.maximum.reduceat(length, places)
                n_shared[begin:stop] = np.add.reduceat(np.where(owner < np.arange(len(owner)), length, 0), places)
                begin = stop

        for_chunks(count, first)
        self.longest_rows[layer] = longest.max(initial=0)
        self.nnz += int(nnz.sum())
        self.n_probabilities += int((nnz - n_shared).sum())
        self._join_blocks(layer, cumulated(nnz))

    def _join_blocks(self, layer: int, entry_ptr: np.ndarray) -> None:
        """Group the blocks of a layer into batches. The entries of block ``b`` begin at ``entry_ptr[b]``."""
        ranges, ends, begin = [], [0], 0
        while begin < len(entry_ptr) - 1:
            end = max(begin + 1, int(np.searchsorted(entry_ptr, entry_ptr[begin] + _BATCH, side="right")) - 1)
            ranges.append(BlockRange(layer, begin, end))
            ends.append(end)
            _, rows = self.builder.places(ranges[-1])
            self._most_rows = max(self._most_rows, rows.stop - rows.start)
            begin = end
        self.ranges.append(ranges)
        self.n_entries_of.append(np.diff(entry_ptr[ends]))
        self._most_entries = max(self._most_entries, int(self.n_entries_of[-1].max(initial=0)))

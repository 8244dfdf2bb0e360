"""The rows of a game, a batch at a time: made, used, and thrown away.

A *batch* is a run of consecutive blocks. A thread counts its rows, fills them, hands them on, and uses the same memory
for its next batch, so that all rows of a game can be gone through without a tensor.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from punish_fast.punish._tensor import TensorRows, place_rows
from punish_fast.punish.row_builder import RowBuilder, RowCounts, count_rows
from punish_fast.punish.space import Progress, StateSpace
from punish_fast.runtime.parallel import cumulated, for_chunks, for_each

# Entries of a batch, unless a single block has more: few enough for a processor's cache, enough for calls to pay.
_BATCH = 1 << 18
# Rows that are counted at once.
_COUNTED = 1 << 18
# Bytes of an entry and of a row of a batch.
_ENTRY_BYTES, _ROW_BYTES = 12, 24


class BlockRange(NamedTuple):
    """The blocks of a batch.

    Attributes:
        layer: The number of their layer.
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


class RowBatches:
    """The rows of a game, cut into batches.

    Attributes:
        space: The states of the game.
        longest_rows: int64 ``[n_layers]``, entries of the longest row of each layer.
        n_entries: Entries of all rows, those that the enemy makes impossible included.
        n_probabilities: How many of them a compact tensor stores.
    """

    def __init__(self, space: StateSpace, policy: np.ndarray | None = None, progress: Progress | None = None) -> None:
        """Count the rows.

        Args:
            space: The states of the game.
            policy: The enemy's policy, float64 ``[n_rows]`` along ``space.action``; uniform if None.
            progress: Called as ``progress("rows", done, layers)`` when those of a layer are counted.

        Raises:
            PolicyError: the policy does not belong to these states.
            InformationError: the states are not of the model ``view``.
        """
        self.space = space
        self._builder = RowBuilder(space, policy)
        self.longest_rows = np.zeros(len(space.layers), dtype=np.int64)
        self.n_entries = self.n_probabilities = 0
        self._most_rows = self._most_entries = 0
        self._ranges: list[list[BlockRange]] = []
        for layer in range(len(space.layers)):
            self._ranges.append(self._cut(layer))
            if progress is not None:
                progress("rows", layer + 1, len(space.layers))
        self._own = threading.local()

    def __repr__(self) -> str:
        return f"RowBatches({self.space!r}, {self.n_entries:,} entries)"

    @property
    def nbytes(self) -> int:
        """Bytes of a batch, which each thread has."""
        return _ENTRY_BYTES * self._most_entries + _ROW_BYTES * self._most_rows

    def for_rows(self, layer: int, work: Callable[[int, slice, slice, TensorRows], None]) -> int:
        """Make the rows of a layer, and call ``work(batch, states, rows, made)`` for each batch, spread over threads.

        Returns:
            The number of batches.
        """
        ranges = self._ranges[layer]

        def make(begin: int, end: int) -> None:
            for number in range(begin, end):
                work(number, *self._places(ranges[number]), self._make(ranges[number]))

        for_each(make, len(ranges))
        return len(ranges)

    def seconds_to_make(self, n_batches: int = 32) -> float:
        """How long one thread takes to make an entry, from a sample of batches."""
        ranges = [blocks for layer in self._ranges for blocks in layer]
        sample = ranges[:: max(1, len(ranges) // n_batches)]
        # The first calls may compile, between two measures another kernel than before.
        self._make(sample[0])
        self._make(ranges[-1])
        begin = time.perf_counter()
        n_entries = sum(int(self._make(blocks).indptr[-1]) for blocks in sample)
        return (time.perf_counter() - begin) / n_entries

    def _places(self, blocks: BlockRange) -> tuple[slice, slice]:
        """The states and rows of some blocks."""
        first, end = self.space.layers[blocks.layer].first[[blocks.begin, blocks.end]].tolist()
        return slice(first, end), slice(*self.space.state_ptr[[first, end]].tolist())

    def _make(self, blocks: BlockRange) -> TensorRows:
        """The rows of a batch, in memory that the thread uses again for its next one."""
        room, (_, rows) = self._room(), self._places(blocks)
        n_rows = rows.stop - rows.start
        indptr, owner = room.indptr[: n_rows + 1], room.owner[:n_rows]
        counts = RowCounts(rows.start, indptr[1:], owner)
        count_rows(blocks.begin, blocks.end, self.space, blocks.layer, counts)
        n_data = int(place_rows(indptr, owner))
        arrays = (indptr, room.indices[: indptr[-1]], owner, room.data[:n_data], room.reward[:n_rows])
        made = TensorRows(self.space.state_ptr, *arrays, rows.start)
        self._builder.fill(blocks.begin, blocks.end, blocks.layer, made)
        return made

    def _room(self) -> _Memory:
        """The memory of this thread."""
        room: _Memory | None = getattr(self._own, "room", None)
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
        """Count the rows of a layer, and cut it into batches of similar size."""
        first, state_ptr = self.space.layers[layer].first, self.space.state_ptr
        n_entries, n_shared, longest = np.zeros((3, len(first) - 1), dtype=np.int64)

        def count(begin: int, end: int) -> None:
            while begin < end:
                row = int(state_ptr[first[begin]])
                ptr = state_ptr[first[begin : end + 1]] - row
                stop = begin + max(1, int(np.searchsorted(ptr, _COUNTED, side="right")) - 1)
                length, owner = np.empty((2, ptr[stop - begin]), dtype=np.int64)
                count_rows(begin, stop, self.space, layer, RowCounts(row, length, owner))
                places = ptr[: stop - begin]
                n_entries[begin:stop] = np.add.reduceat(length, places)
                longest[begin:stop] = np.maximum.reduceat(length, places)
                n_shared[begin:stop] = np.add.reduceat(np.where(owner < np.arange(len(owner)), length, 0), places)
                begin = stop

        for_chunks(count, first)
        self.longest_rows[layer] = longest.max(initial=0)
        self.n_entries += int(n_entries.sum())
        self.n_probabilities += int((n_entries - n_shared).sum())
        return self._ranges_of(layer, cumulated(n_entries))

    def _ranges_of(self, layer: int, entry_ptr: np.ndarray) -> list[BlockRange]:
        """The batches of a layer whose blocks have their entries from ``entry_ptr`` on."""
        ranges, begin = [], 0
        while begin < len(entry_ptr) - 1:
            end = max(begin + 1, int(np.searchsorted(entry_ptr, entry_ptr[begin] + _BATCH, side="right")) - 1)
            ranges.append(BlockRange(layer, begin, end))
            _, rows = self._places(ranges[-1])
            self._most_rows = max(self._most_rows, rows.stop - rows.start)
            self._most_entries = max(self._most_entries, int(entry_ptr[end] - entry_ptr[begin]))
            begin = end
        return ranges

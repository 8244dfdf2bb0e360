"""The rows of a game, a batch at a time: made, used, and thrown away.

A *batch* is a run of consecutive blocks. A thread counts its rows, fills them, hands them on, and uses the same memory
for its next batch, so that all rows of a game can be gone through without a tensor.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from punish_fast.punish.states.space import Progress, StateSpace
from punish_fast.punish.transitions.row_builder import BlockRange, MadeRows, RowBuilder, RowCounts, RowMaker, count_rows
from punish_fast.runtime.parallel import cumulated, for_chunks, for_each

# Entries of a batch, unless a single block has more: few enough for a processor's cache, enough for calls to pay.
_BATCH = 1 << 18
# Rows that are counted at once.
_COUNTED = 1 << 18
# Bytes of an entry and of a row of a batch.
_ENTRY_BYTES, _ROW_BYTES = 12, 24


class RowBatches:
    """The rows of a game, cut into batches.

    Attributes:
        space: The states of the game.
        policy: The enemy's policy, None for uniform play.
        ranges: The blocks of each batch, by layer.
        n_entries_of: The entries of each batch, int64, by layer.
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
        """
        self.space = space
        self.policy = policy
        self._maker = RowMaker(RowBuilder(space, policy))
        self.longest_rows = np.zeros(len(space.layers), dtype=np.int64)
        self.n_entries = self.n_probabilities = 0
        self._most_rows = self._most_entries = 0
        self.ranges: list[list[BlockRange]] = []
        self.n_entries_of: list[np.ndarray] = []
        for layer in range(len(space.layers)):
            self._cut(layer)
            if progress is not None:
                progress("rows", layer + 1, len(space.layers))

    def __repr__(self) -> str:
        return f"RowBatches({self.space!r}, {self.n_entries:,} entries)"

    @property
    def nbytes(self) -> int:
        """Bytes of a batch, which each thread has."""
        return _ENTRY_BYTES * self._most_entries + _ROW_BYTES * self._most_rows

    def places(self, blocks: BlockRange) -> tuple[slice, slice]:
        """The states and rows of some blocks."""
        return self._maker.places(blocks)

    def for_rows(self, layer: int, work: Callable[[int, MadeRows], None]) -> int:
        """Make the rows of a layer, and call ``work(batch, made)`` for each batch, spread over threads.

        Returns:
            The number of batches.
        """
        ranges = self.ranges[layer]

        def make(begin: int, end: int) -> None:
            for number in range(begin, end):
                work(number, self._maker.make(ranges[number]))

        for_each(make, len(ranges))
        return len(ranges)

    def seconds_to_make(self, n_batches: int = 32) -> float:
        """How long one thread takes to make an entry, from a sample of batches."""
        ranges = [blocks for layer in self.ranges for blocks in layer]
        sample = ranges[:: max(1, len(ranges) // n_batches)]
        # The first calls may compile, between two measures another kernel than before.
        self._maker.make(sample[0])
        self._maker.make(ranges[-1])
        begin = time.perf_counter()
        n_entries = sum(int(self._maker.make(blocks).tensor.indptr[-1]) for blocks in sample)
        return (time.perf_counter() - begin) / n_entries

    def _cut(self, layer: int) -> None:
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
        self._join_blocks(layer, cumulated(n_entries))

    def _join_blocks(self, layer: int, entry_ptr: np.ndarray) -> None:
        """Make batches of the blocks of a layer, which have their entries from ``entry_ptr`` on."""
        ranges, ends, begin = [], [0], 0
        while begin < len(entry_ptr) - 1:
            end = max(begin + 1, int(np.searchsorted(entry_ptr, entry_ptr[begin] + _BATCH, side="right")) - 1)
            ranges.append(BlockRange(layer, begin, end))
            ends.append(end)
            _, rows = self._maker.places(ranges[-1])
            self._most_rows = max(self._most_rows, rows.stop - rows.start)
            begin = end
        self.ranges.append(ranges)
        self.n_entries_of.append(np.diff(entry_ptr[ends]))
        self._most_entries = max(self._most_entries, int(self.n_entries_of[-1].max(initial=0)))

"""The rows of some blocks of a game, made when they are needed, in memory that a thread then uses again."""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np

from punish_fast.punish.transitions._tensor import TensorRows, place_rows
from punish_fast.punish.transitions.row_builder import RowBuilder, RowCounts, count_rows


class BlockRange(NamedTuple):
    """Consecutive blocks."""

    layer: int  # the number of their layer
    begin: int  # the first block
    end: int  # the block after the last


class MadeRows(NamedTuple):
    """The rows of some blocks, until their thread makes others."""

    states: slice  # the states of the blocks
    rows: slice
    tensor: TensorRows  # the transitions and rewards of these rows


class RowMaker:
    """Counts and fills the rows of any blocks.

    Attributes:
        space: The states of the game.
    """

    def __init__(self, builder: RowBuilder) -> None:
        """Make the rows of the game and the enemy of a builder."""
        self.space = builder.space
        self._builder = builder
        self._own = threading.local()

    def make(self, blocks: BlockRange) -> MadeRows:
        """The rows of some blocks, in memory that the thread uses again."""
        states, rows = self.places(blocks)
        n_rows = rows.stop - rows.start
        indptr, owner = self._room("indptr", n_rows + 1), self._room("owner", n_rows)
        reward = self._room("reward", n_rows)
        indptr[0] = 0
        count_rows(blocks.begin, blocks.end, self.space, blocks.layer, RowCounts(rows.start, indptr[1:], owner))
        n_data = int(place_rows(indptr, owner))
        indices, data = self._room("indices", int(indptr[-1])), self._room("data", n_data)
        tensor = TensorRows(self.space.state_ptr, indptr, indices, owner, data, reward, rows.start)
        self._builder.fill(blocks.begin, blocks.end, blocks.layer, tensor)
        if blocks.layer == self.space.rules.breaths:
            # Between two measures nothing is paid.
            reward[:] = 0.0
        return MadeRows(states, rows, tensor)

    def places(self, blocks: BlockRange) -> tuple[slice, slice]:
        """The states and rows of some blocks."""
        first, end = self.space.layers[blocks.layer].first[[blocks.begin, blocks.end]].tolist()
        return slice(first, end), slice(*self.space.state_ptr[[first, end]].tolist())

    def _room(self, name: str, size: int) -> np.ndarray:
        """The first ``size`` places of an array of this thread, which grows when it is too small."""
        array: np.ndarray | None = getattr(self._own, name, None)
        if array is None or len(array) < size:
            array = np.zeros(size, dtype=_DTYPE[name])
            setattr(self._own, name, array)
        return array[:size]


_DTYPE = {"indptr": np.int64, "owner": np.int64, "indices": np.int32, "data": np.float64, "reward": np.float64}

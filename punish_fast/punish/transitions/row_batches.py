"""Rows of the transition tensor of a game against an enemy, computed block by block, backed up and discarded.

The entries of each row are first counted, which requires only the rules, and then filled. A stored tensor is built once
in this way, layer by layer (``tensor.py``). A matrix-free process repeats these steps in every sweep, in batches.

A *batch* contains all rows of consecutive blocks. A thread counts and fills the rows in a batch, backs up the states
(`back_up`), and frees the memory. Therefore, a game can be solved without a stored tensor. An *executor* backs up all
batches of a layer. Local threads write to the arrays directly, whereas workers of a cluster return new values
(``cluster_blocks.py``). Results are summed in the order of the batches, so sums do not depend on the executor.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from punish_fast.mdp.model import _bellman
from punish_fast.punish.states import _redeal
from punish_fast.punish.states.space import Progress, StateSpace, must_be_space, outcomes_of, require_memoryless
from punish_fast.punish.strategy import checked_policy
from punish_fast.punish.transitions import _marginals, _tensor
from punish_fast.punish.transitions._tensor import TensorRows, place_rows
from punish_fast.runtime.parallel import cumulated, for_chunks, for_each


class BlockRange(NamedTuple):
    """Consecutive blocks of a layer."""

    layer: int
    begin: int
    end: int  # exclusive


class MadeRows(NamedTuple):
    """Rows of blocks."""

    states: slice
    rows: slice
    tensor: TensorRows  # transitions and rewards of these rows


class RowBuilder:
    """Builder of the transition tensor's rows against a given enemy."""

    def __init__(self, space: StateSpace, policy: np.ndarray | None = None) -> None:
        """Prepare the enemy's policy. ``policy``, float64 ``[n_rows]``, defaults to the uniform policy."""
        must_be_space(space)
        require_memoryless(space)
        self.space = space
        self._policy = None if policy is None else _marginals.UNIT * checked_policy(space, policy)
        self._reshuffles = space.rules.redeal == "reshuffle"

    def count_layer(self, number: int, length: np.ndarray, owner: np.ndarray, first_row: int = 0) -> None:
        """Count the entries of all rows in layer ``number`` in several threads.

        ``length`` and ``owner``, int64 ``[n]``, receive the number of entries and the owner of each row. Indices into
        these arrays, and the owners themselves, are relative to row ``first_row``.
        """
        self._for_layer(self._count, number, self.space.layers[number].first, length, owner, first_row)

    def fill_layer(self, number: int, rows: TensorRows) -> None:
        """Fill all rows in layer ``number`` in several threads."""
        first = self.space.layers[number].first
        self._for_layer(self._fill, number, rows.indptr[rows.state_ptr[first]], rows)

    def make(self, blocks: BlockRange) -> MadeRows:
        """Return the rows of ``blocks``."""
        states, rows = self.places(blocks)
        n_rows = rows.stop - rows.start
        indptr, owner, reward = np.empty(n_rows + 1, np.int64), np.empty(n_rows, np.int64), np.zeros(n_rows)
        order = self._in_order(blocks)
        self._count(order, blocks.layer, indptr[1:], owner, rows.start)
        n_data = int(place_rows(indptr, owner))
        indices, data = np.empty(indptr[-1], np.int32), np.empty(n_data)
        tensor = TensorRows(self.space.state_ptr, indptr, indices, owner, data, reward, rows.start)
        self._fill(order, blocks.layer, tensor)
        return MadeRows(states, rows, tensor)

    def places(self, blocks: BlockRange) -> tuple[slice, slice]:
        """Return the states and rows of ``blocks`` as slices."""
        first, end = self.space.layers[blocks.layer].first[[blocks.begin, blocks.end]].tolist()
        return slice(first, end), slice(*self.space.state_ptr[[first, end]].tolist())

    def _for_layer(self, act: Callable[..., None], number: int, ptr: np.ndarray, *args: Any) -> None:
        """Call ``act(blocks, number, *args)`` for parts of a layer in several threads.

        ``ptr`` contains the cumulative weights of the blocks. Blocks whose rows have the same probabilities are
        adjacent.
        """
        order = self._in_order(BlockRange(number, 0, len(ptr) - 1))
        for_chunks(lambda begin, end: act(order[begin:end], number, *args), cumulated(np.diff(ptr)[order]))

    def _in_order(self, blocks: BlockRange) -> np.ndarray:
        """Return the blocks, int64 ``[n]``, sorted to make blocks whose rows have equal probabilities adjacent."""
        piles = self.space.layers[blocks.layer].piles[blocks.begin : blocks.end].astype(np.int64)
        hand, discard = piles.transpose(1, 0, 2)
        tens = 10 ** np.arange(5)
        is_redeal = blocks.layer == self.space.rules.breaths
        key = 10 * (discard @ tens) + hand.sum(axis=1) if is_redeal else (hand + discard) @ tens
        return blocks.begin + np.argsort(key, kind="stable")

    def _count(self, blocks: np.ndarray, number: int, length: np.ndarray, owner: np.ndarray, first_row: int) -> None:
        space, layer = self.space, self.space.layers[number]
        rows = (space.state_ptr, first_row, length, owner)
        if number < space.rules.breaths:
            _tensor.count_entries(blocks, space.layout, outcomes_of(space, number), layer, space.action, rows)
        else:
            _redeal.count_redeals(blocks, space.layout, self._reshuffles, layer, rows)

    def _fill(self, blocks: np.ndarray, number: int, rows: TensorRows) -> None:
        space, layer = self.space, self.space.layers[number]
        if number < space.rules.breaths:
            following = space.layers[number + 1]
            layers = (layer, following, following.rank.ravel())
            game = (space.layout, space.places, outcomes_of(space, number), layers, self._policy)
            _tensor.fill_blocks(blocks, *game, space.action, rows)
        else:
            deals = (layer, space.layers[0])
            _redeal.fill_redeals(blocks, space.layout, space.places, self._reshuffles, deals, rows)


# Fields of `RowArrays` with one element per state, and with one element per row.
_OF_STATES, _OF_ROWS = ("values", "choice"), ("reward", "policy", "q")


class RowArrays(NamedTuple):
    """Arrays of states and their rows. An array is None if a backup does not need it."""

    discount: float = 1.0  # factor for the values of successors
    v: np.ndarray | None = None  # float64 [n_columns], values of all columns, read only for successors
    reward: np.ndarray | None = None  # float64 [n_rows], rewards (the rewards of the game if None)
    policy: np.ndarray | None = None  # float64 [n_rows], probability of each row in its state
    q: np.ndarray | None = None  # float64 [n_rows], values of rows (updated)
    choice: np.ndarray | None = None  # int64 [n_states], best row of each state (updated)
    values: np.ndarray | None = None  # float64 [n_states], values of states (updated)
    first_state: int = 0  # state and row with which the arrays begin
    first_row: int = 0

    def part(self, states: slice, rows: slice) -> RowArrays:
        """Return views of the arrays for the given states and rows."""
        own_states = slice(states.start - self.first_state, states.stop - self.first_state)
        own_rows = slice(rows.start - self.first_row, rows.stop - self.first_row)
        places = dict.fromkeys(_OF_STATES, own_states) | dict.fromkeys(_OF_ROWS, own_rows)
        arrays = ((name, getattr(self, name)) for name in places)
        views = {name: array[places[name]] for name, array in arrays if array is not None}
        return self._replace(first_state=states.start, first_row=rows.start, **views)


# Function that backs up all batches of a layer, updates the arrays, and returns the statistics of the batches in order.
Executor = Callable[[int, RowArrays], Sequence[np.ndarray]]


def back_up(made: MadeRows, arrays: RowArrays) -> np.ndarray:
    """Back up the states of a batch, update their part of the arrays, and return float64 ``[3]``.

    If ``policy`` is given, each state is backed up with the weighted mean of its rows, otherwise with its best row. If
    ``q`` and ``choice`` are given, the values of rows and the choices are also updated. The elements are the largest
    change, the sum of squared changes of ``q``, and the number of changed choices.

    If ``v`` is None, only ``reward`` is updated. The elements are then the length of the longest row, the number of
    entries, and 0. Only entries with positive probability count.
    """
    states, rows, tensor = made
    arrays = arrays.part(states, rows)
    if arrays.v is None:
        assert arrays.reward is not None
        arrays.reward[:] = tensor.reward
        length = np.diff(tensor.indptr)
        if not tensor.data.all():
            _bellman.count_shared(0, len(length), tensor.indptr, tensor.data_ptr, tensor.data, length)
        return np.array([length.max(initial=0), length.sum(), 0.0])
    statistics = np.zeros(3)
    state_ptr = tensor.state_ptr[states.start : states.stop + 1] - rows.start
    pointers = state_ptr.view(np.uint64), tensor.indptr.view(np.uint64)
    reward = tensor.reward if arrays.reward is None else arrays.reward
    transitions = _bellman.Tensor(*pointers, tensor.indices.view(np.uint32), tensor.data, reward)
    chunk = np.array([0, states.stop - states.start], dtype=np.uint64)
    settings = (0, 1, chunk, transitions, tensor.data_ptr.view(np.uint64), arrays.discount)
    if arrays.choice is not None:
        choice = (arrays.choice - rows.start).view(np.uint64)
        _bellman.back_up_rows(*settings, arrays.v, arrays.q, arrays.values, choice, statistics[np.newaxis])
        arrays.choice[:] = choice.view(np.int64) + rows.start
    elif arrays.policy is not None:
        _bellman.evaluate_policy(*settings, arrays.policy, arrays.v, arrays.values, statistics)
    else:
        _bellman.sweep(*settings, arrays.v, arrays.values, statistics)
    return statistics


def combined(statistics: Sequence[np.ndarray]) -> np.ndarray:
    """Return the maximum of the first statistic, and the sums of the others in the order of the batches."""
    table = np.array(statistics).reshape(-1, 3)
    return np.append(table[:, 0].max(initial=0), table[:, 1:].sum(axis=0))


# Maximum number of entries in a batch, unless a single block has more.
# Batches should fit into the CPU cache and be large enough to make the overhead of calls negligible.
_BATCH = 1 << 18
# Bytes per entry and per row of a batch.
_ENTRY_BYTES, _ROW_BYTES = 12, 24


class RowBatches:
    """The rows of a game, divided into batches."""

    def __init__(self, space: StateSpace, policy: np.ndarray | None = None, progress: Progress | None = None) -> None:
        """Count the entries of all rows. The enemy follows ``policy``, float64 ``[n_rows]``, or is uniform if None."""
        self.space = space
        self.policy = policy
        self.builder = RowBuilder(space, policy)
        # Number of entries in the longest row of each layer.
        self.longest_rows = np.zeros(len(space.layers), dtype=np.int64)
        # Total number of entries, including entries with probability 0, and number of probabilities if compact.
        self.nnz = self.n_probabilities = 0
        self._most_rows = 0
        # Blocks of each batch, and number of entries in each batch (int64), by layer.
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
        """Upper bound on the size of a batch in bytes. Each thread stores one batch."""
        most_entries = max(int(n_entries.max(initial=0)) for n_entries in self.n_entries_of)
        return _ENTRY_BYTES * most_entries + _ROW_BYTES * self._most_rows

    def back_up_layer(self, layer: int, arrays: RowArrays) -> list[np.ndarray]:
        """Implement `Executor` with local threads."""
        ranges = self.ranges[layer]
        statistics = [np.zeros(3)] * len(ranges)

        def make(begin: int, end: int) -> None:
            for number in range(begin, end):
                statistics[number] = back_up(self.builder.make(ranges[number]), arrays)

        for_each(make, len(ranges))
        return statistics

    def seconds_to_make(self, n_batches: int = 32) -> float:
        """Return the mean time in seconds that a thread needs to compute an entry, from a sample of batches."""
        ranges = [blocks for layer in self.ranges for blocks in layer]
        sample = ranges[:: max(1, len(ranges) // n_batches)]
        # The first calls can include compilation, and the last layer has its own kernel, so compute two batches first.
        self.builder.make(sample[0])
        self.builder.make(ranges[-1])
        begin = time.perf_counter()
        nnz = sum(int(self.builder.make(blocks).tensor.indptr[-1]) for blocks in sample)
        return (time.perf_counter() - begin) / nnz

    def _cut(self, layer: int) -> None:
        """Count the rows of a layer, and divide it into batches of similar size."""
        rows = self.space.state_ptr[self.space.layers[layer].first]
        length, owner = np.empty((2, rows[-1] - rows[0]), dtype=np.int64)
        self.builder.count_layer(layer, length, owner, rows[0])
        self.longest_rows[layer] = length.max(initial=0)
        self.nnz += int(length.sum())
        self.n_probabilities += int(length @ (owner == np.arange(len(owner))))
        entry_ptr = cumulated(length)[rows - rows[0]]
        ends = [0]
        while ends[-1] < len(rows) - 1:
            end = int(np.searchsorted(entry_ptr, entry_ptr[ends[-1]] + _BATCH, side="right")) - 1
            ends.append(max(ends[-1] + 1, end))
        self.ranges.append([BlockRange(layer, begin, end) for begin, end in pairwise(ends)])
        self.n_entries_of.append(np.diff(entry_ptr[ends]))
        self._most_rows = max(self._most_rows, np.diff(rows[ends]).max(initial=0))

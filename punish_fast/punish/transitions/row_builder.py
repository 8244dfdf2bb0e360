"""Rows of the transition tensor of a game against an enemy, block by block.

The entries of each row are first counted, which requires only the rules, and then filled. A stored tensor is built in
this way once, layer by layer. A matrix-free process repeats this in every sweep, a few blocks at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from punish_fast.punish.states import _redeal
from punish_fast.punish.states.space import StateSpace, must_be_space, outcomes_of, require_memoryless
from punish_fast.punish.strategy import checked_policy
from punish_fast.punish.transitions import _marginals, _tensor
from punish_fast.punish.transitions._tensor import TensorRows, place_rows
from punish_fast.runtime.parallel import cumulated, for_chunks


def in_order(space: StateSpace, blocks: BlockRange) -> np.ndarray:
    """Return the blocks, int64 ``[n]``, with all blocks whose rows have the same probabilities next to each other."""
    hand, discard = space.layers[blocks.layer].piles[blocks.begin : blocks.end].transpose(1, 0, 2)
    if blocks.layer < space.rules.breaths:
        return blocks.begin + np.argsort(_encode(hand + discard), kind="stable")
    return blocks.begin + np.argsort(10 * _encode(discard) + hand.sum(axis=1, dtype=np.int64), kind="stable")


def _encode(counts: np.ndarray) -> np.ndarray:
    """Encode the counts of the five cards, ``[n, 5]``, as int64 ``[n]``."""
    return counts.astype(np.int64) @ 10 ** np.arange(5)


def for_blocks(make: Callable[..., None], space: StateSpace, number: int, ptr: np.ndarray, *args: Any) -> None:
    """Call ``make(blocks, number, *args)`` for parts of a layer in several threads. Block weights are as in ``ptr``."""
    order = in_order(space, BlockRange(number, 0, len(ptr) - 1))
    for_chunks(lambda begin, end: make(order[begin:end], number, *args), cumulated(np.diff(ptr)[order]))


def count_rows(
    blocks: np.ndarray, number: int, space: StateSpace, first_row: int, length: np.ndarray, owner: np.ndarray
) -> None:
    """Count the entries of the rows of blocks of layer ``number``, int64 ``[n]``.

    ``length`` and ``owner``, int64 ``[n]``, receive the number of entries of each row and the owner of its
    probabilities. Indices into these arrays, and the owners themselves, are relative to row ``first_row``.
    """
    layer, rows = space.layers[number], (space.state_ptr, first_row, length, owner)
    if number < space.rules.breaths:
        _tensor.count_entries(blocks, space.layout, outcomes_of(space, number), layer, space.action, rows)
    else:
        _redeal.count_redeals(blocks, space.layout, _reshuffles(space), layer, rows)


def _reshuffles(space: StateSpace) -> bool:
    return space.rules.redeal == "reshuffle"


class BlockRange(NamedTuple):
    """Consecutive blocks of a layer."""

    layer: int
    begin: int
    end: int  # exclusive


class MadeRows(NamedTuple):
    """Rows of some blocks, overwritten when the same thread makes other rows."""

    states: slice
    rows: slice
    tensor: TensorRows  # transitions and rewards of these rows


_DTYPE = {"indptr": np.int64, "owner": np.int64, "indices": np.int32, "data": np.float64, "reward": np.float64}


class RowBuilder:
    """Builder of rows for any blocks of a game against a given enemy."""

    def __init__(self, space: StateSpace, policy: np.ndarray | None = None) -> None:
        """Prepare the enemy's ``policy``, float64 ``[n_rows]``, or the uniform policy if it is None."""
        must_be_space(space)
        require_memoryless(space)
        self.space = space
        self._policy = None
        if policy is not None:
            weights = _marginals.UNIT * checked_policy(space, policy)
            self._policy = _tensor.PolicyEnemy(space.state_ptr, weights)
        self._own = threading.local()

    def fill(self, blocks: np.ndarray, number: int, rows: TensorRows) -> None:
        """Fill the rows of blocks of layer ``number``, int64 ``[n]``."""
        space, layer = self.space, self.space.layers[number]
        if number < space.rules.breaths:
            following = space.layers[number + 1]
            layers = (layer, following, following.rank.ravel())
            game = (space.layout, space.places, outcomes_of(space, number), layers, self._policy)
            _tensor.fill_blocks(blocks, *game, space.action, rows)
        else:
            deals = (layer, space.layers[0])
            _redeal.fill_redeals(blocks, space.layout, space.places, _reshuffles(space), deals, rows)

    def make(self, blocks: BlockRange) -> MadeRows:
        """Return the rows of some blocks, in memory that is reused by the next call in the same thread."""
        states, rows = self.places(blocks)
        n_rows = rows.stop - rows.start
        indptr, owner = self._room("indptr", n_rows + 1), self._room("owner", n_rows)
        reward = self._room("reward", n_rows)
        indptr[0] = 0
        order = in_order(self.space, blocks)
        count_rows(order, blocks.layer, self.space, rows.start, indptr[1:], owner)
        n_data = int(place_rows(indptr, owner))
        indices, data = self._room("indices", int(indptr[-1])), self._room("data", n_data)
        tensor = TensorRows(self.space.state_ptr, indptr, indices, owner, data, reward, rows.start)
        self.fill(order, blocks.layer, tensor)
        if blocks.layer == self.space.rules.breaths:
            # Rewards are zero between two measures.
            reward[:] = 0.0
        return MadeRows(states, rows, tensor)

    def places(self, blocks: BlockRange) -> tuple[slice, slice]:
        """Return the states and rows of some blocks."""
        first, end = self.space.layers[blocks.layer].first[[blocks.begin, blocks.end]].tolist()
        return slice(first, end), slice(*self.space.state_ptr[[first, end]].tolist())

    def _room(self, name: str, size: int) -> np.ndarray:
        """Return the first ``size`` elements of this thread's array ``name``, replacing the array if too small."""
        array: np.ndarray | None = getattr(self._own, name, None)
        if array is None or len(array) < size:
            array = np.zeros(size, dtype=_DTYPE[name])
            setattr(self._own, name, array)
        return array[:size]

"""Rows of the transition tensor of a game against an enemy, block by block.

The entries of each row are first counted, which requires only the rules, and then filled. A stored tensor is built in
this way once, layer by layer; a matrix-free process repeats this in every sweep, a few blocks at a time.
"""

import threading
from typing import NamedTuple

import numpy as np

from punish_fast.punish._actions import N_MODES
from punish_fast.punish.states import _redeal
from punish_fast.punish.states.outcomes import N_PLAYS
from punish_fast.punish.states.space import StateSpace, must_be_space
from punish_fast.punish.strategy import checked_policy
from punish_fast.punish.transitions import _marginals, _tensor
from punish_fast.punish.transitions._tensor import TensorRows, place_rows
from punish_fast.runtime.parallel import for_chunks, for_each


def count_rows(
    begin: int, end: int, space: StateSpace, number: int, first_row: int, length: np.ndarray, owner: np.ndarray
) -> None:
    """Count the entries of the rows of the blocks from ``begin`` to ``end`` of layer ``number``.

    ``length`` and ``owner``, int64 ``[n]``, receive the number of entries of each row and the owner of its
    probabilities. Indices into these arrays, and the owners themselves, are relative to row ``first_row``.
    """
    layer = space.layers[number]
    if number < space.rules.breaths:
        game = (space.layout, space.outcomes_of(number), layer, space.state_ptr, space.action)
        _tensor.count_entries(begin, end, *game, first_row, length, owner)
        return
    # Between two measures, each state has one row.
    state = int(layer.first[begin])
    place = int(space.state_ptr[state]) - first_row
    _redeal.count_redeals(begin, end, space.layout, _reshuffles(space), layer, state, length[place:], owner[place:])
    owner[place : place + int(layer.first[end]) - state] += place


def _reshuffles(space: StateSpace) -> bool:
    return space.rules.redeal == "reshuffle"


class BlockRange(NamedTuple):
    """Consecutive blocks of a layer."""

    layer: int
    begin: int
    end: int  # exclusive


class MadeRows(NamedTuple):
    """Rows of some blocks; overwritten when the same thread makes other rows."""

    states: slice
    rows: slice
    tensor: TensorRows  # transitions and rewards of these rows


_DTYPE = {"indptr": np.int64, "owner": np.int64, "indices": np.int32, "data": np.float64, "reward": np.float64}


class RowBuilder:
    """Builder of rows for any blocks of a game against a given enemy."""

    def __init__(self, space: StateSpace, policy: np.ndarray | None = None) -> None:
        """Prepare the enemy's ``policy``, float64 ``[n_rows]`` along ``space.action``; None for the uniform policy."""
        must_be_space(space)
        space.must_be_view()
        self.space = space
        # Many states share a marginal against the uniform enemy.
        self._uniform = _uniform_marginals(space) if policy is None else None
        self._policy = None
        if policy is not None:
            weights = _marginals.UNIT * checked_policy(space, policy)
            self._policy = _tensor.PolicyEnemy(space.state_ptr, weights)
        self._own = threading.local()

    def fill(self, begin: int, end: int, number: int, rows: TensorRows) -> None:
        """Fill the rows of the blocks from ``begin`` to ``end`` of layer ``number``."""
        space, layer = self.space, self.space.layers[number]
        if number < space.rules.breaths:
            layers = (layer, space.layers[number + 1])
            game = (space.layout, space.places, space.outcomes_of(number), layers, self._uniform, self._policy)
            _tensor.fill_blocks(begin, end, *game, space.action, rows)
            return
        state = int(layer.first[begin])
        place = int(space.state_ptr[state]) - rows.first_row
        pointers = rows.indptr[place:], rows.data_ptr[place:]
        deals = (space.layout, _reshuffles(space), (layer, space.layers[0]), state)
        _redeal.fill_redeals(begin, end, *deals, *pointers, rows.indices, rows.data)

    def make(self, blocks: BlockRange) -> MadeRows:
        """Return the rows of some blocks, in memory that is reused by the next call in the same thread."""
        states, rows = self.places(blocks)
        n_rows = rows.stop - rows.start
        indptr, owner = self._room("indptr", n_rows + 1), self._room("owner", n_rows)
        reward = self._room("reward", n_rows)
        indptr[0] = 0
        count_rows(blocks.begin, blocks.end, self.space, blocks.layer, rows.start, indptr[1:], owner)
        n_data = int(place_rows(indptr, owner))
        indices, data = self._room("indices", int(indptr[-1])), self._room("data", n_data)
        tensor = TensorRows(self.space.state_ptr, indptr, indices, owner, data, reward, rows.start)
        self.fill(blocks.begin, blocks.end, blocks.layer, tensor)
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


def _uniform_marginals(space: StateSpace) -> _tensor.UniformEnemy:
    """Compute the marginals against the uniform enemy."""
    layout = space.layout
    n_unseen = int(np.prod(layout.copies + 1))
    used = np.zeros(n_unseen * (layout.deck_size + 1) * N_MODES, dtype=np.uint8)
    for layer in space.layers[:-1]:
        for_chunks(_tensor.mark_keys, layer.first, layout, layer, used)
    keys = np.flatnonzero(used)
    slot = np.full(len(used), -1, dtype=np.int32)
    slot[keys] = np.arange(len(keys), dtype=np.int32)
    marginal = np.empty((len(keys), N_PLAYS))
    for_each(_marginals.fill_uniform_marginals, len(keys), layout, keys, marginal)
    return _tensor.UniformEnemy(slot, marginal)

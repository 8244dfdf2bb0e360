"""The rows of the transition tensor of a game against an enemy, block by block.

The pattern of rows follows from the rules alone: count the entries of each row, take cumulative sums, then let each row
be filled by its one owner. A tensor does this once for whole layers; a process that stores no transitions does it again
in every sweep, for a few blocks at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.punish._actions import N_MODES
from punish_fast.punish.states import _redeal
from punish_fast.punish.states._outcomes import N_PLAYS
from punish_fast.punish.states.space import StateSpace, must_be_space
from punish_fast.punish.strategy import checked_policy
from punish_fast.punish.transitions import _marginals, _tensor
from punish_fast.punish.transitions._tensor import TensorRows
from punish_fast.runtime.parallel import for_chunks, for_each


class RowCounts(NamedTuple):
    """The number of entries of rows."""

    first_row: int  # the number of the first of these rows
    length: np.ndarray  # int64 ``[n]``
    owner: np.ndarray  # int64 ``[n]``, the row that owns the probabilities of each row, counted from ``first_row``


def count_rows(begin: int, end: int, space: StateSpace, number: int, counts: RowCounts) -> None:
    """Count the entries of the rows of the blocks from ``begin`` to ``end`` of layer ``number``."""
    layer, (first_row, length, owner) = space.layers[number], counts
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


class RowBuilder:
    """Fills the rows of any blocks.

    Attributes:
        space: The states of the game.
    """

    def __init__(self, space: StateSpace, policy: np.ndarray | None = None) -> None:
        """Prepare the enemy.

        Args:
            space: The states of the game.
            policy: The enemy's policy, float64 ``[n_rows]`` along ``space.action``; uniform if None.
        """
        must_be_space(space)
        space.must_be_view()
        self.space = space
        # The uniform enemy has marginals that states share.
        self._uniform = _uniform_marginals(space) if policy is None else None
        self._policy = None if policy is None else policy_enemy(space, policy)

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


def policy_enemy(space: StateSpace, policy: np.ndarray) -> _tensor.PolicyEnemy:
    """An enemy as the kernels take it."""
    return _tensor.PolicyEnemy(space.state_ptr, _marginals.UNIT * checked_policy(space, policy))


def _uniform_marginals(space: StateSpace) -> _tensor.UniformEnemy:
    """The marginals against the uniform enemy, which many states share."""
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

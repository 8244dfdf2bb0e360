"""The transition tensor of a game against an enemy: rules and strategy in, Markov decision process out.

The pattern of the tensor follows from the rules alone: count the rows of each state, the entries of each row, and
take cumulative sums; then every row is filled by its one owner. Entries that an enemy makes impossible (a table with
zeros) are dropped at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from punish_fast.chunks import cumulated, for_chunks, for_each
from punish_fast.mdp.model import MDP
from punish_fast.memory import require_memory
from punish_fast.punish import _enemy, _redeal, _transitions
from punish_fast.punish._outcomes import N_PLAYS
from punish_fast.punish.codes import Layout
from punish_fast.punish.space import StateSpace
from punish_fast.punish.strategy import StrategyError, StrategyTable, naive

OnLayer = Callable[[MDP, int], None]

TERMINAL_REWARD = np.array([1.0, -1.0])


def build(space: StateSpace, enemy: StrategyTable | None = None, on_layer: OnLayer | None = None) -> MDP:
    """The Markov decision process of one player against ``enemy`` (naive if None).

    Rows follow the states' codes and, within a state, the two-digit action codes; columns ``n_states`` and
    ``n_states + 1`` are win and loss, which pay +1 and -1. Within a row, columns ascend.

    Args:
        space: The states of the game.
        enemy: The enemy's strategy table over the same states.
        on_layer: Called as ``on_layer(mdp, number)`` as soon as the rows of a layer stand, so that they can be written
            while the next ones are computed.

    Raises:
        StrategyError: the strategy was made for other rules.
        MemoryError: the tensor would not fit into memory.
    """
    enemy = naive() if enemy is None else enemy
    if enemy.rules_digest not in (None, space.rules.digest):
        raise StrategyError(f"strategy: made for rules {enemy.rules_digest}, but the game's are {space.rules.digest}")
    indptr = _count(space)
    require_memory(12 * int(indptr[-1]) + space.nbytes, f"a tensor of {int(indptr[-1]):,} nonzeros")
    rows = _transitions.Rows(
        state_ptr=space.state_ptr,
        indptr=indptr,
        indices=np.empty(indptr[-1], dtype=np.int32),
        data=np.empty(indptr[-1], dtype=np.float64),
        reward=np.zeros(len(space.action), dtype=np.float64),
    )
    mdp = MDP(*rows, terminal_reward=TERMINAL_REWARD.copy(), layer_ptr=space.layer_ptr, action=space.action)
    prepared = _prepare(space, enemy)
    for number in range(mdp.n_layers):
        _fill(space, number, prepared, rows)
        if on_layer is not None and enemy.is_naive:
            on_layer(mdp, number)
    if not enemy.is_naive:
        mdp = _without_zeros(mdp)
        for number in range(mdp.n_layers if on_layer is not None else 0):
            on_layer(mdp, number)  # type: ignore[misc]
    return mdp


def _reshuffles(space: StateSpace) -> bool:
    return space.rules.redeal == "reshuffle"


def _count(space: StateSpace) -> np.ndarray:
    """``indptr`` of the whole tensor."""
    lengths = np.empty(len(space.action), dtype=np.int64)
    for number, layer in enumerate(space.layers[:-1]):
        args = (space.layout, space.outcomes_of(number), layer, space.state_ptr, space.action, lengths)
        for_chunks(_transitions.count_entries, layer.first, *args)
    last = space.layers[-1]
    redeals = lengths[space.state_ptr[last.first[0]] :]
    for_chunks(_redeal.count_redeals, last.first, space.layout, _reshuffles(space), last, space.n_openings, redeals)
    return cumulated(lengths)


def _fill(space: StateSpace, number: int, enemy: _transitions.Enemy, rows: _transitions.Rows) -> None:
    """Fill the rows of one layer."""
    layer = space.layers[number]
    weights = rows.indptr[rows.state_ptr[layer.first]]
    if number < space.rules.breaths:
        outcomes, after = space.outcomes_of(number), space.layers[number + 1]
        for_chunks(_transitions.fill_blocks, weights, space.layout, outcomes, layer, after, enemy, space.action, rows)
        return
    indptr = rows.indptr[rows.state_ptr[layer.first[0]] :]
    args = (space.layout, _reshuffles(space), layer, space.layers[0], indptr, rows.indices, rows.data)
    for_chunks(_redeal.fill_redeals, weights, *args)


def _prepare(space: StateSpace, enemy: StrategyTable) -> _transitions.Enemy:
    """The enemy as the kernels take it."""
    entry = np.zeros(0, dtype=np.int32)
    slot = np.zeros(0, dtype=np.int32)
    marginal = np.zeros((0, N_PLAYS))
    if enemy.is_naive:
        slot, marginal = _naive_marginals(space)
    else:
        entry = np.full(space.n_states, -1, dtype=np.int32)
        entry[enemy.state] = np.arange(len(enemy.state), dtype=np.int32)
    return _transitions.Enemy(enemy.is_naive, slot, marginal, entry, enemy.p)


def _naive_marginals(space: StateSpace) -> tuple[np.ndarray, np.ndarray]:
    """The marginals that states share, and where each is."""
    layout: Layout = space.layout
    n_unseen = int(np.prod(layout.copies + 1))
    used = np.zeros(n_unseen * (layout.deck_size + 1) * _enemy.N_MODES, dtype=np.uint8)
    for layer in space.layers[:-1]:
        for_chunks(_transitions.mark_keys, layer.first, layout, layer, used)
    keys = np.flatnonzero(used)
    slot = np.full(len(used), -1, dtype=np.int32)
    slot[keys] = np.arange(len(keys), dtype=np.int32)
    marginal = np.empty((len(keys), N_PLAYS))
    for_each(_enemy.fill_naive_marginals, len(keys), layout, keys, marginal)
    return slot, marginal


def _without_zeros(mdp: MDP) -> MDP:
    """The same process without entries of probability zero."""
    lengths = np.empty(mdp.n_rows, dtype=np.int64)
    for_chunks(_transitions.count_positive, mdp.indptr, mdp.indptr, mdp.data, lengths)
    indptr = cumulated(lengths)
    if indptr[-1] == mdp.n_entries:
        return mdp
    indices = np.empty(indptr[-1], dtype=np.int32)
    data = np.empty(indptr[-1], dtype=np.float64)
    for_chunks(_transitions.copy_positive, mdp.indptr, mdp.indptr, mdp.indices, mdp.data, indptr, indices, data)
    return replace(mdp, indptr=indptr, indices=indices, data=data)

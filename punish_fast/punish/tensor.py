"""The transition tensor of a game against an enemy: from rules and a policy to a Markov decision process.

The pattern of the tensor follows from the rules alone: count the rows of each state and the entries of each row, take
cumulative sums, then let each row be filled by its one owner. Entries that the enemy's policy makes impossible are
dropped at the end.

A compact tensor, in which rows share probabilities, takes two thirds of the memory and of the time of a sweep. It keeps
impossible entries, so its pattern is the same for all enemies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from punish_fast.mdp.model import MDP
from punish_fast.punish import _marginals, _redeal, _tensor
from punish_fast.punish._actions import N_MODES
from punish_fast.punish._outcomes import N_PLAYS
from punish_fast.punish.codes import Layout
from punish_fast.punish.space import Progress, StateSpace, must_be_space
from punish_fast.punish.strategy import checked_policy
from punish_fast.runtime.memory import require_memory
from punish_fast.runtime.parallel import cumulated, for_chunks, for_each

# One of the two is None.
_Enemy = tuple[_tensor.UniformEnemy | None, _tensor.PolicyEnemy | None]

OnLayer = Callable[[MDP, int], None]

TERMINAL_REWARD = np.array([1.0, -1.0])


def build(space: StateSpace, policy: np.ndarray | None = None, on_layer: OnLayer | None = None) -> MDP:
    """The Markov decision process of one player against an enemy.

    Rows follow the states' codes and, within a state, the two-digit action codes; columns ``n_states`` and
    ``n_states + 1`` are win and loss, which pay +1 and -1. Within a row, columns ascend.

    Args:
        space: The states of the game.
        policy: The enemy's policy, float64 ``[n_rows]`` along ``space.action``; uniform if None.
        on_layer: Called as ``on_layer(mdp, number)`` when the rows of a layer are complete, so that they can be written
            while the next ones are computed.

    Raises:
        PolicyError: the policy does not belong to these states.
        InformationError: the states are not of the model ``view``.
        MemoryError: the tensor would not fit into memory.
    """
    prepared = _prepare(space, policy)
    indptr, _, _ = _place(space)
    rows = _room_for_rows(space, indptr, indptr, int(indptr[-1]))
    mdp = MDP(
        state_ptr=rows.state_ptr,
        indptr=rows.indptr,
        indices=rows.indices,
        data=rows.data,
        reward=rows.reward,
        terminal_reward=TERMINAL_REWARD.copy(),
        layer_ptr=space.layer_ptr,
        action=space.action,
    )
    for number in range(mdp.n_layers):
        _fill(space, number, prepared, rows)
        if on_layer is not None and policy is None:
            on_layer(mdp, number)
    if policy is not None:
        mdp = _without_zeros(mdp)
        for number in range(mdp.n_layers if on_layer is not None else 0):
            on_layer(mdp, number)  # type: ignore[misc]
    return mdp


def build_compact(space: StateSpace, policy: np.ndarray | None = None, progress: Progress | None = None) -> MDP:
    """Build the same process with probabilities that rows share, zeros included.

    Args:
        space: The states of the game.
        policy: The enemy's policy, float64 ``[n_rows]`` along ``space.action``; uniform if None.
        progress: Called as ``progress("tensor", done, layers)`` when the rows of a layer are complete.

    Raises:
        PolicyError: the policy does not belong to these states.
        InformationError: the states are not of the model ``view``.
        MemoryError: the tensor would not fit into memory.
    """
    prepared = _prepare(space, policy)
    rows = _room_for_rows(space, *_place(space))
    for number in range(len(space.layers)):
        _fill(space, number, prepared, rows)
        if progress is not None:
            progress("tensor", number + 1, len(space.layers))
    return MDP(
        state_ptr=rows.state_ptr,
        indptr=rows.indptr,
        indices=rows.indices,
        data_ptr=rows.data_ptr,
        data=rows.data,
        reward=rows.reward,
        terminal_reward=TERMINAL_REWARD.copy(),
        layer_ptr=space.layer_ptr,
        action=space.action,
    )


def _room_for_rows(space: StateSpace, indptr: np.ndarray, data_ptr: np.ndarray, n_data: int) -> _tensor.TensorRows:
    n_entries = int(indptr[-1])
    # Besides columns and probabilities, what there is of each row: two pointers, a reward, an owner and an action.
    n_bytes = 4 * n_entries + 8 * n_data + 29 * len(space.action)
    require_memory(n_bytes + space.nbytes, f"a tensor of {n_entries:,} nonzeros")
    return _tensor.TensorRows(
        state_ptr=space.state_ptr,
        indptr=indptr,
        indices=np.empty(n_entries, dtype=np.int32),
        data_ptr=data_ptr,
        data=np.empty(n_data, dtype=np.float64),
        reward=np.zeros(len(space.action), dtype=np.float64),
    )


def _reshuffles(space: StateSpace) -> bool:
    return space.rules.redeal == "reshuffle"


def _place(space: StateSpace) -> tuple[np.ndarray, np.ndarray, int]:
    """Offsets of the entries of each row, int64 ``[n_rows + 1]``, and of its shared probabilities, int64 ``[n_rows]``.

    The third value is the number of shared probabilities.
    """
    indptr = np.empty(len(space.action) + 1, dtype=np.int64)
    # At first the number of entries of each row, and the row that owns its probabilities.
    lengths, owner = indptr[1:], np.empty(len(space.action), dtype=np.int64)
    for number, layer in enumerate(space.layers[:-1]):
        args = (space.layout, space.outcomes_of(number), layer, space.state_ptr, space.action, lengths, owner)
        for_chunks(_tensor.count_entries, layer.first, *args)
    last = space.layers[-1]
    n_before = int(space.state_ptr[last.first[0]])
    counts = (n_before, lengths[n_before:], owner[n_before:])
    for_chunks(_redeal.count_redeals, last.first, space.layout, _reshuffles(space), last, *counts)
    return indptr, owner, int(_tensor.place_rows(indptr, owner))


def _fill(space: StateSpace, number: int, enemy: _Enemy, rows: _tensor.TensorRows) -> None:
    """Fill the rows of one layer."""
    layer = space.layers[number]
    weights = rows.indptr[rows.state_ptr[layer.first]]
    if number < space.rules.breaths:
        layers = layer, space.layers[number + 1]
        game = (space.layout, space.places, space.outcomes_of(number), layers)
        for_chunks(_tensor.fill_blocks, weights, *game, *enemy, space.action, rows)
        return
    first_row = rows.state_ptr[layer.first[0]]
    pointers = rows.indptr[first_row:], rows.data_ptr[first_row:]
    args = (space.layout, _reshuffles(space), layer, space.layers[0], *pointers, rows.indices, rows.data)
    for_chunks(_redeal.fill_redeals, weights, *args)


def _prepare(space: StateSpace, policy: np.ndarray | None) -> _Enemy:
    """The enemy as the kernels take it: the uniform one has marginals that states share."""
    must_be_space(space)
    space.must_be_view()
    return (_uniform_marginals(space), None) if policy is None else (None, _weighted(space, policy))


def _weighted(space: StateSpace, policy: np.ndarray) -> _tensor.PolicyEnemy:
    return _tensor.PolicyEnemy(space.state_ptr, _marginals.UNIT * checked_policy(space, policy))


def refill(space: StateSpace, mdp: MDP, policy: np.ndarray) -> None:
    """Replace the probabilities and rewards in ``mdp`` by those against another enemy.

    Args:
        space: The states of the game.
        mdp: The process that `build_compact` made of them.
        policy: The enemy's policy, float64 ``[n_rows]`` along ``space.action``.

    Raises:
        PolicyError: the policy does not belong to these states.
    """
    assert mdp.data_ptr is not None
    table = _weighted(space, policy)
    rows = _tensor.TensorRows(mdp.state_ptr, mdp.indptr, mdp.indices, mdp.data_ptr, mdp.data, mdp.reward)
    for number, layer in enumerate(space.layers[:-1]):
        weights = mdp.indptr[mdp.state_ptr[layer.first]]
        args = (space.layout, space.outcomes_of(number), layer, table, space.action, rows)
        for_chunks(_tensor.refill_blocks, weights, *args)


def _uniform_marginals(space: StateSpace) -> _tensor.UniformEnemy:
    """The marginals against the uniform enemy, which many states share."""
    layout: Layout = space.layout
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


def _without_zeros(mdp: MDP) -> MDP:
    """The same process without entries of probability zero."""
    lengths = np.empty(mdp.n_rows, dtype=np.int64)
    for_chunks(_tensor.count_positive, mdp.indptr, mdp.indptr, mdp.data, lengths)
    indptr = cumulated(lengths)
    if indptr[-1] == mdp.n_entries:
        return mdp
    n_bytes = 12 * (mdp.n_entries + int(indptr[-1])) + 40 * mdp.n_rows
    require_memory(n_bytes, f"a tensor of {mdp.n_entries:,} nonzeros, and one without zeros beside it,")
    indices = np.empty(indptr[-1], dtype=np.int32)
    data = np.empty(indptr[-1], dtype=np.float64)
    for_chunks(_tensor.copy_positive, mdp.indptr, mdp.indptr, mdp.indices, mdp.data, indptr, indices, data)
    return replace(mdp, indptr=indptr, indices=indices, data=data)

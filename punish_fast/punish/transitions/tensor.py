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
from punish_fast.punish.states.space import Progress, StateSpace
from punish_fast.punish.transitions import _tensor
from punish_fast.punish.transitions.row_builder import RowBuilder, RowCounts, count_rows, policy_enemy
from punish_fast.runtime.limits import require_memory
from punish_fast.runtime.parallel import cumulated, for_chunks

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
    builder = RowBuilder(space, policy)
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
        _fill(builder, number, rows)
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
    builder = RowBuilder(space, policy)
    rows = _room_for_rows(space, *_place(space))
    for number in range(len(space.layers)):
        _fill(builder, number, rows)
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
        first_row=0,
    )


def _place(space: StateSpace) -> tuple[np.ndarray, np.ndarray, int]:
    """Offsets of the entries of each row, int64 ``[n_rows + 1]``, and of its shared probabilities, int64 ``[n_rows]``.

    The third value is the number of shared probabilities.
    """
    indptr, owner = np.empty(len(space.action) + 1, dtype=np.int64), np.empty(len(space.action), dtype=np.int64)
    for number, layer in enumerate(space.layers):
        for_chunks(count_rows, layer.first, space, number, RowCounts(0, indptr[1:], owner))
    return indptr, owner, int(_tensor.place_rows(indptr, owner))


def _fill(builder: RowBuilder, number: int, rows: _tensor.TensorRows) -> None:
    """Fill the rows of one layer."""
    weights = rows.indptr[rows.state_ptr[builder.space.layers[number].first]]
    for_chunks(builder.fill, weights, number, rows)


def refill(space: StateSpace, mdp: MDP, policy: np.ndarray) -> None:
    """Replace the probabilities and rewards in ``mdp`` by those against another enemy.

    Args:
        space: The states of the game.
        mdp: The process that `build_compact` made of them.
        policy: The enemy's policy, float64 ``[n_rows]`` along ``space.action``.
    """
    assert mdp.data_ptr is not None
    table = policy_enemy(space, policy)
    rows = _tensor.TensorRows(mdp.state_ptr, mdp.indptr, mdp.indices, mdp.data_ptr, mdp.data, mdp.reward, 0)
    for number, layer in enumerate(space.layers[:-1]):
        weights = mdp.indptr[mdp.state_ptr[layer.first]]
        args = (space.layout, space.outcomes_of(number), layer, table, space.action, rows)
        for_chunks(_tensor.refill_blocks, weights, *args)


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


class Refillable:
    """A process whose enemy can be replaced: the pattern is computed once, and probabilities are refilled.

    Starting from the values against the previous enemy, few sweeps are left::

        game = Refillable(space)
        solution = None
        for policy in policies:
            solution = solve(game.fill(policy), start=None if solution is None else solution.v)

    Attributes:
        space: The states of the game.
        mdp: The process against the current enemy, at first the uniform one.
    """

    def __init__(self, space: StateSpace) -> None:
        """Compute the pattern.

        Raises:
            MemoryError: the tensor would not fit into memory.
        """
        self.space = space
        self.mdp: MDP = build_compact(space)

    def __repr__(self) -> str:
        return f"Refillable({self.space!r})"

    def fill(self, policy: np.ndarray) -> MDP:
        """The process against an enemy's policy (float64 ``[n_rows]``), in the arrays of the one before.

        Raises:
            PolicyError: the policy does not belong to these states.
        """
        refill(self.space, self.mdp, policy)
        return self.mdp

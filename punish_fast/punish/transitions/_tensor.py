"""Rows of the transition tensor: entries are counted, then filled, each row by a single thread.

Each row belongs to a state and an action. Its entries are the possible outcomes for the state's status and the type of
action (see ``states/outcomes.py``). The probability of an outcome is the sum of the marginal (see ``_marginals.py``)
over its plays. Which outcomes are possible depends only on the unseen cards, so counting requires no probabilities.
Outcomes are in the order of their successors' codes, so columns ascend within a row.

The rows of all feints of a state have the same probabilities in the same order, but in different columns. So do the
rows of redeals from states that differ only in HP. A compact tensor stores these probabilities once, for the first of
these rows, their *owner*. The sparsity pattern does not depend on the enemy; only probabilities and rewards do.

Numba counts references to an array whenever it is taken out of a tuple or sliced, and threads that do this
simultaneously slow each other down. Loops over rows therefore pass each array as an argument and bundle only scalars.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.punish._actions import count_enemy_hand, deck_left, enemy_mode, split_action
from punish_fast.punish._codes import split_status
from punish_fast.punish._multisets import N_ADDED, N_KINDS, possible_added
from punish_fast.punish.clash import WIN
from punish_fast.punish.states._space import (
    block_statuses,
    find_targets,
    first_way,
    open_block,
    room_for_moves,
)
from punish_fast.punish.states.outcomes import FEINT, N_PLAYS
from punish_fast.punish.transitions._marginals import (
    denominator,
    list_hands,
    policy_marginal,
    room_for_hands,
    uniform_key,
    unseen_code,
)
from punish_fast.runtime._jit import inlined_routine, kernel


class UniformEnemy(NamedTuple):
    """Marginals against the uniform enemy, shared by many states."""

    slot: np.ndarray  # int32 [n_keys], maps `uniform_key` to a row of `marginal`
    marginal: np.ndarray  # float64 [n, 186]


class PolicyEnemy(NamedTuple):
    """The policy of an enemy."""

    state_ptr: np.ndarray  # int64 [n_states + 1], first row of each state
    weights: np.ndarray  # float64 [n_rows], probabilities of the actions in units of 1/2520


class TensorRows(NamedTuple):
    """All or some rows of a tensor, in the format of `punish_fast.mdp.model.MDP`.

    ``state_ptr`` covers all states. The other pointers and ``reward`` begin with row ``first_row``. ``data_ptr`` is
    ``indptr`` if rows do not share probabilities.
    """

    state_ptr: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data_ptr: np.ndarray
    data: np.ndarray
    reward: np.ndarray
    first_row: int


@inlined_routine
def count_possible(ptr, mask, index, possible):
    """Return the number of possible outcomes of a status and way."""
    n = 0
    for outcome in range(ptr[index], ptr[index + 1]):
        n += (mask[outcome] & possible) != 0
    return n


@kernel
def count_entries(begin, end, layout, outcomes, layer, state_ptr, action, first_row, lengths, owner):
    """Count the entries of each row of the given blocks, and find the row's owner.

    Indices into ``lengths`` and ``owner``, and the owners themselves, are relative to row ``first_row``.
    """
    piles = np.zeros((3, N_KINDS), dtype=np.int64)
    ptr, mask = outcomes.ptr, outcomes.mask
    for block in range(begin, end):
        sizes = open_block(layout, layer, block, piles)
        possible = possible_added(piles[2])
        state = layer.first[block]
        for code in block_statuses(layer, block):
            base = first_way(layout, code, split_status(layout, code), sizes)
            n_feint = 0
            first_feint = 0
            for row in range(state_ptr[state], state_ptr[state + 1]):
                pick, feints = split_action(action[row])
                n = n_feint
                if n == 0 or not feints:
                    n = count_possible(ptr, mask, base + (FEINT if feints else pick), possible)
                    n_feint = n if feints else n_feint
                    first_feint = row if feints else first_feint
                lengths[row - first_row] = n
                owner[row - first_row] = (first_feint if feints else row) - first_row
            state += 1


@kernel
def place_rows(indptr, data_ptr):
    """Replace the lengths and owners of all rows with the offsets of their entries and probabilities, in place.

    On entry, ``indptr[row + 1]`` is the number of entries of a row, and ``data_ptr[row]`` is the row's owner (the row
    itself or an earlier one). On return, ``indptr[row + 1]`` is the end of the row's entries, and ``data_ptr[row]`` is
    the offset of its owner's probabilities. Return the number of probabilities.
    """
    n_data = 0
    indptr[0] = 0
    for row in range(len(data_ptr)):
        n = indptr[row + 1]
        indptr[row + 1] = indptr[row] + n
        owner = data_ptr[row]
        if owner == row:
            data_ptr[row] = n_data
            n_data += n
        else:
            data_ptr[row] = data_ptr[owner]
    return n_data


@kernel
def mark_keys(begin, end, layout, layer, used):
    """Set ``used[key]`` to 1 for the key of every state of the given blocks (safe in concurrent threads)."""
    piles = np.zeros((3, N_KINDS), dtype=np.int64)
    for block in range(begin, end):
        sizes = open_block(layout, layer, block, piles)
        unseen = unseen_code(layout, piles[2])
        for code in block_statuses(layer, block):
            status = split_status(layout, code)
            used[uniform_key(layout, unseen, deck_left(layout, status), enemy_mode(layout, status, sizes))] = 1


@inlined_routine
def weigh_outcomes(ptr, mask, play_ptr, play, marginal, where, chosen, p):
    """Write the possible outcomes of a status and way, and their probabilities, to ``chosen`` and ``p``.

    ``where`` bundles the index of status and way, the mask of possible multisets, the row of ``marginal``, the
    marginal's denominator, and the row of ``chosen`` and ``p`` to write. Return the number of outcomes.
    """
    index, possible, place, total, line = where
    n = 0
    for outcome in range(ptr[index], ptr[index + 1]):
        if mask[outcome] & possible == 0:
            continue
        weight = 0.0
        for k in range(play_ptr[outcome], play_ptr[outcome + 1]):
            weight += marginal[place, play[k]]
        chosen[line, n] = outcome
        p[line, n] = min(weight / total, 1.0)
        n += 1
    return n


@inlined_routine
def sum_reward(status_after, n, chosen, p, line):
    """Return the expected reward of ``n`` chosen outcomes, of which win and loss come last."""
    reward = 0.0
    for k in range(max(n - 2, 0), n):
        status = status_after[chosen[line, k]]
        if status < 0:
            reward += p[line, k] if status == WIN else -p[line, k]
    return reward


@inlined_routine
def write_columns(status_after, joined, first, rank, target, chosen, where, indices):
    """Write the columns of the chosen outcomes of a pick to ``indices``.

    ``where`` bundles the pick, the number of outcomes, the row of ``chosen`` that lists them, the number of states, and
    the index of the first entry to write.
    """
    pick, n, line, n_states, entry = where
    for k in range(n):
        status = status_after[chosen[line, k]]
        if status >= 0:
            block = target[pick * N_ADDED + joined[chosen[line, k]]]
            indices[entry + k] = first[block] + rank[block, status]
        elif status == WIN:
            indices[entry + k] = n_states
        else:
            indices[entry + k] = n_states + 1


@kernel
def fill_blocks(begin, end, layout, places, outcomes, layers, uniform, policy, action, rows):
    """Fill the rows of the given blocks; ``layers`` contains the blocks' layer and the next layer.

    Exactly one of ``uniform`` and ``policy`` must be None.
    """
    layer, after = layers
    moves = room_for_moves(outcomes)
    discard, unseen, target = moves.piles[1], moves.piles[2], moves.target
    # Numba does not compile the branches for an argument that is None.
    if uniform is not None:
        slot, marginal = uniform
    if policy is not None:
        marginal = np.zeros((1, N_PLAYS))
        hands = room_for_hands(layout)
        kinds = np.zeros(N_KINDS, dtype=np.int64)
    # Row 0: outcomes of the current action without a feint. Row 1: outcomes shared by all feints of the state.
    chosen = np.empty((2, N_PLAYS), dtype=np.int64)
    p = np.empty((2, N_PLAYS))
    ptr, joined, status_after, mask, play_ptr, play, _ = outcomes
    state_ptr, indptr, indices, data_ptr, data, reward, first_row = rows
    first, after_first, rank = layer.first, after.first, after.rank
    n_states = len(state_ptr) - 1
    for block in range(begin, end):
        sizes = find_targets(layout, places, outcomes, layer, after, block, moves)
        possible = moves.possible[0]
        if uniform is not None:
            unseen_number = unseen_code(layout, unseen)
        if policy is not None:
            list_hands(layout, layer, discard, unseen, hands)
        state = first[block]
        for code in block_statuses(layer, block):
            status = split_status(layout, code)
            mode, n_deck = enemy_mode(layout, status, sizes), deck_left(layout, status)
            place = 0
            if uniform is not None:
                place = slot[uniform_key(layout, unseen_number, n_deck, mode)]
            if policy is not None:
                policy_marginal(layout, layer, policy, status, mode, unseen, hands, kinds, marginal[0])
            total = denominator(count_enemy_hand(layout, status, sizes), n_deck)
            base = first_way(layout, code, status, sizes)
            n_feint = 0
            for row in range(state_ptr[state], state_ptr[state + 1]):
                pick, feints = split_action(action[row])
                n = n_feint
                if n == 0 or not feints:
                    index = base + (FEINT if feints else pick)
                    where = (index, possible, place, total, feints)
                    n = weigh_outcomes(ptr, mask, play_ptr, play, marginal, where, chosen, p)
                    n_feint = n if feints else n_feint
                place_of_row = row - first_row
                columns = (pick, n, feints, n_states, indptr[place_of_row])
                write_columns(status_after, joined, after_first, rank, target, chosen, columns, indices)
                for k in range(n):
                    data[data_ptr[place_of_row] + k] = p[feints, k]
                reward[place_of_row] = sum_reward(status_after, n, chosen, p, feints)
            state += 1


@kernel
def count_positive(begin, end, indptr, data, lengths):
    """Set ``lengths[row]`` to the number of nonzero entries of each given row."""
    for row in range(begin, end):
        n = 0
        for entry in range(indptr[row], indptr[row + 1]):
            n += data[entry] > 0
        lengths[row] = n


@kernel
def copy_positive(begin, end, indptr, indices, data, new_indptr, new_indices, new_data):
    """Copy the nonzero entries of the given rows to the new arrays."""
    for row in range(begin, end):
        new = new_indptr[row]
        for entry in range(indptr[row], indptr[row + 1]):
            if data[entry] > 0:
                new_indices[new] = indices[entry]
                new_data[new] = data[entry]
                new += 1

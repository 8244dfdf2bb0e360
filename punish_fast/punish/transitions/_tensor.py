"""The rows of the transition tensor: count, then fill, one owner per row.

A row is a state and an action. Its entries are the possible outcomes of the state's status and way to act (see
``_outcomes.py``), each with the sum of the marginal (see ``_marginals.py``) over the outcome's plays. The unseen cards
alone decide which outcomes are possible, so counting needs no probabilities, and the rows of all feints of a state
share theirs. Outcomes are in the order of their successors' codes, hence columns ascend within a row.

The rows of all feints of a state have the same probabilities in the same order, for different columns; so have
redeals of states that differ only in HP. A compact tensor stores them once, for the first of these rows, their
*owner*. The pattern does not depend on the enemy, so for another enemy only the probabilities are refilled.

Numba counts references to an array whenever it is taken out of a tuple or sliced, and threads that count at once wait
for each other. So loops over rows pass arrays singly and whole; only scalars are bundled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.punish._actions import count_enemy_hand, deck_left, enemy_mode, split_action
from punish_fast.punish._clash import WIN
from punish_fast.punish._codes import split_status
from punish_fast.punish._multisets import N_ADDED, N_KINDS, possible_added
from punish_fast.punish.states._outcomes import FEINT, N_PLAYS
from punish_fast.punish.states._space import (
    block_statuses,
    find_targets,
    first_way,
    open_block,
    room_for_moves,
)
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
    """The uniformly playing enemy, against which states share marginals.

    Attributes:
        slot: int32 ``[n_keys]``, from `uniform_key` to a row of `marginal`.
        marginal: float64 ``[n, 186]``.
    """

    slot: np.ndarray
    marginal: np.ndarray


class PolicyEnemy(NamedTuple):
    """An enemy with a policy.

    Attributes:
        state_ptr: int64 ``[n_states + 1]``, where the legal actions of each state begin.
        weights: float64 ``[n_rows]``, their probabilities in units of 1/2520.
    """

    state_ptr: np.ndarray
    weights: np.ndarray


class TensorRows(NamedTuple):
    """The rows of a tensor, or some of them: see `punish_fast.mdp.model.MDP`; ``data_ptr`` may be ``indptr``.

    The pointers and rewards are those of the rows from number ``first_row`` on, ``state_ptr`` has all states.
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
    """The number of possible outcomes of a status and way."""
    n = 0
    for outcome in range(ptr[index], ptr[index + 1]):
        n += (mask[outcome] & possible) != 0
    return n


@kernel
def count_entries(begin, end, layout, outcomes, layer, state_ptr, action, first_row, lengths, owner):
    """Count the entries of the rows of the given blocks, and find their owners.

    Both are written from row number ``first_row`` on, and owners are counted from it.
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
    """Turn lengths and owners of all rows into the offsets of their entries and probabilities.

    ``indptr[row + 1]`` is the number of entries of a row and becomes their end. ``data_ptr[row]`` is its owner, the
    row itself or one before it, and becomes the offset of the owner's probabilities.

    Returns:
        The number of probabilities.
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
    """Set ``used`` for the key of every state of the given blocks; threads may write the same cell, but only 1."""
    piles = np.zeros((3, N_KINDS), dtype=np.int64)
    for block in range(begin, end):
        sizes = open_block(layout, layer, block, piles)
        unseen = unseen_code(layout, piles[2])
        for code in block_statuses(layer, block):
            status = split_status(layout, code)
            used[uniform_key(layout, unseen, deck_left(layout, status), enemy_mode(layout, status, sizes))] = 1


@inlined_routine
def weigh_outcomes(ptr, mask, play_ptr, play, marginal, where, chosen, p):
    """List the possible outcomes of a status and way with their probabilities; return their number.

    ``where`` bundles the index of status and way, the mask of possible multisets, the line of ``marginal``, its
    denominator, and the line of ``chosen`` and ``p`` to write.
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
    """The expected reward of ``n`` chosen outcomes; win and loss come last."""
    reward = 0.0
    for k in range(max(n - 2, 0), n):
        status = status_after[chosen[line, k]]
        if status < 0:
            reward += p[line, k] if status == WIN else -p[line, k]
    return reward


@inlined_routine
def write_columns(status_after, joined, first, rank, target, chosen, where, indices):
    """Write the columns of the chosen outcomes of a pick.

    ``where`` bundles the pick, the number of outcomes, their line in ``chosen``, the number of states, and the first
    entry.
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
    """Fill the rows of the given blocks; ``layers`` are theirs and the next.

    Either ``uniform`` or ``policy`` is None, and the code for it is not compiled.
    """
    layer, after = layers
    moves = room_for_moves(outcomes)
    discard, unseen, target = moves.piles[1], moves.piles[2], moves.target
    # Numba leaves out branches on an argument that is None.
    if uniform is not None:
        slot, marginal = uniform
    if policy is not None:
        marginal = np.zeros((1, N_PLAYS))
        hands = room_for_hands(layout)
        kinds = np.zeros(N_KINDS, dtype=np.int64)
    # One line for an action without a feint, one for all feints of a state, which share their outcomes.
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
def refill_blocks(begin, end, layout, outcomes, layer, policy, action, rows):
    """Replace the probabilities of the given blocks by those against an enemy's policy."""
    piles = np.zeros((3, N_KINDS), dtype=np.int64)
    discard, unseen = piles[1], piles[2]
    kinds = np.zeros(N_KINDS, dtype=np.int64)
    marginal = np.zeros((1, N_PLAYS))
    hands = room_for_hands(layout)
    chosen = np.empty((1, N_PLAYS), dtype=np.int64)
    p = np.empty((1, N_PLAYS))
    ptr, _, status_after, mask, play_ptr, play, _ = outcomes
    state_ptr, _, _, data_ptr, data, reward, _ = rows
    for block in range(begin, end):
        sizes = open_block(layout, layer, block, piles)
        possible = possible_added(unseen)
        list_hands(layout, layer, discard, unseen, hands)
        state = layer.first[block]
        for code in block_statuses(layer, block):
            status = split_status(layout, code)
            mode = enemy_mode(layout, status, sizes)
            policy_marginal(layout, layer, policy, status, mode, unseen, hands, kinds, marginal[0])
            total = denominator(count_enemy_hand(layout, status, sizes), deck_left(layout, status))
            base = first_way(layout, code, status, sizes)
            owner = -1
            for row in range(state_ptr[state], state_ptr[state + 1]):
                pick, feints = split_action(action[row])
                if feints and owner >= 0:
                    reward[row] = reward[owner]
                    continue
                index = base + (FEINT if feints else pick)
                where = (index, possible, 0, total, 0)
                n = weigh_outcomes(ptr, mask, play_ptr, play, marginal, where, chosen, p)
                for k in range(n):
                    data[data_ptr[row] + k] = p[0, k]
                reward[row] = sum_reward(status_after, n, chosen, p, 0)
                owner = row if feints else owner
            state += 1


@kernel
def count_positive(begin, end, indptr, data, lengths):
    """``lengths[row]`` becomes the number of entries of the row that are not zero, for the given rows."""
    for row in range(begin, end):
        n = 0
        for entry in range(indptr[row], indptr[row + 1]):
            n += data[entry] > 0
        lengths[row] = n


@kernel
def copy_positive(begin, end, indptr, indices, data, new_indptr, new_indices, new_data):
    """Copy the entries that are not zero, for the given rows."""
    for row in range(begin, end):
        new = new_indptr[row]
        for entry in range(indptr[row], indptr[row + 1]):
            if data[entry] > 0:
                new_indices[new] = indices[entry]
                new_data[new] = data[entry]
                new += 1

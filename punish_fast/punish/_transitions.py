"""The rows of the transition tensor: count, then fill, one owner per row.

A row is a state and an action. Its entries are the possible outcomes of the state's status and way to act (see
``_outcomes.py``), each with the sum of the marginal (see ``_enemy.py``) over the outcome's plays. Which outcomes are
possible follows from the unseen cards alone, so counting needs no probabilities, and the rows of all feints of a
state share theirs. Outcomes are in the order of their successors' codes, hence columns ascend within a row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast._jit import kernel
from punish_fast.punish._clash import WIN
from punish_fast.punish._codes import split_status
from punish_fast.punish._enemy import (
    deck_left,
    denominator,
    enemy_mode,
    naive_key,
    table_marginal,
    unseen_code,
)
from punish_fast.punish._multisets import N_ADDED, N_KINDS, possible_added
from punish_fast.punish._outcomes import FEINT, N_PLAYS, N_WAYS, REST_WAY
from punish_fast.punish._space import (
    block_reach,
    block_statuses,
    count_enemy_hand,
    find_targets,
    open_block,
    rests,
    row_of,
    status_for_ways,
)

REST_ACTION = 90


class Enemy(NamedTuple):
    """An enemy as the kernels see it.

    Attributes:
        is_naive: Whether every legal action is played alike in every state; then `marginal` holds all there is.
        slot: int32 ``[n_keys]``, for a naive enemy: from the key of ``naive_key`` to a row of `marginal`.
        marginal: float64 ``[n, 186]``.
        entry: int32 ``[n_states]``, for a table: from the row of a state to a row of `p`, or -1 for uniform play.
        p: float64 ``[k, 11]``, action probabilities.
    """

    is_naive: bool
    slot: np.ndarray
    marginal: np.ndarray
    entry: np.ndarray
    p: np.ndarray


class Rows(NamedTuple):
    """The rows of a tensor: see `punish_fast.mdp.model.MDP`."""

    state_ptr: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    reward: np.ndarray


@kernel
def may_feint(layout, status):
    """Whether the player has a feint left."""
    _, _, _, own_feinted, _, _ = split_status(layout, status)
    return own_feinted < layout.feints


@kernel
def list_actions(layout, hand, hand_size, status, actions):
    """Write the two-digit codes of the legal actions, ascending; return how many there are."""
    if rests(layout, status, hand_size):
        actions[0] = REST_ACTION
        return 1
    n = 0
    feints = may_feint(layout, status)
    for pick in range(N_KINDS):
        if hand[pick] > 0:
            actions[n] = 10 * (pick + 1)
            n += 1
            if feints:
                actions[n] = 10 * (pick + 1) + 1
                n += 1
    return n


@kernel
def count_actions(begin, end, layout, layer, counts):
    """``counts[i]`` becomes the number of legal actions of state ``i`` of the layer, for the given blocks."""
    hand = np.zeros(N_KINDS, dtype=np.int64)
    discard = np.zeros(N_KINDS, dtype=np.int64)
    unseen = np.zeros(N_KINDS, dtype=np.int64)
    actions = np.zeros(2 * N_KINDS + 1, dtype=np.uint8)
    for block in range(begin, end):
        hand_size, _ = open_block(layout, layer, block, hand, discard, unseen)
        i = layer.first[block] - layer.first[0]
        for status in block_statuses(layer, block):
            counts[i] = list_actions(layout, hand, hand_size, status, actions)
            i += 1


@kernel
def count_possible(outcomes, index, possible):
    """The number of possible outcomes of a status and way."""
    n = 0
    for outcome in range(outcomes.ptr[index], outcomes.ptr[index + 1]):
        n += (outcomes.mask[outcome] & possible) != 0
    return n


@kernel
def count_entries(begin, end, layout, outcomes, layer, state_ptr, action, lengths):
    """Write action codes and numbers of entries of the rows of the given blocks.

    ``state_ptr``, ``action`` and ``lengths`` begin with the first state of the layer.
    """
    hand = np.zeros(N_KINDS, dtype=np.int64)
    discard = np.zeros(N_KINDS, dtype=np.int64)
    unseen = np.zeros(N_KINDS, dtype=np.int64)
    for block in range(begin, end):
        sizes = open_block(layout, layer, block, hand, discard, unseen)
        possible = possible_added(unseen)
        i = layer.first[block] - layer.first[0]
        for status in block_statuses(layer, block):
            rows = slice(state_ptr[i], state_ptr[i + 1])
            list_actions(layout, hand, sizes[0], status, action[rows])
            enemy_hand = count_enemy_hand(layout, status, sizes[0], sizes[1])
            base = status_for_ways(layout, status, enemy_hand) * N_WAYS
            count_state(outcomes, base, possible, action[rows], lengths[rows])
            i += 1


@kernel
def count_state(outcomes, base, possible, actions, lengths):
    """Numbers of entries of the rows of one state; all feints have the same."""
    n_feint = 0
    for row in range(len(actions)):
        action = actions[row]
        if action == REST_ACTION:
            lengths[row] = count_possible(outcomes, base + REST_WAY, possible)
        elif action % 10 == 0:
            lengths[row] = count_possible(outcomes, base + action // 10 - 1, possible)
        else:
            if n_feint == 0:
                n_feint = count_possible(outcomes, base + FEINT, possible)
            lengths[row] = n_feint


@kernel
def state_key(layout, status, unseen, enemy_hand):
    """The key of a state's marginal against the naive enemy."""
    mode = enemy_mode(layout, status, enemy_hand)
    return naive_key(layout, unseen_code(layout, unseen), deck_left(layout, status), mode)


@kernel
def mark_keys(layout, layer, used):
    """Set ``used`` for the key of every state of the layer."""
    hand = np.zeros(N_KINDS, dtype=np.int64)
    discard = np.zeros(N_KINDS, dtype=np.int64)
    unseen = np.zeros(N_KINDS, dtype=np.int64)
    for block in range(len(layer.cards)):
        sizes = open_block(layout, layer, block, hand, discard, unseen)
        for status in block_statuses(layer, block):
            enemy_hand = count_enemy_hand(layout, status, sizes[0], sizes[1])
            used[state_key(layout, status, unseen, enemy_hand)] = 1


@kernel
def weigh_outcomes(outcomes, index, possible, marginal, total, chosen, p):
    """List the possible outcomes of a status and way with their probabilities; return how many there are."""
    n = 0
    for outcome in range(outcomes.ptr[index], outcomes.ptr[index + 1]):
        if outcomes.mask[outcome] & possible == 0:
            continue
        weight = 0.0
        for k in range(outcomes.play_ptr[outcome], outcomes.play_ptr[outcome + 1]):
            weight += marginal[outcomes.play[k]]
        chosen[n] = outcome
        p[n] = min(weight / total, 1.0)
        n += 1
    return n


@kernel
def write_row(outcomes, after, targets, n, chosen, p, rows, row):
    """Write one row: ``n`` chosen outcomes with probabilities ``p``."""
    n_states = len(rows.state_ptr) - 1
    rows.reward[row] = 0.0
    entry = rows.indptr[row]
    for k in range(n):
        status = outcomes.status[chosen[k]]
        if status >= 0:
            rows.indices[entry] = row_of(after, targets[outcomes.added[chosen[k]]], status)
        elif status == WIN:
            rows.indices[entry] = n_states
            rows.reward[row] += p[k]
        else:
            rows.indices[entry] = n_states + 1
            rows.reward[row] -= p[k]
        rows.data[entry] = p[k]
        entry += 1


@kernel
def write_state(outcomes, after, base, picks, possible, targets, marginal, total, rows, row):
    """Write all rows of one state; ``picks`` are its action codes."""
    chosen = np.empty(N_PLAYS, dtype=np.int64)
    p = np.empty(N_PLAYS)
    feint_chosen = np.empty(N_PLAYS, dtype=np.int64)
    feint_p = np.empty(N_PLAYS)
    n_feint = 0
    for action in picks:
        if action == REST_ACTION:
            n = weigh_outcomes(outcomes, base + REST_WAY, possible, marginal, total, chosen, p)
            write_row(outcomes, after, targets[N_KINDS], n, chosen, p, rows, row)
        elif action % 10 == 0:
            pick = action // 10 - 1
            n = weigh_outcomes(outcomes, base + pick, possible, marginal, total, chosen, p)
            write_row(outcomes, after, targets[pick], n, chosen, p, rows, row)
        else:
            if n_feint == 0:
                n_feint = weigh_outcomes(outcomes, base + FEINT, possible, marginal, total, feint_chosen, feint_p)
            write_row(outcomes, after, targets[action // 10 - 1], n_feint, feint_chosen, feint_p, rows, row)
        row += 1


@kernel
def fill_blocks(begin, end, layout, outcomes, layer, after, enemy, action, rows):
    """Fill the rows of the given blocks; ``after`` is the next layer."""
    hand = np.zeros(N_KINDS, dtype=np.int64)
    discard = np.zeros(N_KINDS, dtype=np.int64)
    unseen = np.zeros(N_KINDS, dtype=np.int64)
    reach = np.zeros(N_KINDS + 1, dtype=np.int64)
    targets = np.zeros((N_KINDS + 1, N_ADDED), dtype=np.int64)
    scratch = np.zeros(N_PLAYS)
    for block in range(begin, end):
        sizes = open_block(layout, layer, block, hand, discard, unseen)
        statuses = block_statuses(layer, block)
        block_reach(layout, outcomes, statuses, hand, sizes, reach)
        possible = possible_added(unseen)
        find_targets(layout, after, hand, discard, reach, possible, targets)
        state = layer.first[block]
        for status in statuses:
            enemy_hand = count_enemy_hand(layout, status, sizes[0], sizes[1])
            marginal = scratch
            if enemy.is_naive:
                marginal = enemy.marginal[enemy.slot[state_key(layout, status, unseen, enemy_hand)]]
            else:
                table_marginal(layout, layer, enemy, status, discard, unseen, enemy_hand, scratch)
            total = denominator(enemy_hand, deck_left(layout, status))
            base = status_for_ways(layout, status, enemy_hand) * N_WAYS
            row, last = rows.state_ptr[state], rows.state_ptr[state + 1]
            write_state(outcomes, after, base, action[row:last], possible, targets, marginal, total, rows, row)
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

"""Rows of the transition tensor. Entries are first counted, then filled. A single thread computes each row.

Each row belongs to a state and an action. Its entries are the possible outcomes, given the state's status and the type
of action (``states/outcomes.py``). The probability of an outcome is the sum of the marginal (``_marginals.py``) over
the plays of the outcome. The unseen cards determine which outcomes are possible, so counting requires no probabilities.
Outcomes are in the order of their successors' codes, so columns ascend within a row.

The rows of all feints in a state have the same probabilities in the same order, but different columns. The same holds
for redeals from states that differ only in HP. A compact tensor stores these probabilities once, for the first of these
rows, the *owner*. The sparsity pattern does not depend on the enemy, but probabilities and rewards do.

Numba counts references to an array whenever the array is sliced or taken out of a tuple. Threads that do this
simultaneously slow each other down. Kernels therefore take arrays out of tuples before the innermost loops.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.punish._actions import N_MODES, count_enemy_hand, deck_left, enemy_mode, split_action
from punish_fast.punish._codes import split_status
from punish_fast.punish._multisets import N_ADDED, N_KINDS, possible_added
from punish_fast.punish.clash import WIN
from punish_fast.punish.states._space import (
    block_statuses,
    find_block,
    first_way,
    list_moves,
    open_block,
    room_for_moves,
)
from punish_fast.punish.states.outcomes import FEINT, N_PLAYS, N_WAYS
from punish_fast.punish.transitions._marginals import (
    denominator,
    list_hands,
    policy_marginal,
    room_for_hands,
    uniform_marginal,
    unseen_code,
)
from punish_fast.runtime._jit import kernel, routine

# Index of the joining cards if the outcome is a win or a loss.
DECIDED = N_ADDED


class TensorRows(NamedTuple):
    """All or some rows of a tensor, in the format of `punish_fast.mdp.model.mdp.MDP`.

    ``state_ptr`` contains all states. The other pointers and ``reward`` begin with row ``first_row``. If rows do not
    share probabilities, ``data_ptr`` is the same array as ``indptr``.
    """

    state_ptr: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data_ptr: np.ndarray
    data: np.ndarray
    reward: np.ndarray
    first_row: int


@routine
def count_possible(ptr, mask, index, possible):
    """Return the number of possible outcomes of a status and way."""
    n = 0
    for outcome in range(ptr[index], ptr[index + 1]):
        n += (mask[outcome] & possible) != 0
    return n


@kernel
def count_entries(blocks, layout, outcomes, layer, action, rows):
    """Count the entries of each row in the given blocks, and find the owner of each row.

    ``rows`` consists of ``state_ptr``, the first row, and the arrays of lengths and owners. Indices into these arrays,
    and the owners themselves, are relative to the first row. The kernel is fastest if blocks with the same unseen cards
    are adjacent.
    """
    state_ptr, first_row, lengths, owner = rows
    piles = np.zeros((3, N_KINDS), dtype=np.int64)
    ptr, mask, first = outcomes.ptr, outcomes.mask, layer.first
    # Number of entries for each status and way, given the unseen cards ``listed`` (-1 if not counted yet).
    n_entries = np.zeros(len(ptr), dtype=np.int64)
    listed = -1
    for block in blocks:
        sizes = open_block(layout, layer, block, piles)
        unseen = unseen_code(layout, piles[2])
        if unseen != listed:
            listed, possible = unseen, possible_added(piles[2])
            n_entries[:] = -1
        state = first[block]
        for code in block_statuses(layer, block):
            first_feint = np.int64(-1)
            for row in range(state_ptr[state], state_ptr[state + 1]):
                pick, feints = split_action(action[row])
                line = np.int64(code) * N_WAYS + (FEINT if feints else pick)
                if n_entries[line] < 0:
                    base = first_way(layout, code, split_status(layout, code), sizes)
                    n_entries[line] = count_possible(ptr, mask, base + line % N_WAYS, possible)
                if feints and first_feint < 0:
                    first_feint = row
                lengths[row - first_row] = n_entries[line]
                owner[row - first_row] = (first_feint if feints else row) - first_row
            state += 1


@kernel
def place_rows(indptr, data_ptr):
    """Replace the lengths and owners of rows with offsets of entries and probabilities, in place.

    Initially, ``indptr[row + 1]`` is the number of entries in a row, and ``data_ptr[row]`` is the owner of the row (the
    row itself or an earlier row). Afterwards, ``indptr[row + 1]`` is the end of the row's entries, and
    ``data_ptr[row]`` is the offset of the owner's probabilities. Return the number of probabilities.
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


class Weighed(NamedTuple):
    """Possible outcomes and their probabilities, given the current unseen cards, by status and way.

    Arrays of indices are unsigned, because Numba checks whether signed indices are negative.
    """

    n: np.ndarray  # uint32 [n_statuses * 7], number of outcomes for each status and way, or 0 if not listed
    first: np.ndarray  # uint32 [n_statuses * 7], index of the first outcome of each status and way
    reward: np.ndarray  # float64 [n_statuses * 7], expected reward of each status and way
    joined: np.ndarray  # uint32 [n], joining cards of each outcome, or `DECIDED` for a win and a loss
    status: np.ndarray  # uint32 [n], next status, or 0 for a win and 1 for a loss
    p: np.ndarray  # float64 [n], probability of each outcome


@routine
def weigh_outcomes(outcomes, possible, index, line, marginal, total, weighed):
    """List the possible outcomes of a status and way in ``weighed``.

    ``index`` is the status and way in `BreathOutcomes`, and ``line`` is the status and way in ``weighed``. ``marginal``
    contains numerators over the denominator ``total``.
    """
    ptr, joined, status_after, mask, play_ptr, play, _ = outcomes
    n = ptr[index]
    reward = 0.0
    for outcome in range(ptr[index], ptr[index + 1]):
        if mask[outcome] & possible == 0:
            continue
        weight = 0.0
        for k in range(play_ptr[outcome], play_ptr[outcome + 1]):
            weight += marginal[play[k]]
        p = min(weight / total, 1.0)
        status = status_after[outcome]
        weighed.p[n] = p
        weighed.joined[n], weighed.status[n] = joined[outcome], status
        if status < 0:
            weighed.joined[n], weighed.status[n] = DECIDED, WIN - status
            reward += p if status == WIN else -p
        n += 1
    weighed.n[line], weighed.first[line] = n - ptr[index], ptr[index]
    weighed.reward[line] = reward


@routine
def find_targets(places, layer, after, block, n_states, moves):
    """Find the first column and the row of ``after.rank`` after each move from a block, and after a win or loss.

    Set ``moves.column`` to the columns, and ``moves.origin`` to the index of the first element of each row. Moves are
    numbered ``57 * pick + multiset``. The multiset `DECIDED` stands for a win or a loss.
    """
    number, cards, column, origin = moves.number, moves.cards, moves.column, moves.origin
    first, kind, (n_kinds, n_statuses) = after.first, after.kind, after.rank.shape
    for pick in range(N_KINDS + 1):
        move = pick * (N_ADDED + 1) + DECIDED
        column[move], origin[move] = n_states, (n_kinds - 1) * n_statuses
    for i in range(list_moves(places, layer, block, moves)):
        target, move = find_block(after, cards[i]), number[i] + number[i] // N_ADDED
        if target >= 0:
            column[move], origin[move] = first[target], kind[target] * n_statuses


@routine
def uniform_row(layout, status, sizes, unseen, marginals, is_known):
    """Return the row of ``marginals`` for a status and the uniform enemy. Compute the row on first use."""
    mode, n_deck = enemy_mode(layout, status, sizes), deck_left(layout, status)
    row = (layout.deck_size - n_deck) * N_MODES + mode
    if is_known[row] == 0:
        uniform_marginal(unseen, count_enemy_hand(layout, status, sizes), mode, marginals[row])
        is_known[row] = 1
    return row


@kernel
def fill_blocks(blocks, layout, places, outcomes, layers, policy, action, rows):
    """Fill the rows of the given blocks.

    ``layers`` contains the layer of the blocks, the next layer and the flattened ranks of the next layer. ``policy``,
    float64 ``[n_rows]``, contains the probabilities of the enemy's actions in units of 1/2520. If ``policy`` is None,
    the enemy is uniform. Outcomes then have the same probabilities in all blocks with the same unseen cards, and the
    kernel is fastest if these blocks are adjacent.
    """
    layer, after, rank = layers
    moves, n_lines, n_outcomes = room_for_moves(outcomes), len(outcomes.ptr) - 1, len(outcomes.mask)
    n_listed, first_listed = np.zeros(n_lines, dtype=np.uint32), np.zeros(n_lines, dtype=np.uint32)
    joined, status_after = np.zeros(n_outcomes, dtype=np.uint32), np.zeros(n_outcomes, dtype=np.uint32)
    rewards, p = np.zeros(n_lines), np.zeros(n_outcomes)
    weighed = Weighed(n_listed, first_listed, rewards, joined, status_after, p)
    # Marginals of the uniform enemy, by the number of drawn cards and the enemy's mode. A policy uses only row 0.
    marginals = np.zeros(((2 * layout.feints + 1) * N_MODES, N_PLAYS))
    is_known = np.zeros(len(marginals), dtype=np.int64)
    # If an argument is None, Numba does not compile its branch.
    if policy is not None:
        hands, kinds = room_for_hands(layout), np.zeros(N_KINDS, dtype=np.int64)
    discard, unseen, column, origin = moves.piles[1], moves.piles[2], moves.column, moves.origin
    moves.reach[:] = -1
    first = layer.first
    state_ptr, indptr, indices, data_ptr, data, reward, first_row = rows
    listed = -1
    for block in blocks:
        sizes = open_block(layout, layer, block, moves.piles)
        find_targets(places, layer, after, block, len(state_ptr) - 1, moves)
        if unseen_code(layout, unseen) != listed:
            listed = unseen_code(layout, unseen)
            n_listed[:] = 0
            is_known[:] = 0
        if policy is not None:
            list_hands(layout, layer, discard, unseen, hands)
        state = first[block]
        for code in block_statuses(layer, block):
            line = np.int64(code) * N_WAYS
            if policy is not None:
                status = split_status(layout, code)
                mode = enemy_mode(layout, status, sizes)
                policy_marginal(layout, layer, state_ptr, policy, status, mode, unseen, hands, kinds, marginals[0])
                n_listed[line : line + N_WAYS] = 0
            for row in range(state_ptr[state], state_ptr[state + 1]):
                pick, feints = split_action(action[row])
                way = FEINT if feints else pick
                if n_listed[line + way] == 0:
                    status = split_status(layout, code)
                    place = 0
                    if policy is None:
                        place = uniform_row(layout, status, sizes, unseen, marginals, is_known)
                    total = denominator(count_enemy_hand(layout, status, sizes), deck_left(layout, status))
                    index = first_way(layout, code, status, sizes) + way
                    weigh_outcomes(outcomes, moves.possible[0], index, line + way, marginals[place], total, weighed)
                begin, move = first_listed[line + way], np.uint32(pick * (N_ADDED + 1))
                entry, entry_p = np.uint64(indptr[row - first_row]), np.uint64(data_ptr[row - first_row])
                for k in range(np.uint64(n_listed[line + way])):
                    target = move + joined[begin + k]
                    indices[entry + k] = column[target] + rank[origin[target] + status_after[begin + k]]
                    data[entry_p + k] = p[begin + k]
                reward[row - first_row] = rewards[line + way]
            state += 1

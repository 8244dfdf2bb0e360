"""Bellman backups of MDPs without layers, over the rows that may still be optimal, and sweeps over a policy's rows.

`improve` backs up all states from the same values ``v``. It skips rows that an earlier backup proved to be suboptimal
(``improvement.py``). The indices of the other rows, a state's *candidates*, are moved to the front of the state's
section of `Candidates.rows`, so no row is copied. Each state is updated by only one thread.

Sums within a chunk are computed in a fixed order, as in ``_bellman.py``.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.mdp.model._bellman import AHEAD, NONE, ONE
from punish_fast.runtime._jit import kernel
from punish_fast.runtime._prefetch import prefetch

NO_ROW = np.uint64(2**64 - 1)


class Candidates(NamedTuple):
    """The rows of each state that may be optimal."""

    rows: np.ndarray  # uint32 ``[n_rows]``, candidates of each state ``s`` in ascending order, from ``state_ptr[s]`` on
    number: np.ndarray  # uint32 ``[n_states]``, number of candidates of each state


@kernel
def improve(begin, end, chunks, tensor, discount, slack, candidates, v, greedy, statistics):
    """Back up states from ``v`` over their candidates.

    ``greedy`` receives the values of candidates ``[n_rows]``, column values ``[n_columns]``, and the best row of each
    state. First drop candidates whose value in the last backup was more than ``slack`` below the best value of their
    state. ``statistics[chunk]`` receives the smallest and the largest change of a state value, the number of states
    whose choice changed, and the number of entries read.
    """
    state_ptr, indptr, indices, data, reward = tensor
    candidate, number = candidates
    q, out, choice = greedy
    for chunk in range(begin, end):
        lowest, highest, n_changed, n_read = np.inf, -np.inf, 0, NONE
        state = chunks[chunk]
        while state < chunks[chunk + 1]:
            place = kept = state_ptr[state]
            last_place = place + number[state]
            limit = q[choice[state]] - slack
            while place < last_place:
                candidate[kept] = candidate[place]
                kept += ONE if q[candidate[place]] >= limit else NONE
                place += ONE
            place = state_ptr[state]
            number[state] = kept - place
            best, best_row = -np.inf, choice[state]
            while place < kept:
                row = np.uint64(candidate[place])
                k, last = indptr[row], indptr[row + ONE]
                n_read += last - k
                prefetch(indices, k + AHEAD)
                prefetch(data, k + AHEAD)
                total = 0.0
                while k < last:
                    total += data[k] * v[indices[k]]
                    k += ONE
                value = reward[row] + discount * total
                q[row] = value
                best_row = row if value > best else best_row
                best = value if value > best else best
                place += ONE
            change = best - v[state]
            lowest = change if change < lowest else lowest
            highest = change if change > highest else highest
            n_changed += best_row != choice[state]
            out[state] = best
            choice[state] = best_row
            state += ONE
        statistics[chunk, 0] = lowest
        statistics[chunk, 1] = highest
        statistics[chunk, 2] = n_changed
        statistics[chunk, 3] = n_read


class Chain(NamedTuple):
    """The rows of a policy, with room for the longest row of each state."""

    ptr: np.ndarray  # uint64 ``[n_states + 1]``, start of each state's entries
    length: np.ndarray  # uint32 ``[n_states]``, number of entries of each state
    row: np.ndarray  # uint64 ``[n_states]``, row from which the entries were copied, or `NO_ROW`
    indices: np.ndarray  # uint32 ``[ptr[-1]]``, columns
    data: np.ndarray  # float64 ``[ptr[-1]]``, probabilities
    reward: np.ndarray  # float64 ``[n_states]``, reward of each state's row
    leaving: np.ndarray  # float64 ``[n_states]``, one minus the discounted probability of staying in the state


@kernel
def gather_policy(begin, end, tensor, discount, choice, chain):
    """Copy the chosen row of each state, unless the chain already contains it."""
    for state in range(begin, end):
        row = choice[state]
        if row == chain.row[state]:
            continue
        k, last, to = tensor.indptr[row], tensor.indptr[row + ONE], chain.ptr[state]
        chain.row[state], chain.length[state], chain.reward[state] = row, last - k, tensor.reward[row]
        stays = 0.0
        while k < last:
            chain.indices[to], chain.data[to] = tensor.indices[k], tensor.data[k]
            stays += tensor.data[k] * (tensor.indices[k] == state)
            k += ONE
            to += ONE
        chain.leaving[state] = 1.0 - discount * stays


@kernel
def back_up_chain(begin, end, chunks, chain, discount, v, out, extremes):
    """Back up states from ``v`` under the policy. Set ``extremes[chunk]`` to the smallest and the largest change."""
    ptr, length, _, indices, data, reward, _ = chain
    for chunk in range(begin, end):
        lowest, highest = np.inf, -np.inf
        state = chunks[chunk]
        while state < chunks[chunk + 1]:
            k = ptr[state]
            last = k + length[state]
            prefetch(indices, k + AHEAD)
            prefetch(data, k + AHEAD)
            total = 0.0
            while k < last:
                total += data[k] * v[indices[k]]
                k += ONE
            value = reward[state] + discount * total
            change = value - v[state]
            lowest = change if change < lowest else lowest
            highest = change if change > highest else highest
            out[state] = value
            state += ONE
        extremes[chunk, 0] = lowest
        extremes[chunk, 1] = highest


@kernel
def relax_chain(begin, end, boundary, is_descending, chain, discount, v, out):
    """Back up the states of blocks into ``out``, which holds their old values on entry.

    Block ``i`` contains the states from ``boundary[i]`` to ``boundary[i + 1] - 1``. Updates use the current values in
    ``out`` for states of the same block and ``v`` for other states.
    """
    ptr, length, _, indices, data, reward, leaving = chain
    for block in range(begin, end):
        first, past = boundary[block], boundary[block + ONE]
        for n_done in range(past - first):
            state = past - ONE - n_done if is_descending else first + n_done
            k = ptr[state]
            last = k + length[state]
            total = 0.0
            while k < last:
                column = np.uint64(indices[k])
                total += data[k] * (out[column] if first <= column < past else v[column])
                k += ONE
            # Since the sum includes the state's old value, divide the change by the discounted probability of leaving.
            out[state] += (reward[state] + discount * total - out[state]) / leaving[state]

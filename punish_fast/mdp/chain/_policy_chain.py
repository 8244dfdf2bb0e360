"""Sweeps over the rows taken by a policy (``improvement.py``).

Sums within a chunk are computed in a fixed order, as in ``_bellman.py``.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.mdp.model._bellman import AHEAD, ONE
from punish_fast.runtime._jit import kernel
from punish_fast.runtime._prefetch import prefetch

NO_ROW = np.uint64(2**64 - 1)


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

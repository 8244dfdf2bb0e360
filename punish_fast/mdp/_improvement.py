"""Sweeps for processes without layers: over the rows that may still be best, and over those of one policy.

`improve` is a Bellman backup of all states from one ``v``. It skips rows that an earlier backup proved not to be best
(``action_elimination.py``): each state's *candidates*, its first rows in ``candidate``, shrink in place, so a state has
one owner and nothing is copied. The rows of a policy are gathered into arrays of their own, because a sweep over every
n-th row of the tensor would fetch all of it.

Sums are taken inside a chunk in a fixed order, as in ``_bellman.py``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.mdp._bellman import AHEAD, NONE, ONE
from punish_fast.runtime._jit import kernel
from punish_fast.runtime._prefetch import prefetch


class Candidates(NamedTuple):
    """The rows of each state that may be best.

    Attributes:
        rows: uint32 ``[n_rows]``, those of state ``s`` begin at ``state_ptr[s]``, in ascending order.
        number: uint32 ``[n_states]``, how many there are.
    """

    rows: np.ndarray
    number: np.ndarray


class Greedy(NamedTuple):
    """What `improve` writes: values of rows ``[n_rows]`` and columns ``[n_columns]``, and each state's best row."""

    q: np.ndarray
    v: np.ndarray
    choice: np.ndarray


class Chain(NamedTuple):
    """The rows of a policy: ``ptr`` uint64 ``[n_states + 1]``, columns uint32, probabilities, a reward for each."""

    ptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    reward: np.ndarray


@kernel
def improve(begin, end, chunks, tensor, discount, slack, candidates, v, greedy, statistics):
    """Back up states from ``v`` over their candidates, of which those worse by more than ``slack`` drop out first.

    ``statistics[chunk]`` becomes the smallest and the largest change of a state, the number of states whose choice
    changed, and the number of entries read.
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


@kernel
def gather_policy(begin, end, tensor, choice, chain):
    """Copy the chosen rows of the given states into ``chain``."""
    _, indptr, indices, data, reward = tensor
    ptr, to_indices, to_data, to_reward = chain
    for state in range(begin, end):
        row = choice[state]
        to_reward[state] = reward[row]
        k, to = indptr[row], ptr[state]
        while to < ptr[state + 1]:
            to_indices[to] = indices[k]
            to_data[to] = data[k]
            k += ONE
            to += ONE


@kernel
def back_up_chain(begin, end, chunks, chain, discount, v, out, extremes):
    """Back up states from ``v`` under the policy; ``extremes[chunk]`` are the smallest and the largest change."""
    ptr, indices, data, reward = chain
    for chunk in range(begin, end):
        lowest, highest = np.inf, -np.inf
        state = chunks[chunk]
        k = ptr[state]
        while state < chunks[chunk + 1]:
            last = ptr[state + ONE]
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

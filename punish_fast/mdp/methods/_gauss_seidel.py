"""Backups that use new values at once.

States are cut into *blocks* of consecutive ones. Within a block, a backup sees the new values of the states before it;
of other blocks it sees the old ones. So blocks have one owner each, and the result does not depend on which of them run
at the same time. A row that leads back to its own state is solved for it::

    v(s)  =  max_a (r(s, a) + g sum_{t != s} P(t | s, a) v(t)) / (1 - g + g sum_{t != s} P(t | s, a))

The probability of leaving is a sum, since one minus the probability of staying has no digits if play hardly ever
leaves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.mdp._bellman import NONE, ONE
from punish_fast.runtime._jit import kernel, routine


class Blocks(NamedTuple):
    """Which states to back up, and in which order.

    Attributes:
        chosen: uint64 ``[k]``, numbers of blocks.
        boundary: uint64 ``[n_blocks + 1]``, where the states of each block begin.
        is_descending: Whether to go from the last state of a block to its first one.
    """

    chosen: np.ndarray
    boundary: np.ndarray
    is_descending: bool


@routine
def relax_run(first, last, is_descending, tensor, discount, candidates, v, out):
    """Back up the states from ``first`` to ``last`` in their order into ``out``; return the largest change.

    New values are seen within the run, and those of ``v`` outside.
    """
    state_ptr, indptr, indices, data, reward = tensor
    candidate, number = candidates
    largest = 0.0
    for n_done in range(last - first):
        state = last - ONE - n_done if is_descending else first + n_done
        place = state_ptr[state]
        last_place = place + number[state]
        best = -np.inf
        while place < last_place:
            row = np.uint64(candidate[place])
            k, end = indptr[row], indptr[row + ONE]
            total, away = 0.0, 0.0
            while k < end:
                column = np.uint64(indices[k])
                value = out[column] if first <= column < last else v[column]
                total += data[k] * (0.0 if column == state else value)
                away += 0.0 if column == state else data[k]
                k += ONE
            leaves = 1.0 - discount + discount * away
            # Without a discount, whoever stays for ever pays for it.
            value = (reward[row] + discount * total) / leaves if leaves > 0.0 else -np.inf
            best = value if value > best else best
            place += ONE
        change = abs(best - out[state])
        largest = change if change > largest else largest
        out[state] = best
    return largest


@kernel
def relax_blocks(begin, end, blocks, tensor, discount, candidates, v, out, change):
    """Back up the states of the chosen blocks into ``out``, which has their old values; note the largest changes."""
    for place in range(begin, end):
        block = blocks.chosen[place]
        first, last = blocks.boundary[block], blocks.boundary[block + ONE]
        change[place] = relax_run(first, last, blocks.is_descending, tensor, discount, candidates, v, out)


@kernel
def relax_components(begin, end, boundary, tensor, discount, candidates, v, goal, most):
    """Solve components one after the other, in place: sweep each until no change exceeds ``goal``, or ``most`` times.

    A component of one state takes one backup. Returns the number of backups of states.
    """
    n_backups = NONE
    for component in range(begin, end):
        first, last = boundary[component], boundary[component + 1]
        n_sweeps, largest = 0, np.inf
        while n_sweeps < most and largest > goal:
            largest = relax_run(first, last, n_sweeps % 2 == 1, tensor, discount, candidates, v, v)
            largest = largest if last - first > ONE else 0.0
            n_backups += last - first
            n_sweeps += 1
    return n_backups


@kernel
def mark_successors(begin, end, boundary, tensor, block_of, leads):
    """``leads[block, other]`` becomes 1 where a state of a given block leads to one of another block, or of its own."""
    for block in range(begin, end):
        first_row, last_row = tensor.state_ptr[boundary[block]], tensor.state_ptr[boundary[block + 1]]
        for k in range(tensor.indptr[first_row], tensor.indptr[last_row]):
            column = tensor.indices[k]
            if column < len(block_of):
                leads[block, block_of[column]] = 1

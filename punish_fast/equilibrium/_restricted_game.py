"""Restricted game: full states with a sufficient reach, and actions with a sufficient probability or a positive regret.

Information states, rows, full states and successors of a restricted game are in the same order as in the whole graph
(``duel/_graph.py``). A game that reaches a full state outside the restricted game ends there, in a *leaf*. The indices
of leaves follow the indices of nodes. Leaves keep their last known values.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.duel._walk import ONE, ZERO, open_full, walk_row
from punish_fast.equilibrium._reach import OTHERS, RESPONSE_OTHERS
from punish_fast.runtime._jit import inlined_routine, kernel

# Marks of full states, information states and rows. `NEEDED` states and rows are included only because the enemy
# reaches them. Their strategy is not updated.
OUTSIDE, INSIDE, LEAF, NEEDED = 0, 1, 2, 3


class Marks(NamedTuple):
    """Marks of the states and rows in a restricted game."""

    state: np.ndarray  # uint8 ``[n_states]``, `INSIDE`, `OUTSIDE`, or `NEEDED` if only the enemy reaches the state
    row: np.ndarray  # uint8 ``[n_rows]``, the mark of the row's state, or `OUTSIDE`
    full: np.ndarray  # uint8 ``[n_full]``, `INSIDE`, `OUTSIDE`, or `LEAF` if the restricted game ends there


@kernel
def mark_likely(begin, end, first, full_ptr, reach, least_state, least_full, marks):
    """Mark the information states and full states whose reach by the player or by the response is large enough.

    Information states before index ``first`` are always marked.
    """
    for state in range(begin, end):
        others = 0.0
        response = 0.0
        for number in range(full_ptr[state], full_ptr[state + 1]):
            others += reach[number, OTHERS]
            response += reach[number, RESPONSE_OTHERS]
        is_inside = state < first or max(others, response) >= least_state
        marks.state[state] = INSIDE if is_inside else OUTSIDE
        for number in range(full_ptr[state], full_ptr[state + 1]):
            is_likely = state < first or max(reach[number, OTHERS], reach[number, RESPONSE_OTHERS]) >= least_full
            marks.full[number] = INSIDE if is_inside and is_likely else OUTSIDE


@inlined_routine
def count_marked(total, enemy_row, entry, n, _draw, args):
    """Visitor: count the successors of marked rows, and mark those outside the game as leaves."""
    is_marked, count = total
    after, row_marks, inside = args
    for i in range(n if is_marked and row_marks[enemy_row] != OUTSIDE else ZERO):
        target = np.uint64(after[entry + i])
        if target < np.uint64(len(inside)) and inside[target] == OUTSIDE:
            inside[target] = LEAF
        count += ONE
    return is_marked, count


@inlined_routine
def copy_marked(total, enemy_row, entry, n, _draw, args):
    """Visitor: copy the successors of marked rows to ``out``, starting at the index in ``total``."""
    is_marked, place = total
    after, row_marks, slot, out = args
    for i in range(n if is_marked and row_marks[enemy_row] != OUTSIDE else ZERO):
        out[place] = slot[np.uint64(after[entry + i])]
        place += ONE
    return is_marked, place


@inlined_routine
def walk_marked(visit, place, full, draws, rows, marks, row, number, args):
    """Visit the successors of a full state by marked rows. Return ``place`` plus the number of marked successors."""
    state_ptr, action = rows
    entry, enemy = open_full(full, state_ptr, number)
    for own_row in range(np.uint64(state_ptr[row]), np.uint64(state_ptr[row + 1])):
        total = marks.row[own_row] != OUTSIDE, place
        total, entry = walk_row(visit, total, entry, enemy, own_row, action, draws, args)
        _, place = total
    return place


@kernel
def count_successors(begin, end, full, draws, rows, marks, n_entries):
    """Count the successors of marked full states by marked rows, and mark those outside the game as leaves.

    Several threads may mark the same leaf, but all write the same value.
    """
    args = full.after, marks.row, marks.full
    for row in range(begin, end):
        for number in range(np.uint64(full.ptr[row]), np.uint64(full.ptr[row + 1])):
            n_entries[number] = 0
            if marks.full[number] == INSIDE:
                n_entries[number] = walk_marked(count_marked, ZERO, full, draws, rows, marks, row, number, args)


@kernel
def copy_successors(begin, end, full, draws, rows, marks, place, slot, out):
    """Copy the successors of marked full states, renumbered by ``slot``, to ``out``, starting at ``place[number]``."""
    args = full.after, marks.row, slot, out
    for row in range(begin, end):
        for number in range(np.uint64(full.ptr[row]), np.uint64(full.ptr[row + 1])):
            if marks.full[number] == INSIDE:
                first = np.uint64(place[number])
                walk_marked(copy_marked, first, full, draws, rows, marks, row, number, args)

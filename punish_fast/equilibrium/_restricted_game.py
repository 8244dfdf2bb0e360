"""An excerpt of the real game's graph: the full states that are likely enough, and the actions that are worth a look.

It is numbered like the whole (``_graph.py``): information states, their rows, full states and successors in the same
order, without those that are left out. A play that leads to a full state outside ends there: such *leaves* come behind
the nodes, and are worth what was last known of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.duel._passes import ONE, TWO
from punish_fast.equilibrium._regret_matching import OTHERS, RESPONSE_OTHERS
from punish_fast.runtime._jit import kernel

# Of a full state, an information state, or a row. What is needed is there because others are, and not learned.
OUTSIDE, INSIDE, LEAF, NEEDED = 0, 1, 2, 3


class Marks(NamedTuple):
    """What an excerpt holds.

    Attributes:
        state: uint8 ``[n_states]``, `INSIDE`, `OUTSIDE`, or `NEEDED` if only an enemy is there.
        row: uint8 ``[n_rows]``, likewise for actions.
        full: uint8 ``[n_full]``, `INSIDE`, `OUTSIDE`, or `LEAF` if play ends there.
    """

    state: np.ndarray
    row: np.ndarray
    full: np.ndarray


@kernel
def mark_likely(begin, end, first, full_ptr, reach, least_state, least_full, marks):
    """Mark the given information states and their full states, if player or answer come there often enough.

    Those before number ``first`` are marked in any case.
    """
    for state in range(begin, end):
        others = 0.0
        answer = 0.0
        for number in range(full_ptr[state], full_ptr[state + 1]):
            others += reach[number, OTHERS]
            answer += reach[number, RESPONSE_OTHERS]
        is_inside = state < first or max(others, answer) >= least_state
        marks.state[state] = INSIDE if is_inside else OUTSIDE
        for number in range(full_ptr[state], full_ptr[state + 1]):
            is_likely = state < first or max(reach[number, OTHERS], reach[number, RESPONSE_OTHERS]) >= least_full
            marks.full[number] = INSIDE if is_inside and is_likely else OUTSIDE


@kernel
def mark_enemies(begin, end, full_ptr, enemy_row, marks):
    """Mark the information states in which the enemy is in marked full states of the given ones.

    Threads may mark the same one, but all write the same.
    """
    for number in range(full_ptr[begin], full_ptr[end]):
        if marks.full[number] == INSIDE and marks.state[enemy_row[number]] == OUTSIDE:
            marks.state[enemy_row[number]] = NEEDED


@kernel
def mark_rows(begin, end, state_ptr, strategy, regret, choice, least, marks):
    """Mark the actions of marked information states that are played, regretted, or the answer's.

    Played is what is at least as likely as ``least``.
    """
    for state in range(begin, end):
        for row in range(state_ptr[state], state_ptr[state + 1]):
            wanted = strategy[row] >= least or regret[row] > 0.0 or row == choice[state]
            marks.row[row] = marks.state[state] if wanted else OUTSIDE


@kernel
def count_plays(begin, end, full, draws, rows, marks, n_entries):
    """Count the successors of marked full states by marked actions, and mark those that are outside as leaves.

    Threads may mark the same leaf, but all write the same.
    """
    state_ptr, action = rows
    inside, row_marks = marks.full, marks.row
    full_ptr, entries, enemy_rows, decks, after = full.ptr, full.entry, full.enemy_row, full.deck, full.after
    n_draws = draws.n
    n_full = np.uint64(len(inside))
    for state in range(begin, end):
        own_first, own_last = np.uint64(state_ptr[state]), np.uint64(state_ptr[state + 1])
        for number in range(np.uint64(full_ptr[state]), np.uint64(full_ptr[state + 1])):
            n_entries[number] = 0
            if inside[number] != INSIDE:
                continue
            entry = np.uint64(entries[number])
            deck = np.uint64(decks[number])
            enemy_state = np.uint64(enemy_rows[number])
            first, last = np.uint64(state_ptr[enemy_state]), np.uint64(state_ptr[enemy_state + ONE])
            for own_row in range(own_first, own_last):
                own_feints = np.uint64(action[own_row]) & ONE
                for enemy_row in range(first, last):
                    n = np.uint64(n_draws[deck, own_feints + TWO * (np.uint64(action[enemy_row]) & ONE)])
                    if row_marks[own_row] != OUTSIDE and row_marks[enemy_row] != OUTSIDE:
                        n_entries[number] += np.int64(n)
                        for draw in range(n):
                            target = np.uint64(after[entry + draw])
                            if target < n_full and inside[target] == OUTSIDE:
                                inside[target] = LEAF
                    entry += n


@kernel
def fill_plays(begin, end, full, draws, rows, marks, place, slot, out):
    """List the successors of marked full states by marked actions: ``out[place[number]]`` and on, as ``slot`` says."""
    state_ptr, action = rows
    inside, row_marks = marks.full, marks.row
    full_ptr, entries, enemy_rows, decks, after = full.ptr, full.entry, full.enemy_row, full.deck, full.after
    n_draws = draws.n
    for state in range(begin, end):
        own_first, own_last = np.uint64(state_ptr[state]), np.uint64(state_ptr[state + 1])
        for number in range(np.uint64(full_ptr[state]), np.uint64(full_ptr[state + 1])):
            if inside[number] != INSIDE:
                continue
            entry = np.uint64(entries[number])
            deck = np.uint64(decks[number])
            enemy_state = np.uint64(enemy_rows[number])
            first, last = np.uint64(state_ptr[enemy_state]), np.uint64(state_ptr[enemy_state + ONE])
            k = np.uint64(place[number])
            for own_row in range(own_first, own_last):
                own_feints = np.uint64(action[own_row]) & ONE
                for enemy_row in range(first, last):
                    n = np.uint64(n_draws[deck, own_feints + TWO * (np.uint64(action[enemy_row]) & ONE)])
                    if row_marks[own_row] != OUTSIDE and row_marks[enemy_row] != OUTSIDE:
                        for draw in range(n):
                            out[k] = slot[np.uint64(after[entry + draw])]
                            k += ONE
                    entry += n

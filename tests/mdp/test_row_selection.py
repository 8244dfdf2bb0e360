"""Rows taken from a process, and what rows and states have to do with each other."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from processes import compacted, random_processes

from punish_fast.mdp.graph.qualitative import reachable_states
from punish_fast.mdp.graph.row_selection import count_rows, rows_of_states, select_rows, states_of_rows
from punish_fast.mdp.model import from_rows


@given(random_processes(), st.data())
def test_rows_keep_their_probabilities_under_new_columns(sample, data):
    mdp = from_rows(*sample)
    rows = np.array(data.draw(st.lists(st.integers(-1, mdp.n_rows - 1))), dtype=np.int64)
    column = np.array(data.draw(st.permutations(range(mdp.n_columns + 1))), dtype=np.int32)
    taken = select_rows(mdp, rows, column)
    assert len(taken.indices) == len(taken.data) == taken.indptr[-1]
    for i, row in enumerate(rows):
        found = slice(*taken.indptr[i : i + 2])
        entries = taken.indices[found].tolist(), taken.data[found].tolist()
        if row < 0:
            assert entries == ([column[-1]], [1.0])
        else:
            stored = slice(*mdp.indptr[row : row + 2])
            assert entries == (column[mdp.indices[stored]].tolist(), mdp.data[stored].tolist())


@given(random_processes(), st.data())
def test_rows_and_states_are_matched_by_the_pointers(sample, data):
    mdp = from_rows(*sample)
    state = np.repeat(np.arange(mdp.n_states), np.diff(mdp.state_ptr))
    assert states_of_rows(mdp).tolist() == state.tolist()
    marks = np.array(data.draw(st.lists(st.booleans(), min_size=mdp.n_states, max_size=mdp.n_states)), dtype=bool)
    rows = rows_of_states(mdp, marks)
    assert rows.tolist() == marks[state].tolist()
    assert count_rows(mdp, rows).tolist() == (np.diff(mdp.state_ptr) * marks).tolist()


@given(random_processes(), st.data())
def test_what_is_found_is_all_that_successors_lead_to(sample, data):
    states, _, _ = sample
    first = data.draw(st.sets(st.integers(0, len(states) - 1)))
    found, todo = set(), list(first)
    while todo:
        state = todo.pop()
        if state < len(states) and state not in found:
            found.add(state)
            todo += [successor for _, row in states[state] for successor in row]
    mdp = from_rows(*sample)
    for process in (mdp, compacted(mdp)):
        assert reachable_states(process, np.array(sorted(first), dtype=np.int64)).tolist() == sorted(found)

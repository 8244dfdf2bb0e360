from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from processes import compacted, random_processes

from punish_fast.mdp.graph.qualitative import reachable_states
from punish_fast.mdp.model import from_rows


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

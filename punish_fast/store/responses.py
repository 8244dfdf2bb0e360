"""Best responses stored in strategy files."""

from __future__ import annotations

import numpy as np

from punish_fast.punish.states.space import StateSpace
from punish_fast.store.reader import Artefact

_NAME = "/response/choice"


def response_of(file: Artefact, space: StateSpace) -> np.ndarray | None:
    """Return the response stored in a file, float64 ``[n_rows]``, or None if there is none for these states."""
    if _NAME not in file.shapes or file.information != space.information.name:
        return None
    file.must_have_shape(_NAME, (space.n_states,))
    rows = space.state_ptr[:-1] + file.array(_NAME)
    if (rows >= space.state_ptr[1:]).any():
        raise file.error(_NAME, "an action is not one of its state")
    policy = np.zeros(len(space.action))
    policy[rows] = 1.0
    return policy

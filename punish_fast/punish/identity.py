"""The identity of an agent: a hash of what it is, whatever file it is in.

It is BLAKE2b with 16 bytes and the key ``8248`` over all triples of state, action and value, ascending by state and
then by action. Each triple is 24 bytes, little-endian: the decimal code of the state as int64, the two-digit action as
int64 and the value as float64, in which -0 counts as 0.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

_KEY = b"8248"
_SIZE = 16
_TRIPLE = np.dtype([("state", "<i8"), ("action", "<i8"), ("value", "<f8")])


def identity(states: np.ndarray, state_ptr: np.ndarray, actions: np.ndarray, values: np.ndarray) -> str:
    """The identity of the agent with these triples, 32 hexadecimal digits.

    Args:
        states: ``[n_states]``, all different.
        state_ptr: ``[n_states + 1]``, where the rows of each state begin.
        actions: ``[n_rows]``, two-digit actions, ascending in every state.
        values: float64 ``[n_rows]``, the value of each action; for a strategy, its probability.
    """
    order = np.argsort(states)
    begins, counts = state_ptr[:-1][order], np.diff(state_ptr)[order]
    ends = np.cumsum(counts)
    rows = np.arange(len(actions)) + np.repeat(begins - ends + counts, counts)
    triples = np.empty(len(actions), dtype=_TRIPLE)
    triples["state"] = np.repeat(states[order], counts)
    triples["action"], triples["value"] = actions[rows], values[rows] + 0.0
    return blake2b(triples.data.cast("B"), digest_size=_SIZE, key=_KEY).hexdigest()

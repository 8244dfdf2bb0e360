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


def identity(states: np.ndarray, actions: np.ndarray, values: np.ndarray) -> str:
    """The identity of the agent with these triples, 32 hexadecimal digits.

    Args:
        states: ``[n_rows]``, the state of each row.
        actions: ``[n_rows]``, its two-digit action.
        values: float64 ``[n_rows]``, its value; for a strategy, its probability.
    """
    triples = np.empty(len(states), dtype=_TRIPLE)
    order = np.lexsort((actions, states))
    for name, column in (("state", states), ("action", actions), ("value", values + 0.0)):
        triples[name] = column[order]
    return blake2b(triples.data.cast("B"), digest_size=_SIZE, key=_KEY).hexdigest()

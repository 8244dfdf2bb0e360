"""Random numbers of learners: all those of a round follow from the random seed and the number of the round."""

from __future__ import annotations

import numpy as np

_BITS = 2


def stream_of(seed: int, number: int, stream: int) -> np.random.Generator:
    """The random numbers of one use, from 0 to 3, in one round of a learner with a seed."""
    return np.random.Generator(np.random.Philox(key=np.array([seed, number << _BITS | stream], dtype=np.uint64)))

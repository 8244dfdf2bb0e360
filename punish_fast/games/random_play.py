"""Random play of any game."""

from __future__ import annotations

import numpy as np


def random_mover(_states: np.ndarray, legal: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Return a uniformly random legal action of each state."""
    rank = (generator.random(len(legal)) * legal.sum(axis=1)).astype(np.int64)
    return np.asarray((legal.cumsum(axis=1) > rank[:, np.newaxis]).argmax(axis=1))

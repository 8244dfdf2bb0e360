"""Policies for tests."""

import numpy as np

from punish_fast.punish.states.space import StateSpace


def mixed(space: StateSpace, seed: int) -> np.ndarray:
    """A policy of random weights, some of them zero."""
    generator = np.random.default_rng(seed)
    weight = generator.random(len(space.action)) ** 3
    weight[generator.random(len(weight)) < 0.2] = 0.0
    weight[space.state_ptr[:-1]] += 1e-3
    return weight / np.repeat(np.add.reduceat(weight, space.state_ptr[:-1]), np.diff(space.state_ptr))


def uniform(space: StateSpace) -> np.ndarray:
    """The policy that plays every legal action with equal probability."""
    lengths = np.diff(space.state_ptr)
    return np.repeat(1 / lengths, lengths)

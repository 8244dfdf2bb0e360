"""Policies for tests."""

from collections.abc import Iterator
from itertools import product

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


def sixteenths(space: StateSpace, seed: int) -> np.ndarray:
    """A random policy whose probabilities are multiples of 1/16, many of them zero, with exact sums."""
    generator = np.random.default_rng(seed)
    parts = [generator.multinomial(16, generator.dirichlet(np.ones(n))) for n in np.diff(space.state_ptr).tolist()]
    policy: np.ndarray = np.concatenate(parts) / 16
    return policy


def pure_policies(space: StateSpace) -> Iterator[np.ndarray]:
    """Every policy that takes one action in each state."""
    choices = [range(*space.state_ptr[row : row + 2]) for row in range(space.n_states)]
    for rows in product(*choices):
        policy = np.zeros(len(space.action))
        policy[list(rows)] = 1.0
        yield policy

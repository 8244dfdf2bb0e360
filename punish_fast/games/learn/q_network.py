"""A network from the features of a state to a value for each action, in JAX (extra ``learn``).

With filters, features of the shape planes x rows x columns first pass through convolutions, each with 3 x 3 filters,
zeros beyond the edge, and the same rows and columns as before. Hidden layers of units follow, then one sum for each
action; all but the last are rectified, ``max(0, x)``. All weights are one vector (``layers.py``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from punish_fast.games.learn.layers import (
    SIDE,
    convolutions,
    dense,
    n_weights_of,
    random_weights,
    rectified,
    split_layers,
)
from punish_fast.runtime.errors import require
from punish_fast.runtime.interrupts import uninterrupted

if TYPE_CHECKING:
    import jax

# A call of the network takes a power of this many states, so that few sizes are compiled.
_GROWTH = 4
_LEAST_STATES = 64


class Architecture(NamedTuple):
    """The shape of a network."""

    inputs: tuple[int, ...]  # shape of the features of a state
    filters: tuple[int, ...]  # number of filters of each convolution
    hidden: tuple[int, ...]  # units of each hidden layer
    n_moves: int  # number of actions of players

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shape of each layer's weights: side, side, planes before and after; or units before and after."""
        n_in = self.inputs[0]
        shapes: list[tuple[int, ...]] = []
        for n_out in self.filters:
            shapes.append((SIDE, SIDE, n_in, n_out))
            n_in = n_out
        n_in = n_in * math.prod(self.inputs[1:])
        for n_out in (*self.hidden, self.n_moves):
            shapes.append((n_in, n_out))
            n_in = n_out
        return shapes

    @property
    def n_weights(self) -> int:
        """Number of weights and biases."""
        return n_weights_of(self.shapes)


def first_weights(architecture: Architecture, generator: np.random.Generator) -> np.ndarray:
    """Weights to begin with, float32 ``[n_weights]``."""
    return random_weights(architecture.shapes, generator)


def action_values(architecture: Architecture, weights: jax.Array, x: jax.Array) -> jax.Array:
    """The value of each action, float32 ``[n, n_moves]``, of features ``[n, n_features]``; to be compiled."""
    layers, n_filters = split_layers(architecture.shapes, weights), len(architecture.filters)
    x = convolutions(layers[:n_filters], architecture.inputs, x)
    for layer in layers[n_filters:-1]:
        x = rectified(dense(layer, x))
    return dense(layers[-1], x)


@lru_cache(maxsize=16)
def _compiled(architecture: Architecture) -> Callable[..., Any]:
    import jax

    return jax.jit(lambda weights, x: action_values(architecture, weights, x))


def evaluate(architecture: Architecture, weights: Any, features: np.ndarray) -> np.ndarray:
    """The value of each action of many states.

    Args:
        architecture: The shape of the network.
        weights: float32 ``[n_weights]``, an array of NumPy or JAX.
        features: float32 ``[n, n_features]``.

    Returns:
        float32 ``[n, n_moves]``.
    """
    with on_processor():
        n, n_states = len(features), _LEAST_STATES
        while n_states < n:
            n_states *= _GROWTH
        padded = np.zeros((n_states, features.shape[1]), dtype=np.float32)
        padded[:n] = features
        return np.asarray(_compiled(architecture)(weights, padded))[:n]


@contextmanager
def on_processor() -> Iterator[None]:
    """Run a block in which JAX computes on the processor, where small networks are fastest and give the same bits.

    An interrupt is raised when the block ends, since JAX may crash by it.
    """
    require("learn", "jax", "optax")
    import jax

    with uninterrupted(), jax.default_device(jax.devices("cpu")[0]):
        yield

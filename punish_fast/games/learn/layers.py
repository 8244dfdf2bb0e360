"""Layers of networks in one vector of weights: dense ones, and convolutions of 3 x 3 filters.

All weights are one float32 vector, layer by layer, the biases of a layer after its weights. They start uniform within
``sqrt(6 / (n_in + n_out))`` of zero, where ``n_in`` and ``n_out`` count what one unit takes and gives, and biases start
at zero (Glorot and Bengio, 2010). The shape of a dense layer is units before and after; that of a convolution is side,
side, planes before and after.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import jax

# The side of a filter.
SIDE = 3

# The shape of a layer, and its weights and biases.
LayerShape = tuple[int, ...]
Layer = tuple["jax.Array", "jax.Array"]


def n_weights_of(shapes: Sequence[LayerShape]) -> int:
    """Number of weights and biases."""
    return sum(math.prod(shape) + shape[-1] for shape in shapes)


def random_weights(shapes: Sequence[LayerShape], generator: np.random.Generator) -> np.ndarray:
    """Weights to begin with, float32 ``[n_weights]``."""
    parts = []
    for shape in shapes:
        limit = math.sqrt(6 / (math.prod(shape[:-2]) * (shape[-2] + shape[-1])))
        parts += [generator.uniform(-limit, limit, math.prod(shape)), np.zeros(shape[-1])]
    return np.concatenate(parts).astype(np.float32)


def split_layers(shapes: Sequence[LayerShape], weights: jax.Array) -> list[Layer]:
    """The layers of a vector of weights; to be compiled."""
    import jax.numpy as jnp

    lengths = [length for shape in shapes for length in (math.prod(shape), shape[-1])]
    # Splitting, unlike slicing, has a cheap gradient: one concatenation.
    parts = jnp.split(weights, np.cumsum(lengths)[:-1].tolist())
    return [(weight.reshape(shape), bias) for shape, weight, bias in zip(shapes, parts[::2], parts[1::2], strict=True)]


def dense(layer: Layer, x: jax.Array) -> jax.Array:
    """Sums of what comes in, ``[n, n_out]``, of ``[n, n_in]``; to be compiled."""
    weight, bias = layer
    return x @ weight + bias


def rectified(x: jax.Array) -> jax.Array:
    """``max(0, x)``."""
    import jax.numpy as jnp

    return jnp.maximum(x, 0)


def convolutions(layers: Sequence[Layer], inputs: tuple[int, ...], x: jax.Array) -> jax.Array:
    """What rectified convolutions make of features, with zeros beyond the edge; to be compiled.

    Args:
        layers: The convolutions, none for features without places.
        inputs: The shape of the features: planes, rows and columns.
        x: ``[n, n_features]``.

    Returns:
        ``[n, rows * columns * filters]``, or ``x`` itself if there is none.
    """
    if not layers:
        return x
    x = x.reshape(-1, *inputs).transpose(0, 2, 3, 1)
    for weight, bias in layers:
        x = rectified(_neighbourhoods(x) @ weight.reshape(-1, len(bias)) + bias)
    return x.reshape(len(x), -1)


def _neighbourhoods(x: jax.Array) -> jax.Array:
    """What each filter sees at each place, ``[n, rows, columns, 9 planes]``, of ``[n, rows, columns, planes]``.

    On processors a product of matrices is far faster than the convolution of JAX, and its gradient even more so.
    """
    import jax.numpy as jnp

    _, rows, columns, _ = x.shape
    padded = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    places = product(range(SIDE), repeat=2)
    return jnp.concatenate([padded[:, i : i + rows, j : j + columns] for i, j in places], axis=-1)

"""Networks in JAX (extra ``learn``): layers, Q-networks, and the pretrained Q-networks of the package.

All weights of a network are stored in one float32 vector, layer by layer, with the biases of a layer after its weights.
Initial weights are uniform between plus and minus ``sqrt(6 / (n_in + n_out))``, where ``n_in`` and ``n_out`` are the
fan-in and fan-out of the layer (Glorot and Bengio, 2010). Initial biases are zero. The shape of a dense layer is
(inputs, outputs). The shape of a convolution is (side, side, input planes, output planes).

A Q-network maps the features of a state to a value for each action. If the network has filters, features of shape
planes x rows x columns first pass through convolutions with 3 x 3 filters and zero padding. Dense hidden layers and a
linear output layer follow. All layers except the last apply ``max(0, x)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from punish_fast.games.contract import Game
from punish_fast.games.registry import vector_game
from punish_fast.runtime.errors import require
from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.runtime.lazy_modules import jax, jnp, optax

# Number of rows and columns of a filter.
_SIDE = 3
# Batches are padded to `_LEAST_STATES` times a power of `_GROWTH` to limit the number of compiled batch sizes.
_GROWTH = 4
_LEAST_STATES = 64
# Folder of the pretrained networks.
FOLDER = Path(__file__).parent

# Shape of a layer, and weights and biases of a layer.
LayerShape = tuple[int, ...]
Layer = tuple["jax.Array", "jax.Array"]


class Architecture(NamedTuple):
    """Shape of a Q-network."""

    inputs: tuple[int, ...]  # shape of a state's features
    filters: tuple[int, ...]  # number of filters per convolution
    hidden: tuple[int, ...]  # number of units per hidden layer
    n_moves: int  # number of actions for players

    @property
    def shapes(self) -> list[LayerShape]:
        """Shape of each layer."""
        convolved, n_in = convolution_shapes(self.inputs, self.filters)
        return [*convolved, *pairwise((n_in, *self.hidden, self.n_moves))]


def convolution_shapes(inputs: tuple[int, ...], filters: tuple[int, ...]) -> tuple[list[LayerShape], int]:
    """Return the shapes of all convolutions and the number of inputs of the layer after them."""
    planes = (inputs[0], *filters)
    return [(_SIDE, _SIDE, *each) for each in pairwise(planes)], planes[-1] * math.prod(inputs[1:])


def n_weights_of(shapes: Sequence[LayerShape]) -> int:
    """Return the total number of weights and biases in layers of the given shapes."""
    return sum(math.prod(shape) + shape[-1] for shape in shapes)


def random_weights(shapes: Sequence[LayerShape], generator: np.random.Generator) -> np.ndarray:
    """Return random initial weights and zero biases, float32 ``[n_weights]``."""
    parts = []
    for shape in shapes:
        limit = math.sqrt(6 / (math.prod(shape[:-2]) * (shape[-2] + shape[-1])))
        parts += [generator.uniform(-limit, limit, math.prod(shape)), np.zeros(shape[-1])]
    return np.concatenate(parts).astype(np.float32)


def split_layers(shapes: Sequence[LayerShape], weights: jax.Array) -> list[Layer]:
    """Split a vector of weights into layers. Call this function only in compiled functions."""
    lengths = [length for shape in shapes for length in (math.prod(shape), shape[-1])]
    # Split the vector, because the gradient of splitting is a single concatenation, unlike the gradient of slicing.
    parts = jnp.split(weights, np.cumsum(lengths)[:-1].tolist())
    return [(weight.reshape(shape), bias) for shape, weight, bias in zip(shapes, parts[::2], parts[1::2], strict=True)]


def dense(layer: Layer, x: jax.Array) -> jax.Array:
    """Apply a dense layer to inputs ``[n, n_in]``, and return ``[n, n_out]``."""
    weight, bias = layer
    return x @ weight + bias


def rectified(x: jax.Array) -> jax.Array:
    """Return ``max(0, x)``."""
    return jnp.maximum(x, 0)


def convolutions(layers: Sequence[Layer], inputs: tuple[int, ...], x: jax.Array) -> jax.Array:
    """Apply convolutions and ``max(0, x)`` to features of shape ``inputs``. Return ``[n, rows * columns * filters]``.

    If there are no layers, return ``x``.
    """
    if not layers:
        return x
    x = x.reshape(-1, *inputs).transpose(0, 2, 3, 1)
    for weight, bias in layers:
        x = rectified(_neighborhoods(x) @ weight.reshape(-1, len(bias)) + bias)
    return x.reshape(len(x), -1)


def _neighborhoods(x: jax.Array) -> jax.Array:
    """Return the 3 x 3 neighborhood of each square.

    ``x`` has shape ``[n, rows, columns, planes]``, and the result has shape ``[n, rows, columns, 9 * planes]``.
    """
    # On CPUs, the product of neighborhoods and filters and its gradient are far faster than JAX's convolution.
    _, rows, columns, _ = x.shape
    padded = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    places = product(range(_SIDE), repeat=2)
    return jnp.concatenate([padded[:, i : i + rows, j : j + columns] for i, j in places], axis=-1)


def action_values(architecture: Architecture, weights: jax.Array, x: jax.Array) -> jax.Array:
    """Return action values, float32 ``[n, n_moves]``, for features ``[n, n_features]``.

    Call this function only in compiled functions.
    """
    layers, n_filters = split_layers(architecture.shapes, weights), len(architecture.filters)
    x = convolutions(layers[:n_filters], architecture.inputs, x)
    for layer in layers[n_filters:-1]:
        x = rectified(dense(layer, x))
    return dense(layers[-1], x)


@lru_cache(maxsize=16)
def _compiled(architecture: Architecture) -> Callable[..., Any]:
    return jax.jit(lambda weights, x: action_values(architecture, weights, x))


def evaluate(architecture: Architecture, weights: Any, features: np.ndarray) -> np.ndarray:
    """Return action values, float32 ``[n, n_moves]``, for features ``[n, n_features]`` and the weights of a network."""
    with on_processor():
        return call_padded(_compiled(architecture), weights, features, _LEAST_STATES)


def call_padded(function: Callable[..., Any], weights: Any, features: np.ndarray, least: int) -> np.ndarray:
    """Call a compiled function with features zero-padded to a batch of ``least`` times a power of `_GROWTH` states.

    Return the function's results without the padding.
    """
    n, n_states = len(features), least
    while n_states < n:
        n_states *= _GROWTH
    padded = np.zeros((n_states, features.shape[1]), dtype=np.float32)
    padded[:n] = features
    return np.asarray(function(weights, padded))[:n]


def compiled_steps(
    loss: Callable[..., Any], optimizer: Any, rate: Callable[[Any], Any] | None = None
) -> Callable[..., Sequence[Any]]:
    """Return a compiled function that takes optimizer steps.

    Args:
        loss: Loss as a function of the weights, a batch and optional further arguments.
        optimizer: Optax optimizer, whose first transformation must be Adam's (``scale_by_adam``).
        rate: Function that returns the factor by which updates are multiplied, given the number of previous steps.
            The default factor is 1.

    Returns:
        A function of weights, momentum, variance, the number of previous steps, batches (one for each step) and the
        further arguments of the loss. The function returns the new weights, momentum and variance.
    """

    def steps(weights: Any, momentum: Any, variance: Any, count: Any, batches: Any, *others: Any) -> Any:
        first, *rest = optimizer.init(weights)

        def step(state: Any, batch: Any) -> tuple[Any, None]:
            weights, moments = state
            updates, later = optimizer.update(jax.grad(loss)(weights, batch, *others), moments, weights)
            if rate is not None:
                updates *= rate(moments[0].count)
            return (optax.apply_updates(weights, updates), later), None

        moments = (first._replace(count=count, mu=momentum, nu=variance), *rest)
        (weights, moments), _ = jax.lax.scan(step, (weights, moments), batches)
        return weights, moments[0].mu, moments[0].nu

    return cast(Callable[..., Sequence[Any]], jax.jit(steps))


@contextmanager
def on_processor() -> Iterator[None]:
    """Run JAX on the CPU in a ``with`` block.

    On the CPU, small networks are fastest and results are bitwise reproducible. Interrupts can crash JAX, so they are
    delayed until the end of the block.
    """
    require("jax", "optax")
    with uninterrupted(), jax.default_device(jax.devices("cpu")[0]):
        yield


class PretrainedNetwork(NamedTuple):
    """Pretrained Q-network for a game."""

    architecture: Architecture
    weights: np.ndarray  # float32 [n_weights]


def pretrained_network(game: Game) -> PretrainedNetwork | None:
    """Return the pretrained network for a game, or None if the package does not contain one."""
    path = file_of(game)
    if not path.exists():
        return None
    with np.load(path) as file:
        filters, hidden = (tuple(file[name].tolist()) for name in ("filters", "hidden"))
        weights = file["weights"].astype(np.float32)
    vector = vector_game(game)
    return PretrainedNetwork(Architecture(tuple(vector.feature_shape), filters, hidden, vector.n_moves), weights)


def file_of(game: Game) -> Path:
    """Return the path of the pretrained network for a game. The file might not exist."""
    return FOLDER / f"{game.name}_network.npz"

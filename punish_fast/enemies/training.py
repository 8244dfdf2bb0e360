"""Training networks on a strategy table, with JAX and Optax (extra ``learn``).

Given states with encodings ``x_i`` and the probabilities ``t_i`` of a table, gradient descent in batches lessens the
mean over a batch of

    mean squared error    1/11 sum_a (y_a - t_a)^2          or          cross-entropy    - sum_a t_a log y_a

where ``y`` is the network's output with dropout: after a hidden layer with rate ``r``, every unit is silenced with
probability ``r`` and the others are multiplied by ``1 / (1 - r)``, anew for every sample (Srivastava et al., 2014).
Losses are measured with dropout off. Weights start uniform within ``sqrt(6 / (n_in + n_out))`` of zero and biases at
zero (Glorot and Bengio, 2010); the optimisers are Adam (Kingma and Ba, 2015) and plain gradient descent.

With networks this small, one sample a step and hundreds of thousands of steps, all that counts is the time between
two operations. So an epoch is one compiled loop, and all weights are one vector, which an optimiser updates at once.
Everything random (weights, order, dropout) follows from the seed by counters, so the same seed gives the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from punish_fast.enemies.pawnn import Network, NetworkError, encode, forward, n_inputs, network_of
from punish_fast.enemies.training_options import OPTIMISERS, PRESETS, Method, check_method
from punish_fast.punish.codes import ACTIONS
from punish_fast.punish.decimal_codes import digits_of
from punish_fast.punish.rules import Rules
from punish_fast.punish.space import StateSpace
from punish_fast.punish.strategy import StrategyTable
from punish_fast.runtime.extras import require

if TYPE_CHECKING:
    import jax
    import optax

_LEAST_OUTPUT = 1e-7  # what a logarithm is taken of at least, where there is no softmax

OnEpoch = Callable[[int, int], None]


@dataclass(frozen=True)
class Examples:
    """States and what to play there.

    Attributes:
        digits: uint8 ``[k, 18]``, digits of the states.
        p: float64 ``[k, 11]``, action probabilities.
    """

    digits: np.ndarray
    p: np.ndarray

    def __len__(self) -> int:
        return len(self.p)

    def part(self, which: np.ndarray) -> Examples:
        """Some of the examples, chosen by an index or a mask."""
        return Examples(self.digits[which], self.p[which])


@dataclass(frozen=True)
class Trained:
    """A trained network and how it went.

    Attributes:
        network: The network.
        train: Losses over the examples after each epoch, ``[epochs, 2]``: what was trained for, and mean squared error.
        test: The same over the examples held out; empty if there are none.
    """

    network: Network
    train: np.ndarray
    test: np.ndarray


def examples_of(space: StateSpace, table: StrategyTable) -> Examples:
    """The states that a table covers, as examples.

    Raises:
        NetworkError: it covers none.
        StateError: the rules have counts above 9, for which there are no digits.
    """
    if table.is_naive:
        raise NetworkError("table: covers no state, so there is nothing to train on")
    return Examples(digits_of(space, table.state), table.p)


def train(
    rules: Rules,
    examples: Examples,
    method: Method = PRESETS["final"],
    held_out: Examples | None = None,
    on_epoch: OnEpoch | None = None,
) -> Trained:
    """Train a network.

    Args:
        rules: The rules of the game.
        examples: What to train on, at least one.
        method: How to.
        held_out: Examples to measure losses on too.
        on_epoch: Called with the number of epochs done and in all, after each.

    Raises:
        NetworkError: an option is out of range, there are no examples, or training diverged.
        ExtraError: JAX or Optax is not installed.
    """
    require("learn", "jax", "optax")
    import jax
    import jax.numpy as jnp

    check_method(method)
    sizes = (n_inputs(rules, method.encoding), *method.hidden, len(ACTIONS))
    if len(examples) == 0:
        raise NetworkError("examples: there are none, so there is nothing to train on")
    with jax.default_device(jax.devices("cpu")[0]):
        key, first = jax.random.split(jax.random.key(method.seed))
        weights = jax.jit(_first_weights, static_argnums=1)(first, sizes)
        state = (weights, _optimiser(method).init(weights))
        sets = [_arrays(rules, method, part) for part in (examples, held_out) if part is not None and len(part)]
        losses = []
        for epoch in range(method.epochs):
            state = _epoch(replace(method, epochs=0, seed=0), sizes)(state, jax.random.fold_in(key, epoch), *sets[0])
            losses.append(jnp.stack([_measure(method, sizes)(state[0], *part) for part in sets]))
            if on_epoch is not None:
                losses[-1].block_until_ready()
                on_epoch(epoch + 1, method.epochs)
        curves = np.array(losses, dtype=np.float64).transpose(1, 0, 2)
        layers = [(np.array(w), np.array(b)) for w, b in _layers(state[0], sizes)]
    if not all(np.isfinite(w).all() and np.isfinite(b).all() for w, b in layers):
        raise NetworkError("training: diverged, try a lower rate")
    network = network_of(rules, layers, method.encoding, method.softmax)
    return Trained(network, curves[0], curves[1] if len(sets) > 1 else np.zeros((0, 2)))


def _arrays(rules: Rules, method: Method, examples: Examples) -> tuple[jax.Array, jax.Array]:
    import jax.numpy as jnp

    x = encode(rules, examples.digits, method.encoding)
    return jnp.asarray(x), jnp.asarray(examples.p, dtype=jnp.float32)


def _optimiser(method: Method) -> optax.GradientTransformation:
    import optax

    make = {"adam": optax.adam, "descent": optax.sgd}[method.optimiser]
    return make(OPTIMISERS[method.optimiser] if method.rate is None else method.rate)


def _first_weights(key: jax.Array, sizes: tuple[int, ...]) -> jax.Array:
    """All weights and biases as one vector: of each layer the weights, then the biases."""
    import jax
    import jax.numpy as jnp

    parts = []
    for n_in, n_out in pairwise(sizes):
        key, layer = jax.random.split(key)
        limit = math.sqrt(6 / (n_in + n_out))
        parts += [jax.random.uniform(layer, (n_in * n_out,), minval=-limit, maxval=limit), jnp.zeros(n_out)]
    return jnp.concatenate(parts)


def _layers(vector: jax.Array, sizes: tuple[int, ...]) -> list[tuple[jax.Array, jax.Array]]:
    import jax.numpy as jnp

    # Splitting, unlike slicing, has a cheap gradient: one concatenation.
    lengths = [n for n_in, n_out in pairwise(sizes) for n in (n_in * n_out, n_out)]
    parts = jnp.split(vector, np.cumsum(lengths)[:-1].tolist())
    return [(w.reshape(n_in, -1), b) for n_in, w, b in zip(sizes[:-1], parts[::2], parts[1::2], strict=True)]


def _losses(method: Method, z: jax.Array, target: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The loss trained for and the mean squared error, of each sample."""
    import jax
    import jax.numpy as jnp

    y = jax.nn.softmax(z) if method.softmax else z
    squared = jnp.mean((y - target) ** 2, axis=-1)
    if method.loss == "mse":
        return squared, squared
    log = jax.nn.log_softmax(z) if method.softmax else jnp.log(jnp.maximum(z, _LEAST_OUTPUT))
    return -jnp.sum(target * log, axis=-1), squared


@lru_cache(maxsize=64)
def _measure(method: Method, sizes: tuple[int, ...]) -> Callable[..., jax.Array]:
    import jax
    import jax.numpy as jnp

    def measure(vector: jax.Array, x: jax.Array, target: jax.Array) -> jax.Array:
        z = forward(jnp, _layers(vector, sizes), x)
        return jnp.stack([part.mean() for part in _losses(method, z, target)])

    return jax.jit(measure)


@lru_cache(maxsize=64)
def _epoch(method: Method, sizes: tuple[int, ...]) -> Callable[..., Any]:
    """The compiled epoch: weights and optimiser's state, a key, inputs and targets to weights and state."""
    import jax
    import jax.numpy as jnp
    import optax

    optimiser = _optimiser(method)

    def loss(vector: jax.Array, x: jax.Array, target: jax.Array, kept: list[jax.Array], weight: jax.Array) -> jax.Array:
        z = forward(jnp, _layers(vector, sizes), x, kept)
        return jnp.sum(weight * _losses(method, z, target)[0]) / jnp.sum(weight)

    def step(state: Any, samples: Any) -> tuple[Any, None]:
        vector, memory = state
        updates, memory = optimiser.update(jax.grad(loss)(vector, *samples), memory, vector)
        return (optax.apply_updates(vector, updates), memory), None

    def epoch(state: Any, key: jax.Array, x: jax.Array, target: jax.Array) -> Any:
        order_key, kept_key = jax.random.split(key)
        order, weight = _batches(order_key, len(x), method.batch)
        kept = _kept(kept_key, method, sizes, order.shape)
        return jax.lax.scan(step, state, (x[order], target[order], kept, weight))[0]

    return jax.jit(epoch)


def _batches(key: jax.Array, n: int, batch: int) -> tuple[jax.Array, jax.Array]:
    """A random order in batches; the last one is filled up with samples of weight 0."""
    import jax
    import jax.numpy as jnp

    n_batches = -(-n // batch)
    order = jnp.zeros(n_batches * batch, dtype=jnp.int32).at[:n].set(jax.random.permutation(key, n))
    weight = (jnp.arange(n_batches * batch) < n).astype(jnp.float32)
    return order.reshape(n_batches, batch), weight.reshape(n_batches, batch)


def _kept(key: jax.Array, method: Method, sizes: tuple[int, ...], shape: tuple[int, ...]) -> list[jax.Array]:
    """The factors of dropout for every sample of an epoch."""
    import jax
    import jax.numpy as jnp

    factors = []
    for layer, rate in enumerate(method.dropout, 1):
        kept = jax.random.bernoulli(jax.random.fold_in(key, layer), 1 - rate, (*shape, sizes[layer]))
        factors.append(kept.astype(jnp.float32) / (1 - rate))
    return factors

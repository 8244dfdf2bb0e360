"""Training of networks on a strategy table, with JAX and Optax (extra ``learn``).

Given states with encodings ``x_i`` and action probabilities ``t_i``, the optimizer minimizes the mean over a batch of

    mean squared error    1/11 sum_a (y_a - t_a)^2          or          cross-entropy    - sum_a t_a log y_a

where ``y`` is the network's output with dropout: in a hidden layer with dropout rate ``r``, each unit is set to zero
with probability ``r`` and otherwise multiplied by ``1 / (1 - r)``, independently for each example (Srivastava et al.,
2014). Reported losses are computed without dropout. Initial weights are uniform between
``-sqrt(6 / (n_in + n_out))`` and ``sqrt(6 / (n_in + n_out))``, and initial biases are zero (Glorot and Bengio, 2010).
The optimizers are Adam (Kingma and Ba, 2015) and plain gradient descent.

With networks this small and one example per step, the overhead of each operation dominates. Each epoch is therefore one
compiled loop, and all weights and biases form one vector, updated in one operation. Random numbers
(weights, order, dropout) are counter-based, so equal random seeds produce bitwise equal results.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np

from punish_fast.enemies.counts import folds_of
from punish_fast.enemies.pawnn import ENCODINGS, Network, NetworkError, encode, forward, n_inputs, network_of
from punish_fast.punish.codes import ACTIONS, digits_of
from punish_fast.punish.rules import Rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import table_of_policy
from punish_fast.runtime.errors import check_allowed, require
from punish_fast.runtime.lazy_modules import jax, jnp, optax

LOSSES = ("mse", "cross-entropy")
OPTIMIZERS = {"adam": 0.001, "descent": 0.1}  # optimizers and their default learning rates


@dataclass(frozen=True)
class TrainingOptions:
    """Training options. The defaults are the options of the published final model."""

    hidden: tuple[int, ...] = (36, 24, 16)  # number of units in each hidden layer
    dropout: tuple[float, ...] = (0.5,)  # dropout rates after the first hidden layers; other layers have no dropout
    encoding: str = "raw"  # encoding of the states, see `Network`
    softmax: bool = True  # True if the network ends with a softmax
    loss: str = "mse"  # ``"mse"`` or ``"cross-entropy"``
    optimizer: str = "adam"  # ``"adam"`` or ``"descent"`` (plain gradient descent)
    rate: float | None = None  # learning rate, by default 0.001 for adam and 0.1 for descent
    epochs: int = 100  # number of passes over the examples
    batch: int = 1  # number of examples per step
    seed: int = 0  # random seed of weights, order and dropout

    def __post_init__(self) -> None:
        """Check every option."""
        if not self.hidden or min(self.hidden) < 1:
            raise NetworkError(f"hidden: {self.hidden} is not allowed; there must be layers of at least one unit")
        if len(self.dropout) > len(self.hidden) or not all(0 <= rate < 1 for rate in self.dropout):
            raise NetworkError(
                f"dropout: {self.dropout} is not allowed; each hidden layer can have a rate from 0 to below 1"
            )
        for field, allowed in (("loss", LOSSES), ("optimizer", tuple(OPTIMIZERS)), ("encoding", ENCODINGS)):
            if getattr(self, field) not in allowed:
                raise NetworkError(f"{field}: {getattr(self, field)!r} is unknown; use {' or '.join(allowed)}")
        check_allowed(self.rate is None or 0 < self.rate < math.inf, NetworkError, "rate", self.rate, "above 0")
        for field in ("epochs", "batch"):
            check_allowed(getattr(self, field) >= 1, NetworkError, field, getattr(self, field), "at least 1")
        check_allowed(0 <= self.seed < 2**32, NetworkError, "seed", self.seed, f"from 0 to {2**32 - 1}")


_INITIAL = TrainingOptions(hidden=(36,), dropout=(), loss="cross-entropy")
_DEEP = TrainingOptions(dropout=())
# The published experiments. Only the final model is documented in full. Most other models are known only by name. Each
# of these is defined here as the variation of another model that its name suggests.
PRESETS: dict[str, TrainingOptions] = {
    "final": TrainingOptions(),
    "initial": _INITIAL,
    "more-hidden": replace(_DEEP, loss="cross-entropy"),
    "gradient-descent": replace(_INITIAL, optimizer="descent"),
    "mse": replace(_INITIAL, optimizer="descent", loss="mse"),
    "mse-more-hidden": replace(_DEEP, optimizer="descent"),
    "mse-adam": _DEEP,
    "no-softmax": replace(_DEEP, softmax=False),
    "dropouts": TrainingOptions(dropout=(0.5, 0.5, 0.5)),
    "scaled": TrainingOptions(encoding="scaled"),
    "one-hot": TrainingOptions(encoding="one-hot"),
    "longer": TrainingOptions(epochs=500),
}


_LEAST_OUTPUT = 1e-7  # lower bound of outputs before logarithms are taken, if the network has no softmax

OnEpoch = Callable[[int, int], None]


@dataclass(frozen=True)
class Examples:
    """Training examples: states and their action probabilities."""

    digits: np.ndarray  # uint8 ``[k, 18]``, digits of the states
    p: np.ndarray  # float64 ``[k, 11]``, action probabilities

    def __len__(self) -> int:
        return len(self.p)

    def part(self, which: np.ndarray) -> Examples:
        """Return the examples selected by an index array or a mask."""
        return Examples(self.digits[which], self.p[which])


@dataclass(frozen=True)
class Trained:
    """A trained network and its losses."""

    network: Network
    # float64 ``[epochs, 2]``, the loss and the mean squared error on the training examples after each epoch
    train: np.ndarray
    test: np.ndarray  # float64 ``[epochs, 2]``, the same losses on the held-out examples, ``[0, 2]`` if there are none


def examples_of(space: StateSpace, policy: np.ndarray, state: np.ndarray) -> Examples:
    """Return the action probabilities of a policy in some states, as examples.

    Args:
        space: The states of the game.
        policy: float64 ``[n_rows]``.
        state: int ``[k]``, indices of the states, at least one.
    """
    if len(state) == 0:
        raise NetworkError("strategy: covers 0 states; at least 1 is needed to train on")
    return Examples(digits_of(space, state), table_of_policy(space, policy, state))


def train(
    rules: Rules,
    examples: Examples,
    options: TrainingOptions = PRESETS["final"],
    held_out: Examples | None = None,
    on_epoch: OnEpoch | None = None,
) -> Trained:
    """Train a network.

    Args:
        rules: The rules of the game.
        examples: Training examples, at least one.
        options: Training options.
        held_out: Further examples on which losses are measured.
        on_epoch: Called after each epoch with the number of epochs done and the total.
    """
    require("jax", "optax")
    sizes = (n_inputs(rules, options.encoding), *options.hidden, len(ACTIONS))
    with jax.default_device(jax.devices("cpu")[0]):
        key, first = jax.random.split(jax.random.key(options.seed))
        weights = jax.jit(_first_weights, static_argnums=1)(first, sizes)
        state = (weights, _optimizer(options).init(weights))
        sets = [_arrays(rules, options, part) for part in (examples, held_out) if part is not None and len(part)]
        losses = []
        for epoch in range(options.epochs):
            state = _epoch(replace(options, epochs=1, seed=0), sizes)(state, jax.random.fold_in(key, epoch), *sets[0])
            losses.append(jnp.stack([_measure(options, sizes)(state[0], *part) for part in sets]))
            if on_epoch is not None:
                losses[-1].block_until_ready()
                on_epoch(epoch + 1, options.epochs)
        curves = np.array(losses, dtype=np.float64).transpose(1, 0, 2)
        layers = [(np.array(w), np.array(b)) for w, b in _layers(state[0], sizes)]
    if not all(np.isfinite(w).all() and np.isfinite(b).all() for w, b in layers):
        raise NetworkError("training: diverged; try a lower learning rate")
    network = network_of(rules, layers, options.encoding, options.softmax)
    return Trained(network, curves[0], curves[1] if len(sets) > 1 else np.zeros((0, 2)))


def cross_validate(
    rules: Rules, examples: Examples, options: TrainingOptions, n_folds: int = 5, on_epoch: OnEpoch | None = None
) -> list[Trained]:
    """For each fold of the examples, train a network on all other folds and test it on this fold.

    Args:
        rules: The rules of the game.
        examples: States and their action probabilities.
        options: Training options. Their random seed also determines the folds.
        n_folds: Number of folds.
        on_epoch: Called after each epoch with the number of epochs done and the total number, both over all folds.
    """
    fold = folds_of(np.arange(len(examples)), n_folds, options.seed, "states")

    def count(number: int, done: int, _of_fold: int) -> None:
        if on_epoch is not None:
            on_epoch(number * options.epochs + done, n_folds * options.epochs)

    return [
        train(rules, examples.part(fold != number), options, examples.part(fold == number), partial(count, number))
        for number in range(n_folds)
    ]


def _arrays(rules: Rules, options: TrainingOptions, examples: Examples) -> tuple[jax.Array, jax.Array]:
    x = encode(rules, examples.digits, options.encoding)
    return jnp.asarray(x), jnp.asarray(examples.p, dtype=jnp.float32)


def _optimizer(options: TrainingOptions) -> optax.GradientTransformation:
    make = {"adam": optax.adam, "descent": optax.sgd}[options.optimizer]
    return make(OPTIMIZERS[options.optimizer] if options.rate is None else options.rate)


def _first_weights(key: jax.Array, sizes: tuple[int, ...]) -> jax.Array:
    """Return the initial weights and biases in one vector: for each layer, the weights and then the biases."""
    parts = []
    for n_in, n_out in pairwise(sizes):
        key, layer = jax.random.split(key)
        limit = math.sqrt(6 / (n_in + n_out))
        parts += [jax.random.uniform(layer, (n_in * n_out,), minval=-limit, maxval=limit), jnp.zeros(n_out)]
    return jnp.concatenate(parts)


def _layers(vector: jax.Array, sizes: tuple[int, ...]) -> list[tuple[jax.Array, jax.Array]]:
    # Split the vector, because the gradient of splitting is a single concatenation, unlike the gradient of slicing.
    lengths = [n for n_in, n_out in pairwise(sizes) for n in (n_in * n_out, n_out)]
    parts = jnp.split(vector, np.cumsum(lengths)[:-1].tolist())
    return [(w.reshape(n_in, -1), b) for n_in, w, b in zip(sizes[:-1], parts[::2], parts[1::2], strict=True)]


def _losses(options: TrainingOptions, z: jax.Array, target: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the loss and the mean squared error of each example."""
    y = jax.nn.softmax(z) if options.softmax else z
    squared = jnp.mean((y - target) ** 2, axis=-1)
    if options.loss == "mse":
        return squared, squared
    log = jax.nn.log_softmax(z) if options.softmax else jnp.log(jnp.maximum(z, _LEAST_OUTPUT))
    return -jnp.sum(target * log, axis=-1), squared


@lru_cache(maxsize=64)
def _measure(options: TrainingOptions, sizes: tuple[int, ...]) -> Callable[..., jax.Array]:
    def measure(vector: jax.Array, x: jax.Array, target: jax.Array) -> jax.Array:
        z = forward(jnp, _layers(vector, sizes), x)
        return jnp.stack([part.mean() for part in _losses(options, z, target)])

    return jax.jit(measure)


@lru_cache(maxsize=64)
def _epoch(options: TrainingOptions, sizes: tuple[int, ...]) -> Callable[..., Any]:
    """Return the compiled function that trains for one epoch.

    The function maps a state (weights and optimizer state), a random key, inputs and targets to the state after the
    epoch.
    """
    optimizer = _optimizer(options)

    def loss(vector: jax.Array, x: jax.Array, target: jax.Array, kept: list[jax.Array], weight: jax.Array) -> jax.Array:
        z = forward(jnp, _layers(vector, sizes), x, kept)
        return jnp.sum(weight * _losses(options, z, target)[0]) / jnp.sum(weight)

    def step(state: Any, samples: Any) -> tuple[Any, None]:
        vector, memory = state
        updates, memory = optimizer.update(jax.grad(loss)(vector, *samples), memory, vector)
        return (optax.apply_updates(vector, updates), memory), None

    def epoch(state: Any, key: jax.Array, x: jax.Array, target: jax.Array) -> Any:
        order_key, kept_key = jax.random.split(key)
        order, weight = _batches(order_key, len(x), options.batch)
        kept = _kept(kept_key, options, sizes, order.shape)
        return jax.lax.scan(step, state, (x[order], target[order], kept, weight))[0]

    return jax.jit(epoch)


def _batches(key: jax.Array, n: int, batch: int) -> tuple[jax.Array, jax.Array]:
    """Return example indices in random order and example weights, both split into batches, ``[n_batches, batch]``.

    The last batch is padded with examples of weight 0. All other weights are 1.
    """
    n_batches = -(-n // batch)
    order = jnp.zeros(n_batches * batch, dtype=jnp.int32).at[:n].set(jax.random.permutation(key, n))
    weight = (jnp.arange(n_batches * batch) < n).astype(jnp.float32)
    return order.reshape(n_batches, batch), weight.reshape(n_batches, batch)


def _kept(key: jax.Array, options: TrainingOptions, sizes: tuple[int, ...], shape: tuple[int, ...]) -> list[jax.Array]:
    """Return the dropout factors of each hidden layer with dropout, for all examples of an epoch."""
    factors = []
    for layer, rate in enumerate(options.dropout, 1):
        kept = jax.random.bernoulli(jax.random.fold_in(key, layer), 1 - rate, (*shape, sizes[layer]))
        factors.append(kept.astype(jnp.float32) / (1 - rate))
    return factors

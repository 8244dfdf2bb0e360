"""Networks of MuZero in JAX (extra ``learn``): representation, dynamics and prediction.

The *representation* maps the features of a state to a hidden state of ``width`` numbers. The *dynamics* maps a hidden
state and an action to the next hidden state and a reward. The *prediction* maps a hidden state to a policy and a value
(J. Schrittwieser et al., "Mastering Atari, Go, chess and shogi by planning with a learned model", Nature 588, 2020).
Rewards and values are from the perspective of the player to move, so both players use the same networks.

Rewards and values are in [-1, 1]. Each reward or value is the mean of a distribution over -1, 0 and 1, represented by
three logits. This categorical form, used in the paper, learns rare wins far faster than scalar outputs. A separate head
of the dynamics predicts the rewards of all actions. Hidden states are scaled to [0, 1], the range of the one-hot
actions. The dynamics has a residual connection, so it predicts the change of the hidden state. Only the representation
has convolutions, because a search evaluates it only once. The dynamics is evaluated in every simulation and has only
dense layers.

In training, the dynamics unrolls the actions that were played. At each step the loss is the sum of the cross-entropies
of policy, value and reward, whose targets are computed from the searches and the results of games. As in the paper, the
gradient is halved at each step of the dynamics, and the losses of policy and value after the first step are divided by
the number of unrolled actions. Each reward has weight 1. In board games almost all rewards are 0, and a search with a
model that misses wins does not result in useful targets. Weights are updated by AdamW (I. Loshchilov and F. Hutter,
"Decoupled weight decay regularization", ICLR 2019). The learning rate after ``n`` steps is the initial rate divided by
``sqrt(1 + n / 10,000)``, a schedule that does not depend on the length of training.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from punish_fast.games.learn.networks import (
    Layer,
    LayerShape,
    compiled_steps,
    convolution_shapes,
    convolutions,
    dense,
    rectified,
    split_layers,
)
from punish_fast.runtime.lazy_modules import jax, jnp, optax

_EPSILON = 1e-5
# Numbers of layers after the convolutions: two in the representation, four in the dynamics (two for the next hidden
# state, two for rewards), and three in the prediction (the last two are policy and value).
_N_LAYERS = (2, 4, 3)
# Number of outcomes (-1, 0 and 1) of a reward or value.
_N_KINDS = 3
# Factor of the gradient at each step of the dynamics.
_PASSED = 0.5
# Number of steps after which the learning rate is 1 / sqrt(2) of its initial value.
_FALL = 10_000


class ModelShape(NamedTuple):
    """Shape of the three networks."""

    inputs: tuple[int, ...]  # shape of a state's features
    filters: tuple[int, ...]  # number of filters per convolution
    width: int  # size of a hidden state (hidden layers have ``2 * width`` units)
    n_moves: int  # number of actions for players

    @property
    def shapes(self) -> list[LayerShape]:
        """Shape of each layer."""
        convolved, n_in = convolution_shapes(self.inputs, self.filters)
        width, units, n_moves = self.width, 2 * self.width, self.n_moves
        representation = [(n_in, units), (units, width)]
        dynamics = [(width + n_moves, units), (units, width), (width, units), (units, n_moves * _N_KINDS)]
        prediction = [(width, units), (units, n_moves), (units, _N_KINDS)]
        return [*convolved, *representation, *dynamics, *prediction]


class Networks(NamedTuple):
    """The three networks of MuZero. Call the methods only in compiled functions."""

    shape: ModelShape
    convolved: list[Layer]  # convolutions of the representation
    representation: list[Layer]  # dense layers of the representation
    dynamics: list[Layer]
    prediction: list[Layer]

    def represent(self, features: jax.Array) -> jax.Array:
        """Return hidden states, float32 ``[n, width]``, for features ``[n, n_features]``."""
        x = convolutions(self.convolved, self.shape.inputs, features)
        first, second = self.representation
        return _scaled(dense(second, rectified(dense(first, x))))

    def advance(self, hidden: jax.Array, action: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Apply actions, int32 ``[n]``, to hidden states, float32 ``[n, width]``.

        Return the next hidden states, float32 ``[n, width]``, and reward logits, float32 ``[n, 3]``.
        """
        taken = jax.nn.one_hot(action, self.shape.n_moves)
        first, change, reward, rewards = self.dynamics
        x = rectified(dense(first, jnp.concatenate([hidden, taken], axis=-1)))
        of_all = dense(rewards, rectified(dense(reward, hidden))).reshape(len(hidden), -1, _N_KINDS)
        return _scaled(hidden + dense(change, x)), (of_all * taken[..., jnp.newaxis]).sum(axis=1)

    def predict(self, hidden: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return policy logits, float32 ``[n, n_moves]``, and value logits, float32 ``[n, 3]``, of hidden states."""
        first, policy, value = self.prediction
        x = rectified(dense(first, hidden))
        return dense(policy, x), dense(value, x)


def mean_of(logits: jax.Array) -> jax.Array:
    """Return the rewards or values, float32 ``[n]``, represented by logits ``[n, 3]``."""
    probability = jax.nn.softmax(logits, axis=-1)
    return probability[..., 2] - probability[..., 0]


def kinds_of(number: jax.Array) -> jax.Array:
    """Return probabilities of -1, 0 and 1, float32 ``[..., 3]``, with mean ``number`` clipped to [-1, 1]."""
    # Clip, because sums of predicted rewards and values can be outside this range in a search.
    number = jnp.clip(number, -1, 1)
    return jnp.stack([jnp.maximum(-number, 0), 1 - jnp.abs(number), jnp.maximum(number, 0)], axis=-1)


def networks_of(shape: ModelShape, weights: jax.Array) -> Networks:
    """Return the networks with the given weights, float32 ``[n_weights]``."""
    layers, n_filters = split_layers(shape.shapes, weights), len(shape.filters)
    ends = np.cumsum([n_filters, *_N_LAYERS]).tolist()
    parts = [layers[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
    return Networks(shape, *parts)


def _scaled(hidden: jax.Array) -> jax.Array:
    low, high = hidden.min(axis=-1, keepdims=True), hidden.max(axis=-1, keepdims=True)
    return (hidden - low) / (high - low + _EPSILON)


def losses(shape: ModelShape, weights: jax.Array, batch: dict[str, jax.Array]) -> jax.Array:
    """Return the mean loss of a batch.

    The batch has the fields of `replay.Unrolled`, with ``features`` instead of ``state``.
    """
    networks, unrolled = networks_of(shape, weights), batch["action"].shape[1]
    hidden, loss = networks.represent(batch["features"]), jnp.zeros(len(batch["weight"]))
    for step in range(unrolled + 1):
        share = 1.0 if step == 0 else 1.0 / unrolled
        logits, value = networks.predict(hidden)
        loss += share * jnp.where(batch["has_policy"][:, step], _surprise(batch["policy"][:, step], logits), 0)
        # Values and rewards after the last action of a stopped game are unknown.
        is_known = batch["has_value"][:, step]
        loss += share * jnp.where(is_known, _surprise(kinds_of(batch["value"][:, step]), value), 0)
        if step < unrolled:
            hidden, reward = networks.advance(_with_half_gradient(hidden), batch["action"][:, step])
            loss += jnp.where(is_known, _surprise(kinds_of(batch["reward"][:, step]), reward), 0)
    return jnp.mean(batch["weight"] * loss)


def _surprise(probability: jax.Array, logits: jax.Array) -> jax.Array:
    """Return the cross-entropy, float32 ``[m]``, of probabilities ``[m, k]`` and logits ``[m, k]``."""
    return -(probability * jax.nn.log_softmax(logits, axis=-1)).sum(axis=-1)


def _with_half_gradient(hidden: jax.Array) -> jax.Array:
    """Return ``hidden`` with its gradient scaled by `_PASSED`."""
    return _PASSED * hidden + (1 - _PASSED) * jax.lax.stop_gradient(hidden)


@lru_cache(maxsize=16)
def muzero_steps(shape: ModelShape, rate: float, decay: float) -> Callable[..., Sequence[Any]]:
    """Return a compiled function that takes a round's optimizer steps.

    ``rate`` is the initial learning rate, and ``decay`` is the weight decay.
    """
    # AdamW has rate 1 here, because the updates are multiplied by a rate that depends on the number of steps.
    return compiled_steps(partial(losses, shape), optax.adamw(1.0, weight_decay=decay), partial(_rate_after, rate))


def _rate_after(rate: float, count: jax.Array) -> Any:
    return rate / (1 + count / _FALL) ** 0.5

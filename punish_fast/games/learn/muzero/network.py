"""The networks of MuZero, in JAX (extra ``learn``): representation, dynamics and prediction.

The *representation* turns the features of a state into a hidden state, ``width`` numbers; the *dynamics* turns a hidden
state and an action into the next one, and a reward; the *prediction* turns a hidden state into a policy and a value
(J. Schrittwieser et al., "Mastering Atari, Go, chess and shogi by planning with a learned model", Nature 588, 2020).
All numbers are those of the player to move, so that both players share the networks.

Rewards and values are between -1 and 1, and each is told by the logits of three probabilities, those of -1, 0 and 1;
the number is their mean. This is the categorical form of the paper, and learns rare wins far faster than a number does.
Rewards have a layer of their own, which tells those of all actions at once. Hidden states are scaled to the range from
0 to 1, so that actions and hidden states weigh alike. The dynamics adds what an action changes to the hidden state, as
in a residual network. Convolutions stand in the representation alone, which a search asks once; the dynamics, which it
asks in every simulation, is dense.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from punish_fast.games.learn.networks import (
    Layer,
    LayerShape,
    convolution_shapes,
    convolutions,
    dense,
    rectified,
    split_layers,
)

if TYPE_CHECKING:
    import jax

_EPSILON = 1e-5
# Layers after the convolutions: two of the representation, four of the dynamics (two for the next hidden state, two for
# rewards), and three of the prediction (the last two are policy and value).
_N_LAYERS = (2, 4, 3)
# What rewards and values are means of.
_N_KINDS = 3


class ModelShape(NamedTuple):
    """The shape of the networks."""

    inputs: tuple[int, ...]  # shape of the features of a state
    filters: tuple[int, ...]  # number of filters of each convolution
    width: int  # numbers of a hidden state; hidden layers have ``2 * width`` units
    n_moves: int  # number of actions of players

    @property
    def shapes(self) -> list[LayerShape]:
        """The shape of each layer."""
        convolved, n_in = convolution_shapes(self.inputs, self.filters)
        width, units, n_moves = self.width, 2 * self.width, self.n_moves
        representation = [(n_in, units), (units, width)]
        dynamics = [(width + n_moves, units), (units, width), (width, units), (units, n_moves * _N_KINDS)]
        prediction = [(width, units), (units, n_moves), (units, _N_KINDS)]
        return [*convolved, *representation, *dynamics, *prediction]


class Networks(NamedTuple):
    """The three networks; their functions are to be compiled."""

    shape: ModelShape
    convolved: list[Layer]  # convolutions
    representation: list[Layer]  # layers of the representation after them
    dynamics: list[Layer]  # layers of the dynamics
    prediction: list[Layer]  # layers of the prediction

    def represent(self, features: jax.Array) -> jax.Array:
        """Hidden states, float32 ``[n, width]``, of features ``[n, n_features]``."""
        x = convolutions(self.convolved, self.shape.inputs, features)
        first, second = self.representation
        return _scaled(dense(second, rectified(dense(first, x))))

    def advance(self, hidden: jax.Array, action: jax.Array) -> tuple[jax.Array, jax.Array]:
        """What follows actions, int32 ``[n]``.

        Returns:
            The next hidden states, float32 ``[n, width]``, and the logits of the rewards, float32 ``[n, 3]``.
        """
        import jax
        import jax.numpy as jnp

        taken = jax.nn.one_hot(action, self.shape.n_moves)
        first, change, reward, rewards = self.dynamics
        x = rectified(dense(first, jnp.concatenate([hidden, taken], axis=-1)))
        of_all = dense(rewards, rectified(dense(reward, hidden))).reshape(len(hidden), -1, _N_KINDS)
        return _scaled(hidden + dense(change, x)), (of_all * taken[..., jnp.newaxis]).sum(axis=1)

    def predict(self, hidden: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The logits of the policy, float32 ``[n, n_moves]``, and of the values, float32 ``[n, 3]``."""
        first, policy, value = self.prediction
        x = rectified(dense(first, hidden))
        return dense(policy, x), dense(value, x)


def mean_of(logits: jax.Array) -> jax.Array:
    """Rewards or values, float32 ``[n]``, of logits ``[n, 3]``; to be compiled."""
    import jax

    probability = jax.nn.softmax(logits, axis=-1)
    return probability[..., 2] - probability[..., 0]


def kinds_of(number: jax.Array) -> jax.Array:
    """Three probabilities, float32 ``[..., 3]``, with the mean of a number; to be compiled.

    Numbers beyond -1 and 1 count as these: a search adds rewards and values that its model is not sure of.
    """
    import jax.numpy as jnp

    number = jnp.clip(number, -1, 1)
    return jnp.stack([jnp.maximum(-number, 0), 1 - jnp.abs(number), jnp.maximum(number, 0)], axis=-1)


def networks_of(shape: ModelShape, weights: jax.Array) -> Networks:
    """The networks of a vector of weights, float32 ``[n_weights]``; to be compiled."""
    layers, n_filters = split_layers(shape.shapes, weights), len(shape.filters)
    ends = np.cumsum([n_filters, *_N_LAYERS]).tolist()
    parts = [layers[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
    return Networks(shape, *parts)


def _scaled(hidden: jax.Array) -> jax.Array:
    """Each hidden state in the range from 0 to 1."""
    low, high = hidden.min(axis=-1, keepdims=True), hidden.max(axis=-1, keepdims=True)
    return (hidden - low) / (high - low + _EPSILON)

"""Steps of the optimiser on what games teach.

From each state, the representation gives a hidden state, and the dynamics follows the actions that were taken. At each
step the prediction should say what the search found: the loss is the sum of the cross-entropies of policy, value and
reward. As in the paper, half of the gradient passes back through each step of the dynamics, and the policies and values
after the first share one weight among them. Rewards have a full weight each: in board games almost all are 0, and a
search in a model that misses wins finds nothing to learn from. Weights follow AdamW (I. Loshchilov and F. Hutter,
"Decoupled weight decay regularization", ICLR 2019), and the learning rate after ``n`` steps is that of the beginning
over ``sqrt(1 + n / 10,000)``: training has no end that is known beforehand.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from punish_fast.games.learn.muzero.network import ModelShape, kinds_of, networks_of
from punish_fast.games.learn.networks import compiled_steps

if TYPE_CHECKING:
    import jax

# How much of the gradient passes back through each step of the dynamics.
_PASSED = 0.5
# Steps after which the learning rate has fallen to its 1 / sqrt(2).
_FALL = 10_000


def losses(shape: ModelShape, weights: jax.Array, batch: dict[str, jax.Array]) -> jax.Array:
    """The mean loss of a batch; to be compiled.

    Args:
        shape: The shape of the networks.
        weights: float32 ``[n_weights]``.
        batch: The fields of `replay.Unrolled`, with ``features``, float32 ``[m, n_features]``, in place of ``state``.
    """
    import jax.numpy as jnp

    networks, unrolled = networks_of(shape, weights), batch["action"].shape[1]
    hidden, loss = networks.represent(batch["features"]), jnp.zeros(len(batch["weight"]))
    for step in range(unrolled + 1):
        share = 1.0 if step == 0 else 1.0 / unrolled
        logits, value = networks.predict(hidden)
        loss += share * jnp.where(batch["has_policy"][:, step], _surprise(batch["policy"][:, step], logits), 0)
        # A game that stopped has neither values nor rewards past that.
        is_known = batch["has_value"][:, step]
        loss += share * jnp.where(is_known, _surprise(kinds_of(batch["value"][:, step]), value), 0)
        if step < unrolled:
            hidden, reward = networks.advance(_with_half_gradient(hidden), batch["action"][:, step])
            loss += jnp.where(is_known, _surprise(kinds_of(batch["reward"][:, step]), reward), 0)
    return jnp.mean(batch["weight"] * loss)


def _surprise(probability: jax.Array, logits: jax.Array) -> jax.Array:
    """The cross-entropy, ``[m]``, of probabilities and logits ``[m, k]``."""
    import jax

    return -(probability * jax.nn.log_softmax(logits, axis=-1)).sum(axis=-1)


def _with_half_gradient(hidden: jax.Array) -> jax.Array:
    """Hidden states that pass back a part of their gradient."""
    import jax

    return _PASSED * hidden + (1 - _PASSED) * jax.lax.stop_gradient(hidden)


@lru_cache(maxsize=16)
def muzero_steps(shape: ModelShape, rate: float, decay: float) -> Callable[..., Any]:
    """Return the compiled steps of a round; ``rate`` is the learning rate at the beginning."""
    import optax

    # The rate is a factor of the updates, since it follows from the number of steps.
    return compiled_steps(partial(losses, shape), optax.adamw(1.0, weight_decay=decay), partial(_rate_after, rate))


def _rate_after(rate: float, count: jax.Array) -> Any:
    return rate / (1 + count / _FALL) ** 0.5

"""Loss function and optimiser of MuZero.

The representation maps each state to a hidden state, and the dynamics unrolls the actions that were played. At each
step the prediction is trained to match the results of the search: the loss is the sum of the cross-entropies of policy,
value and reward. As in the paper, the gradient is halved at each step of the dynamics, and the losses of all policies
and values after the first share a total weight of 1. Each reward has weight 1: in board games almost all rewards are 0,
and a search in a model that misses wins yields no useful targets. Weights are updated by AdamW (I. Loshchilov and F.
Hutter, "Decoupled weight decay regularization", ICLR 2019). The learning rate after ``n`` steps is the initial rate
divided by ``sqrt(1 + n / 10,000)``, a schedule that does not depend on the length of training.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from punish_fast.games.learn.muzero.network import ModelShape, kinds_of, networks_of
from punish_fast.games.learn.networks import compiled_steps

if TYPE_CHECKING:
    import jax

# Factor of the gradient at each step of the dynamics.
_PASSED = 0.5
# Number of steps after which the learning rate is 1 / sqrt(2) of its initial value.
_FALL = 10_000


def losses(shape: ModelShape, weights: jax.Array, batch: dict[str, jax.Array]) -> jax.Array:
    """Return the mean loss of a batch; called in compiled functions only.

    Args:
        weights: float32 ``[n_weights]``.
        batch: Fields of `replay.Unrolled`, with ``features``, float32 ``[m, n_features]``, instead of ``state``.
    """
    import jax.numpy as jnp

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
    """Return the cross-entropy, ``[m]``, of probabilities and logits ``[m, k]``."""
    import jax

    return -(probability * jax.nn.log_softmax(logits, axis=-1)).sum(axis=-1)


def _with_half_gradient(hidden: jax.Array) -> jax.Array:
    """Return ``hidden`` with its gradient scaled by `_PASSED`."""
    import jax

    return _PASSED * hidden + (1 - _PASSED) * jax.lax.stop_gradient(hidden)


@lru_cache(maxsize=16)
def muzero_steps(shape: ModelShape, rate: float, decay: float) -> Callable[..., Any]:
    """Return the compiled optimiser steps of a round; ``rate`` is the initial learning rate."""
    import optax

    # The rate depends on the number of steps, so it is applied as a factor of the updates.
    return compiled_steps(partial(losses, shape), optax.adamw(1.0, weight_decay=decay), partial(_rate_after, rate))


def _rate_after(rate: float, count: jax.Array) -> Any:
    return rate / (1 + count / _FALL) ** 0.5

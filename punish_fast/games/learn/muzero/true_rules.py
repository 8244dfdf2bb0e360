"""Rules of a game as the model of a compiled search (AlphaZero).

A compiled search calls back to the kernels of the game to apply actions, so that every game with kernels can be
searched and rules are implemented only once. A node is a state, stored as 32-bit halves of its words, since JAX uses
32-bit numbers. An illegal action loses; states after the end of a game have value 0.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from punish_fast.games.contract import VectorGame
from punish_fast.games.learn.muzero.network import Networks, mean_of

if TYPE_CHECKING:
    import jax

# Logit of an illegal action.
_NEVER = -1e9


class Node(NamedTuple):
    """States in a search."""

    words: Any  # uint32 [n, 2 * n_words]
    is_over: Any  # bool [n]


def root_node(words: jax.Array) -> Node:
    """Return nodes of nonterminal states; called in compiled functions only."""
    import jax.numpy as jnp

    return Node(words, jnp.zeros(len(words), dtype=jnp.bool_))


def step_in_rules(vector: VectorGame, networks: Networks, node: Node, action: jax.Array) -> tuple[Any, ...]:
    """Return next nodes, rewards of the mover, logits, values and ``~is_over``; called in compiled functions only."""
    import jax
    import jax.numpy as jnp

    n = len(action)
    array: Any = jax.ShapeDtypeStruct
    shapes = (
        array(node.words.shape, jnp.uint32),
        array((n,), jnp.bool_),
        array((n,), jnp.float32),
        array((n, vector.game.n_features), jnp.float32),
        array((n, vector.n_moves), jnp.bool_),
    )
    words, is_over, reward, features, legal = jax.pure_callback(partial(after_actions, vector), shapes, *node, action)
    logits, value = networks.predict(networks.represent(features))
    value = jnp.where(is_over, 0, mean_of(value))
    return Node(words, is_over), reward, jnp.where(legal, logits, _NEVER), value, ~is_over


def after_actions(vector: VectorGame, words: Any, is_over: Any, action: Any) -> tuple[np.ndarray, ...]:
    """Apply an action to each node; return words, ``is_over``, rewards of the mover, features and legal actions."""
    states, over = np.array(words).view(np.uint64), np.array(is_over)
    chosen, reward = np.asarray(action).astype(np.int64), np.zeros(len(states), dtype=np.float32)
    is_legal = vector.legal(states)[np.arange(len(states)), chosen] & ~over
    reward[~is_legal & ~over] = -1
    live = np.flatnonzero(is_legal)
    over[~is_legal] = True
    if len(live):
        player = vector.player(states[live])
        states[live], returns, over[live] = vector.step(states[live], chosen[live])
        reward[live] = returns[np.arange(len(live)), player]
    return states.view(np.uint32), over, reward, vector.features(states), vector.legal(states)

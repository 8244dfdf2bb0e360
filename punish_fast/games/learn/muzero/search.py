"""Tree search with the learned model or with the rules, using DeepMind's ``mctx`` (extra ``learn``).

A search builds a tree from a state. Each *simulation* descends from the root, choosing actions by their priors and
current values, adds one node, and backs up the node's value. The sign is reversed at each change of turn. Nodes are
hidden states of the learned model (MuZero) or states of the game (AlphaZero). In the learned model, illegal actions are
masked only at the root. Below the root, the network must learn to avoid illegal actions.

*gumbel*: the root divides its simulations among a few actions by sequential halving, starting with the actions of
highest prior logit plus Gumbel noise (I. Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022).
The policy target is a softmax of prior logits plus transformed values. With exact values, the target is in expectation
at least as good as the prior, for any number of simulations.

*puct*: the root, like all nodes below the root, selects the action with the highest upper confidence bound (J.
Schrittwieser et al., Nature 588, 2020). The policy target is each action's share of visits.

Without noise, the state, the network and the number of simulations determine the action and, up to rounding errors, the
policy.

If the search uses the rules of the game (AlphaZero), compiled code calls the kernels of the game to apply actions, so
rules are implemented only once. A node is a state. Its words are stored as 32-bit halves, because JAX uses 32-bit
numbers by default. An illegal action loses. States after the end of a game have value 0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from punish_fast.games.contract import VectorGame
from punish_fast.games.learn.hyperparameters import GUMBEL, MuZeroMethod
from punish_fast.games.learn.muzero.network import ModelShape, Networks, mean_of, networks_of
from punish_fast.games.learn.networks import call_padded, on_processor
from punish_fast.runtime.errors import require
from punish_fast.runtime.lazy_modules import jax, jnp, mctx

# Logit of an illegal action.
_NEVER = -1e9


class Node(NamedTuple):
    """A batch of nodes in a search with the rules of the game."""

    words: Any  # uint32 [n, 2 * n_words], words of the states as 32-bit halves
    is_over: Any  # bool [n]


def step_in_rules(vector: VectorGame, networks: Networks, node: Node, action: jax.Array) -> tuple[Any, ...]:
    """Apply an action to each node under the rules of the game. Call this function only in compiled functions.

    Return the next nodes, the mover's rewards, policy logits, values, and a mask of the games that continue.
    """
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
    """Apply an action to each node, outside compiled code.

    Return the new ``words`` and ``is_over``, the mover's rewards, the features, and a mask of the legal actions.
    """
    states, over = np.array(words).view(np.uint64), np.array(is_over)
    chosen, reward = np.asarray(action).astype(np.int64), np.zeros(len(states), dtype=np.float32)
    is_legal = vector.legal(states)[np.arange(len(states)), chosen] & ~over
    reward[~is_legal & ~over] = -1
    live = np.flatnonzero(is_legal)
    over[~is_legal] = True
    if len(live):
        player = vector.player(states[live])
        states[live], returns, over[live] = vector.advance(states[live], chosen[live])
        reward[live] = returns[np.arange(len(live)), player]
    return states.view(np.uint32), over, reward, vector.features(states), vector.legal(states)


# Batches are padded to one of two sizes to limit the number of compilations. Each step copies all trees, so larger
# batches are slower on CPUs.
_LEAST_STATES, _MOST_STATES = 32, 128


class SearchPlan(NamedTuple):
    """Settings of a search."""

    shape: ModelShape  # shape of the networks
    rules: VectorGame | None  # game whose rules the search uses, or None for the learned model
    kind: str  # "gumbel" or "puct"
    simulations: int  # number of simulations per search
    considered: int  # maximum number of actions considered at the root of a Gumbel search
    discount: float  # discount per action
    is_noisy: bool  # True to add noise at the root, for training


class Found(NamedTuple):
    """Results of searches from ``n`` states."""

    action: np.ndarray  # int64 [n], chosen actions
    policy: np.ndarray  # float32 [n, n_moves], policy targets: probabilities of legal actions
    value: np.ndarray  # float32 [n], values for the player to move


def plan_of(
    vector: VectorGame, method: MuZeroMethod, simulations: int | None = None, is_noisy: bool = False
) -> SearchPlan:
    """Return the search settings of a method for a game. ``simulations``, if given, replaces the method's number."""
    return SearchPlan(
        method.shape_for(vector),
        None if method.is_learned else vector,
        method.search,
        method.simulations if simulations is None else simulations,
        method.considered,
        method.discount,
        is_noisy,
    )


def search(plan: SearchPlan, vector: VectorGame, weights: np.ndarray, states: np.ndarray, seed: int = 0) -> Found:
    """Search from nonterminal states, uint64 ``[n, n_words]``, with network weights, float32 ``[n_weights]``."""
    require("mctx")
    parts = []
    for number, begin in enumerate(range(0, max(len(states), 1), _MOST_STATES)):
        block = states[begin : begin + _MOST_STATES]
        with on_processor():
            found = _search_block(plan, vector, weights, block, (seed, number))
        parts.append([part[: len(block)] for part in found])
    action, policy, value = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Found(action.astype(np.int64), policy, value)


def _search_block(
    plan: SearchPlan, vector: VectorGame, weights: np.ndarray, states: np.ndarray, seeds: tuple[int, int]
) -> list[np.ndarray]:
    """Search from at most `_MOST_STATES` states, padded with initial states. Results include the padding."""
    n_more = (_LEAST_STATES if len(states) <= _LEAST_STATES else _MOST_STATES) - len(states)
    padded = np.concatenate([states, np.repeat(vector.initial(1), n_more, axis=0)])
    key = jax.random.fold_in(jax.random.key(seeds[0]), seeds[1])
    arguments = vector.features(padded), vector.legal(padded), padded.view(np.uint32)
    return [np.asarray(part) for part in _compiled(plan)(weights, key, *arguments)]


def policy_logits(shape: ModelShape, weights: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Return policy logits, float32 ``[n, n_moves]``, for features ``[n, n_features]``, without a search."""
    with on_processor():
        return call_padded(_compiled_prediction(shape), weights, features, _LEAST_STATES)


@lru_cache(maxsize=16)
def _compiled_prediction(shape: ModelShape) -> Callable[..., Any]:
    def logits(weights: jax.Array, features: jax.Array) -> jax.Array:
        networks = networks_of(shape, weights)
        return networks.predict(networks.represent(features))[0]

    return jax.jit(logits)


@lru_cache(maxsize=16)
def _compiled(plan: SearchPlan) -> Callable[..., Any]:
    """Return a compiled search function, which returns actions, policy targets and values."""

    def run(weights: jax.Array, key: jax.Array, features: jax.Array, legal: jax.Array, words: jax.Array) -> Any:
        output = search_tree(plan, weights, key, features, legal, words)
        return output.action, output.action_weights, output.search_tree.summary().value

    return jax.jit(run)


def search_tree(
    plan: SearchPlan, weights: jax.Array, key: jax.Array, features: jax.Array, legal: jax.Array, words: jax.Array
) -> Any:
    """Run ``mctx`` and return its output, including the tree. Call this function only in compiled functions.

    ``weights`` are float32 ``[n_weights]``, ``key`` is a JAX random key, ``features`` are float32 ``[n, n_features]``,
    ``legal`` is bool ``[n, n_moves]``, and ``words``, uint32 ``[n, 2 * n_words]``, are the words of the states as
    32-bit halves.
    """
    networks = networks_of(plan.shape, weights)
    hidden = networks.represent(features)
    logits, value = networks.predict(hidden)
    value = mean_of(value)
    embedding = hidden if plan.rules is None else Node(words, jnp.zeros(len(words), dtype=jnp.bool_))
    root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=embedding)
    follow = _learned_step if plan.rules is None else partial(step_in_rules, plan.rules)

    def recurrent(_parameters: Any, _key: jax.Array, action: jax.Array, embedding: Any) -> Any:
        after, reward, logits, value, goes_on = follow(networks, embedding, action)
        discount = jnp.where(goes_on, -plan.discount, jnp.zeros_like(value))
        return mctx.RecurrentFnOutput(reward=reward, discount=discount, prior_logits=logits, value=value), after

    shared = {"params": (), "rng_key": key, "root": root, "recurrent_fn": recurrent, "invalid_actions": ~legal}
    if plan.kind == GUMBEL:
        return mctx.gumbel_muzero_policy(
            num_simulations=plan.simulations,
            max_num_considered_actions=min(plan.considered, plan.shape.n_moves),
            gumbel_scale=float(plan.is_noisy),
            **shared,
        )
    noise = {} if plan.is_noisy else {"dirichlet_fraction": 0.0}
    output = mctx.muzero_policy(num_simulations=plan.simulations, **noise, **shared)
    if plan.is_noisy:
        return output
    # mctx breaks ties between visit counts at random even at temperature 0. Take the first action instead.
    return output.replace(action=jnp.argmax(output.action_weights, axis=-1))


def _learned_step(networks: Networks, hidden: jax.Array, action: jax.Array) -> tuple[Any, ...]:
    """Return the next hidden states, rewards, policy logits, values and True. The model has no terminal states."""
    after, reward = networks.advance(hidden, action)
    logits, value = networks.predict(after)
    return after, mean_of(reward), logits, mean_of(value), True

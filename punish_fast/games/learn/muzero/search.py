"""Search for the best action, in the learned model or in the rules, by DeepMind's ``mctx`` (extra ``learn``).

A search grows a tree from a state: each *simulation* goes down from the root by what is known of the actions, adds one
node, and passes its value up, with the other sign for each change of turn. Nodes are hidden states of the learned model
(MuZero), or states of the game (AlphaZero). Only the root knows which actions are legal; below it the learned model has
to know by itself.

*gumbel*: the root shares its simulations among a few actions by sequential halving, beginning with those of the highest
prior probability plus Gumbel noise (I. Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022). The
policy that it teaches is the softmax of prior logits and values: with exact values, it is better than the prior in
expectation with any number of simulations.

*puct*: the root takes what has the highest upper bound, as nodes below do (J. Schrittwieser et al., Nature 588, 2020).
The policy that it teaches is the share of visits.

Without noise, the same state, network and number of simulations lead to the same action, and to the same policy but for
rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from punish_fast.games.contract import VectorGame
from punish_fast.games.learn.muzero.method import GUMBEL, MuZeroMethod
from punish_fast.games.learn.muzero.network import ModelShape, Networks, mean_of, networks_of
from punish_fast.games.learn.muzero.true_rules import root_node, step_in_rules
from punish_fast.games.learn.networks import call_padded, on_processor
from punish_fast.runtime.errors import require

if TYPE_CHECKING:
    import jax

# A search takes one of two numbers of states, so that little is compiled. More at once are slower on processors, since
# each step copies all trees.
_LEAST_STATES, _MOST_STATES = 32, 128


class SearchPlan(NamedTuple):
    """Settings of a search."""

    shape: ModelShape  # shape of the networks
    rules: VectorGame | None  # game to plan in, or None to plan in the learned model
    kind: str  # "gumbel" or "puct"
    simulations: int  # simulations of a search
    considered: int  # maximum number of actions at the root of a Gumbel search
    discount: float  # of each action
    is_noisy: bool  # whether the root has noise, for self-play


class Found(NamedTuple):
    """Results of searches."""

    action: np.ndarray  # int64 [n]
    policy: np.ndarray  # float32 [n, n_moves], probabilities of legal actions, the target of the prediction
    value: np.ndarray  # float32 [n], of the player to move


def plan_of(
    vector: VectorGame, method: MuZeroMethod, simulations: int | None = None, is_noisy: bool = False
) -> SearchPlan:
    """Return the search of a method at a game.

    Args:
        simulations: Another number of simulations than the method's.
        is_noisy: Whether the root has noise.
    """
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
    """Search from many states at once.

    Args:
        weights: float32 ``[n_weights]``.
        states: uint64 ``[n, n_words]``, none of them terminal.
    """
    require("learn", "mctx")
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
    """What searches from at most `_MOST_STATES` states find, and from some initial states that fill them up."""
    import jax

    n_more = (_LEAST_STATES if len(states) <= _LEAST_STATES else _MOST_STATES) - len(states)
    padded = np.concatenate([states, np.repeat(vector.initial(1), n_more, axis=0)])
    key = jax.random.fold_in(jax.random.key(seeds[0]), seeds[1])
    arguments = vector.features(padded), vector.legal(padded), padded.view(np.uint32)
    return [np.asarray(part) for part in _compiled(plan)(weights, key, *arguments)]


def policy_logits(shape: ModelShape, weights: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Return the logits of the prediction alone, without a search, float32 ``[n, n_moves]``."""
    with on_processor():
        return call_padded(_compiled_prediction(shape), weights, features, _LEAST_STATES)


@lru_cache(maxsize=16)
def _compiled_prediction(shape: ModelShape) -> Callable[..., Any]:
    import jax

    def logits(weights: jax.Array, features: jax.Array) -> jax.Array:
        networks = networks_of(shape, weights)
        return networks.predict(networks.represent(features))[0]

    return jax.jit(logits)


@lru_cache(maxsize=16)
def _compiled(plan: SearchPlan) -> Callable[..., Any]:
    """The compiled search: weights, key, features, legal and words to actions, policies and values."""
    import jax

    def run(weights: jax.Array, key: jax.Array, features: jax.Array, legal: jax.Array, words: jax.Array) -> Any:
        output = search_tree(plan, weights, key, features, legal, words)
        return output.action, output.action_weights, output.search_tree.summary().value

    return jax.jit(run)


def search_tree(
    plan: SearchPlan, weights: jax.Array, key: jax.Array, features: jax.Array, legal: jax.Array, words: jax.Array
) -> Any:
    """What ``mctx`` finds, with its tree; to be compiled.

    Args:
        weights: float32 ``[n_weights]``.
        key: A random key of JAX.
        features: float32 ``[n, n_features]``.
        legal: bool ``[n, n_moves]``.
        words: uint32 ``[n, 2 * n_words]``, the halves of the words of the states.
    """
    import jax.numpy as jnp
    import mctx

    networks = networks_of(plan.shape, weights)
    hidden = networks.represent(features)
    logits, value = networks.predict(hidden)
    value = mean_of(value)
    embedding = hidden if plan.rules is None else root_node(words)
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
    # mctx breaks ties between visits at random, also at a temperature of 0; the first of them is taken here.
    return output.replace(action=jnp.argmax(output.action_weights, axis=-1))


def _learned_step(networks: Networks, hidden: jax.Array, action: jax.Array) -> tuple[Any, ...]:
    """The next hidden states, rewards, logits, values, and that play goes on: past the end the model expects 0."""
    after, reward = networks.advance(hidden, action)
    logits, value = networks.predict(after)
    return after, mean_of(reward), logits, mean_of(value), True

"""Self-play of a small game wholly inside JAX: search and rules in one compiled function, one step of it for each ply.

The rules are tables of the game's positions: what follows each action, features, legal actions. All games of a batch
take every step, those that are over as well; nothing returns to Python before the last game ends. The package compiles
only the searches, with the rules between them (``punish_fast/learn/muzero/self_play.py``), which suits any
game and leaves out games that are over; `bench.muzero` compares both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from punish_fast.games.contract import Game
from punish_fast.games.positions import enumerate_positions
from punish_fast.learn.episodes import NONE
from punish_fast.learn.muzero.search import SearchPlan, search_tree
from punish_fast.learn.muzero.self_play import SearchedGames
from punish_fast.learn.q_network import on_processor

# From weights, random seed and epsilon to games.
Play = Callable[[np.ndarray, int, float], SearchedGames]


def compiled_play(plan: SearchPlan, game: Game, n: int, max_plies: int) -> Play:
    """A function that plays ``n`` games from the beginning.

    Args:
        plan: How to search, in the learned model.
        game: A game that can be enumerated.
        n: Number of games.
        max_plies: The length of the longest game.

    Raises:
        ExtraError: JAX or mctx is not installed.
        GameError: The game cannot be enumerated.
    """
    with on_processor():
        import jax

        tables = tables_of(game)
        run = jax.jit(_run_of(plan, n, max_plies))

    def play(weights: np.ndarray, seed: int, epsilon: float) -> SearchedGames:
        with on_processor():
            action, is_random, value, policy = run(tables, weights, jax.random.key(seed), np.float32(epsilon))
            parts = (np.asarray(part).swapaxes(0, 1) for part in (action, is_random, value, policy))
            return SearchedGames(*parts)

    return play


def tables_of(game: Game) -> dict[str, np.ndarray]:
    """The rules: ``after``, ``legal``, ``features`` and ``is_over`` of each position, the first of them the initial."""
    positions = enumerate_positions(game, is_folded=False)
    after = np.zeros((len(positions), game.n_actions), dtype=np.int32)
    legal = np.zeros(after.shape, dtype=np.bool_)
    after[positions.position_of_row, positions.action] = positions.after
    legal[positions.position_of_row, positions.action] = True
    features = np.stack([game.features(state) for state in positions.states])
    return {"after": after, "legal": legal, "features": features, "is_over": positions.is_terminal}


def _run_of(plan: SearchPlan, n: int, max_plies: int) -> Callable[..., Any]:
    """The function to be compiled: fields of `SearchedGames`, with plies first."""
    import jax
    import jax.numpy as jnp

    def run(tables: dict[str, Any], weights: Any, key: Any, epsilon: Any) -> Any:
        # The learned model asks for no words of states.
        words = jnp.zeros((n, 0), dtype=jnp.uint32)

        def ply(position: Any, key: Any) -> tuple[Any, tuple[Any, ...]]:
            to_search, to_explore, to_choose = jax.random.split(key, 3)
            is_live, legal = ~tables["is_over"][position], tables["legal"][position]
            # Past the end every action counts as legal, so that searches there have something to do.
            found = search_tree(
                plan, weights, to_search, tables["features"][position], legal | ~is_live[:, jnp.newaxis], words
            )
            random = jax.random.categorical(to_choose, jnp.where(legal, 0.0, -jnp.inf))
            explores = jax.random.uniform(to_explore, (n,)) < epsilon
            chosen = jnp.where(explores, random, found.action).astype(jnp.int32)
            following = jnp.where(is_live, tables["after"][position, chosen], position)
            value, policy = found.search_tree.summary().value, found.action_weights
            return following, (
                jnp.where(is_live, chosen, NONE).astype(jnp.int16),
                is_live & (chosen != found.action),
                jnp.where(is_live, value, 0),
                jnp.where(is_live[:, jnp.newaxis], policy, 0).astype(jnp.float16),
            )

        _, played = jax.lax.scan(ply, jnp.zeros(n, dtype=jnp.int32), jax.random.split(key, max_plies))
        return played

    return run

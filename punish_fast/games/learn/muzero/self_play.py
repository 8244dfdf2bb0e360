"""Games that MuZero plays against itself, many at once, and what each search of theirs found.

At the beginning of games, and later with probability epsilon, a random action is taken in place of the one found, so
that states are seen that good play avoids. Random beginnings do not end the game, so that late states are seen, too.
The searches run compiled, the rules on kernels between them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.games.contract import VectorGame
from punish_fast.games.learn.episodes import NONE
from punish_fast.games.learn.muzero.method import MuZeroMethod
from punish_fast.games.learn.muzero.search import SearchPlan, search
from punish_fast.games.random_play import random_mover

LAST_SEARCH_SEED = 2**31 - 1


class SearchedGames(NamedTuple):
    """Games and what their searches found; at plies after the end, numbers are 0."""

    action: np.ndarray  # int16 [n, n_plies], `NONE` after the end
    is_random: np.ndarray  # bool [n, n_plies], whether the action was not the one that the (latest) search found
    value: np.ndarray  # float32 [n, n_plies], value of the state by the search, for the player to move
    policy: np.ndarray  # float16 [n, n_plies, n_moves], the policy that the search found


def play_searched(
    plan: SearchPlan,
    vector: VectorGame,
    weights: np.ndarray,
    method: MuZeroMethod,
    generator: np.random.Generator,
) -> SearchedGames:
    """Play games from the beginning.

    Args:
        weights: float32 ``[n_weights]``.
        method: How many games, how long, and how random.
    """
    games = empty_games(method.games, method.max_plies, vector.n_moves)
    states, live = vector.initial(method.games), np.arange(method.games)
    opening = generator.integers(method.opening + 1, size=method.games)
    for ply in range(method.max_plies):
        found = search(plan, vector, weights, states, int(generator.integers(LAST_SEARCH_SEED)))
        legal, opens = vector.legal(states), ply < opening[live]
        if opens.any():
            legal[opens] = without_ends(vector, states[opens])
        random = random_mover(states, legal, generator)
        explores = opens | (generator.random(len(live)) < method.epsilon)
        chosen = np.where(explores, random, found.action)
        games.action[live, ply], games.is_random[live, ply] = chosen, chosen != found.action
        games.value[live, ply], games.policy[live, ply] = found.value, found.policy
        states, _, ended = vector.step(states, chosen)
        live, states = live[~ended], states[~ended]
        if not len(live):
            break
    return games


def without_ends(vector: VectorGame, states: np.ndarray) -> np.ndarray:
    """The actions of states that do not end the game, bool ``[n, n_moves]``; all legal ones where each of them does."""
    legal = vector.legal(states)
    goes_on = legal.copy()
    for action in range(vector.n_moves):
        rows = np.flatnonzero(legal[:, action])
        _, _, ended = vector.step(states[rows], np.full(len(rows), action))
        goes_on[rows, action] = ~ended
    return np.where(goes_on.any(axis=1, keepdims=True), goes_on, legal)


def empty_games(n: int, n_plies: int, n_moves: int) -> SearchedGames:
    """Room for games."""
    return SearchedGames(
        np.full((n, n_plies), NONE, dtype=np.int16),
        np.zeros((n, n_plies), dtype=np.bool_),
        np.zeros((n, n_plies), dtype=np.float32),
        np.zeros((n, n_plies, n_moves), dtype=np.float16),
    )

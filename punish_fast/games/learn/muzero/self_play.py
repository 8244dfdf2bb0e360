"""Batched self-play of MuZero, with the results of all searches.

At the beginning of a game, and later with probability epsilon, a random action replaces the action of the search, so
that training includes states that good play avoids. Random openings avoid actions that end the game, so that late
states occur as well. Searches are compiled by JAX; between them, kernels apply the rules.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.games.contract import VectorGame
from punish_fast.games.learn.episodes import NONE
from punish_fast.games.learn.movers import random_mover
from punish_fast.games.learn.muzero.method import MuZeroMethod
from punish_fast.games.learn.muzero.search import SearchPlan, search

LAST_SEARCH_SEED = 2**31 - 1


class SearchedGames(NamedTuple):
    """Games and the results of their searches; entries after the end are 0."""

    action: np.ndarray  # int16 [n, n_plies], `NONE` after the end
    is_random: np.ndarray  # bool [n, n_plies], True if the action is not the one chosen by the (latest) search
    value: np.ndarray  # float32 [n, n_plies], value found by the search, for the player to move
    policy: np.ndarray  # float16 [n, n_plies, n_moves], policy found by the search


def play_searched(
    plan: SearchPlan,
    vector: VectorGame,
    weights: np.ndarray,
    method: MuZeroMethod,
    generator: np.random.Generator,
) -> SearchedGames:
    """Play ``method.games`` games with the network weights, float32 ``[n_weights]``."""
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
    """Return a mask of legal actions that do not end the game, bool ``[n, n_moves]``; all legal ones if all end it."""
    legal = vector.legal(states)
    goes_on = legal.copy()
    for action in range(vector.n_moves):
        rows = np.flatnonzero(legal[:, action])
        _, _, ended = vector.step(states[rows], np.full(len(rows), action))
        goes_on[rows, action] = ~ended
    return np.where(goes_on.any(axis=1, keepdims=True), goes_on, legal)


def empty_games(n: int, n_plies: int, n_moves: int) -> SearchedGames:
    """Return arrays for games without actions."""
    return SearchedGames(
        np.full((n, n_plies), NONE, dtype=np.int16),
        np.zeros((n, n_plies), dtype=np.bool_),
        np.zeros((n, n_plies), dtype=np.float32),
        np.zeros((n, n_plies, n_moves), dtype=np.float16),
    )

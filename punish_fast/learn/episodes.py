"""Whole games of learners, many at once: played, kept as their actions, and traced again.

The actions of games are int16 ``[n, n_plies]``, `NONE` after the end. An illegal action ends its game. Learners keep
only actions, from which `retrace` finds the states; so a file cannot hold states that no game has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from punish_fast.games.contract import VectorGame

# No action: the game is over.
NONE = -1

# The values of all actions, float32 [n, n_moves], of states, uint64 [n, n_words].
Values = Callable[[np.ndarray], np.ndarray]


class EpisodeError(ValueError):
    """Actions that are no games; the message says why."""


class SeatPolicy(NamedTuple):
    """How a player moves.

    Attributes:
        values: Values of actions, of which it takes the first best; None to play at random.
        epsilon: The probability of a random action.
        keeps_rules: Whether it considers legal actions only.
    """

    values: Values | None = None
    epsilon: float = 0.0
    keeps_rules: bool = True


class Episodes(NamedTuple):
    """Games, step by step; at plies after the end, numbers are 0.

    Attributes:
        action: int16 ``[n, n_plies]``.
        state: uint64 ``[n, n_plies + 1, n_words]``, before each action, and after the last one.
        player: int8 ``[n, n_plies]``, who moved.
        is_legal: bool ``[n, n_plies]``, whether the action was legal.
        is_over: bool ``[n]``, whether the game ended by its rules.
        returns: float32 ``[n, n_players]``, 0 if it did not.
    """

    action: np.ndarray
    state: np.ndarray
    player: np.ndarray
    is_legal: np.ndarray
    is_over: np.ndarray
    returns: np.ndarray


def play(
    vector: VectorGame,
    seats: Sequence[SeatPolicy],
    n: int,
    generator: np.random.Generator,
    max_plies: int,
    n_random: int = 0,
) -> np.ndarray:
    """The actions of ``n`` games from the beginning.

    Args:
        vector: The game.
        seats: How each player moves.
        n: Number of games.
        generator: Random numbers.
        max_plies: A game stops after this number of plies.
        n_random: Number of plies at the beginning that are random.
    """
    action = np.full((n, max_plies), NONE, dtype=np.int16)
    states, live, ply = vector.initial(n), np.arange(n), 0
    while len(live) and ply < max_plies:
        legal, player = vector.legal(states), vector.player(states)
        chosen = np.empty(len(live), dtype=np.int64)
        for seat in dict.fromkeys(seats):
            mine = np.flatnonzero(np.isin(player, [k for k, each in enumerate(seats) if each == seat]))
            if len(mine):
                mover = SeatPolicy() if ply < n_random else seat
                chosen[mine] = _choose(mover, states[mine], legal[mine], generator)
        action[live, ply] = chosen
        goes_on = legal[np.arange(len(live)), chosen]
        live, states = live[goes_on], states[goes_on]
        if len(live):
            states, _, ended = vector.step(states, chosen[goes_on])
            live, states = live[~ended], states[~ended]
        ply += 1
    return action[:, :ply]


def _choose(seat: SeatPolicy, states: np.ndarray, legal: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    allowed = legal if seat.keeps_rules else np.ones_like(legal)
    rank = (generator.random(len(states)) * allowed.sum(axis=1)).astype(np.int64)
    random = (allowed.cumsum(axis=1) > rank[:, np.newaxis]).argmax(axis=1)
    if seat.values is None:
        return np.asarray(random)
    explores = generator.random(len(states)) < seat.epsilon
    if not explores.all():
        random = np.where(explores, random, first_best_actions(seat.values(states), allowed))
    return np.asarray(random)


def first_best_actions(values: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """The first best of the allowed actions of each state, int64 ``[n]``."""
    return np.asarray(np.where(allowed, values, -np.inf).argmax(axis=1))


def retrace(vector: VectorGame, action: np.ndarray) -> Episodes:
    """Games step by step, from their actions.

    Raises:
        EpisodeError: An action is none, or follows the end of its game.
    """
    n, n_plies = action.shape
    game = vector.game
    if action.size and not (action.min() >= NONE and action.max() < game.n_actions):
        raise EpisodeError(f"action: a number is not from {NONE} to {game.n_actions - 1}")
    state = np.zeros((n, n_plies + 1, vector.n_words), dtype=np.uint64)
    player, is_legal = np.zeros((n, n_plies), dtype=np.int8), np.zeros((n, n_plies), dtype=np.bool_)
    is_over, returns = np.zeros(n, dtype=np.bool_), np.zeros((n, game.n_players), dtype=np.float32)
    state[:, 0] = vector.initial(n)
    goes_on = np.ones(n, dtype=np.bool_)
    for ply in range(n_plies):
        moves = action[:, ply] != NONE
        if (moves & ~goes_on).any():
            raise EpisodeError("action: one follows the end of its game")
        live = np.flatnonzero(moves)
        states, chosen = state[live, ply], action[live, ply].astype(np.int64)
        player[live, ply] = vector.player(states)
        legal = vector.legal(states)[np.arange(len(live)), chosen]
        is_legal[live, ply] = legal
        live, states, chosen = live[legal], states[legal], chosen[legal]
        if len(live):
            state[live, ply + 1], returns[live], is_over[live] = vector.step(states, chosen)
        goes_on[:] = False
        goes_on[live] = ~is_over[live]
    return Episodes(action, state, player, is_legal, is_over, returns)

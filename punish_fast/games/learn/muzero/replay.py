"""What MuZero learns from: whole games of the latest rounds, and draws of states with what followed them.

The *target* of a state's value follows the game backwards. With the reward ``r`` of the mover, the discount ``g``, the
value ``v`` that the search found and the trace ``l`` (lambda),

    target(t) = r(t) - g ((1 - l) v(t + 1) + l target(t + 1))

since the turn passes with each action. It is 0 past the end; it is ``v`` where a game stopped before its end; and it is
``v`` where a random action was taken, whose consequences say nothing about good play (the cut of C. Watkins, "Learning
from delayed rewards", 1989). With ``l = 1`` and no random actions it is the result of the game, as in the paper.

A draw is a state and the next actions that were taken. Past the end, states are *absorbing*: any action leads there
again, without a reward, and they are worth 0. With a priority above 0, a state is drawn in proportion to that power of
``|v - target| + 0.1``, and has a weight against it, so that the expected gradient stays the same up to a factor (T.
Schaul et al., "Prioritized experience replay", 2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from punish_fast.games.contract import VectorGame
from punish_fast.games.learn.episodes import NONE, retrace
from punish_fast.games.learn.hyperparameters import LearnError
from punish_fast.games.learn.muzero.method import MuZeroMethod
from punish_fast.games.learn.muzero.self_play import SearchedGames
from punish_fast.games.learn.trainer import trimmed

# Added to errors: a tenth of a win. With much less, states without an error, such as those of random moves, are drawn
# so rarely, and then weigh so much, that a batch is of one of them or none, and little is learned.
LEAST_ERROR = 0.1


class Remembered(NamedTuple):
    """The games of a round."""

    games: SearchedGames  # games and what their searches found
    state: np.ndarray  # uint64 [n, n_plies + 1, n_words]
    length: np.ndarray  # int64 [n], the number of actions
    is_over: np.ndarray  # bool [n], whether the game came to its end
    result: np.ndarray  # float32 [n], the return of the last player to move
    target: np.ndarray  # float32 [n, n_plies], of values


class Unrolled(NamedTuple):
    """States and what followed them, for ``k`` unrolled actions."""

    state: np.ndarray  # uint64 [m, n_words]
    action: np.ndarray  # int32 [m, k]
    reward: np.ndarray  # float32 [m, k], of each action
    value: np.ndarray  # float32 [m, k + 1], the targets of the values
    policy: np.ndarray  # float32 [m, k + 1, n_moves]
    has_value: np.ndarray  # bool [m, k + 1]: not where a game stopped before its end
    has_policy: np.ndarray  # bool [m, k + 1]: not past the end either
    weight: np.ndarray  # float32 [m], the weight of each draw, at most 1


def remember(vector: VectorGame, games: SearchedGames, method: MuZeroMethod) -> Remembered:
    """The games of a round, with their states and targets."""
    games = trimmed(games)
    played, is_move = retrace(vector, games.action), games.action != NONE
    length = is_move.sum(axis=1)
    if not played.is_legal[is_move].all():
        raise LearnError("action: one is illegal")
    if (is_move[:, 1:] & (played.player[:, 1:] == played.player[:, :-1])).any():
        raise LearnError(f"muzero: a player of {vector.game.name} moves twice, the turn must pass with each action")
    rows = np.arange(len(length))
    last = played.player[rows, np.maximum(length - 1, 0)] if is_move.size else np.zeros(0, dtype=np.int8)
    result = played.returns[rows, last]
    target = targets_of(games, length, played.is_over, result, method)
    return Remembered(games, played.state, length, played.is_over, result, target)


def targets_of(
    games: SearchedGames, length: np.ndarray, is_over: np.ndarray, result: np.ndarray, method: MuZeroMethod
) -> np.ndarray:
    """The targets of values, float32 ``[n, n_plies]``, 0 past the end; arguments as in `Remembered`."""
    n, n_plies = games.action.shape
    target = np.zeros((n, n_plies + 1), dtype=np.float32)
    value = np.concatenate([games.value, np.zeros((n, 1), dtype=np.float32)], axis=1)
    discount, trace = np.float32(method.discount), np.float32(method.trace)
    for ply in range(n_plies - 1, -1, -1):
        is_last = ply == length - 1
        reward = np.where(is_last, result, 0)
        followed = reward - discount * ((1 - trace) * value[:, ply + 1] + trace * target[:, ply + 1])
        is_cut = games.is_random[:, ply] | (is_last & ~is_over)
        target[:, ply] = np.where(ply >= length, 0, np.where(is_cut, value[:, ply], followed))
    return target[:, :n_plies]


def draw(memory: Sequence[Remembered], n: int, method: MuZeroMethod, generator: np.random.Generator) -> Unrolled:
    """Draw states of all games that are remembered.

    Args:
        memory: The rounds, at least one.
        method: The method: how many actions to unroll, and how to draw.
    """
    moves = [np.nonzero(part.games.action != NONE) for part in memory]
    ends = np.cumsum([len(rows) for rows, _ in moves])
    drawn, weight = _drawn(memory, moves, n, method.priority, generator)
    unrolled, n_moves = method.n_unrolled, memory[0].games.policy.shape[2]
    # What is taken past the end.
    past = generator.integers(n_moves, size=(n, unrolled), dtype=np.int32)
    draws = Unrolled(
        np.empty((n, memory[0].state.shape[2]), dtype=np.uint64),
        past,
        np.zeros((n, unrolled), dtype=np.float32),
        np.zeros((n, unrolled + 1), dtype=np.float32),
        np.zeros((n, unrolled + 1, n_moves), dtype=np.float32),
        np.zeros((n, unrolled + 1), dtype=np.bool_),
        np.zeros((n, unrolled + 1), dtype=np.bool_),
        weight,
    )
    owner = np.searchsorted(ends, drawn, side="right")
    for number, part in enumerate(memory):
        places = np.flatnonzero(owner == number)
        rows, plies = (each[drawn[places] - (ends[number] - len(each))] for each in moves[number])
        _unroll(draws, places, part, rows, plies)
    return draws


def _drawn(
    memory: Sequence[Remembered],
    moves: Sequence[tuple[np.ndarray, ...]],
    n: int,
    priority: float,
    generator: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the states that are drawn, counted through all rounds, and their weights."""
    total = sum(len(rows) for rows, _ in moves)
    if priority == 0:
        return generator.integers(total, size=n), np.ones(n, dtype=np.float32)
    errors = [
        np.abs(part.games.value[where] - part.target[where]) + LEAST_ERROR
        for part, where in zip(memory, moves, strict=True)
    ]
    share = np.concatenate(errors).astype(np.float64) ** priority
    cumulated = share.cumsum()
    drawn = np.minimum(np.searchsorted(cumulated, generator.random(n) * cumulated[-1], side="right"), total - 1)
    return drawn, (share.min() / share[drawn]).astype(np.float32)


def _unroll(draws: Unrolled, places: np.ndarray, part: Remembered, rows: np.ndarray, plies: np.ndarray) -> None:
    """Write what followed states of a round to some places of the draws."""
    games, n_plies = part.games, part.games.action.shape[1]
    length, is_over = part.length[rows], part.is_over[rows]
    draws.state[places] = part.state[rows, plies]
    for step in range(draws.value.shape[1]):
        ply, is_played = np.minimum(plies + step, n_plies - 1), plies + step < length
        draws.value[places, step] = np.where(is_played, part.target[rows, ply], 0)
        draws.policy[places, step] = games.policy[rows, ply] * is_played[:, np.newaxis]
        draws.has_policy[places, step], draws.has_value[places, step] = is_played, is_played | is_over
        if step < draws.action.shape[1]:
            draws.action[places, step] = np.where(is_played, games.action[rows, ply], draws.action[places, step])
            draws.reward[places, step] = np.where(plies + step == length - 1, part.result[rows], 0)

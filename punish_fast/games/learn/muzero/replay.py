"""Replay buffer of MuZero: complete games of the latest rounds, from which training samples are drawn.

Value *targets* are computed backwards through a game. With the reward ``r`` of the mover, the discount ``g``, the value
``v`` found by the search and the trace parameter ``l`` (lambda),

    target(t) = r(t) - g ((1 - l) v(t + 1) + l target(t + 1))

where the minus sign reflects that the turn passes with each action. The target is 0 after the end of a game. The target
is ``v(t)`` if the game was stopped after action ``t``, or if action ``t`` was random, because the consequences of a
random action are not informative about good play (C. Watkins, "Learning from delayed rewards", 1989). With ``l = 1``
and no random actions, the target is the (discounted) result of the game, as in the MuZero paper.

A sample consists of a state and the actions that followed the state. States after the end of a game are *absorbing*:
every action leads back to the same state and has reward 0, and the value of the state is 0. With a priority above 0,
states are drawn with probability proportional to ``(|v - target| + 0.1)^priority`` and weighted by the inverse of this
probability, so that the expected gradient changes only by a constant factor (T. Schaul et al., "Prioritized experience
replay", 2016).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from punish_fast.games.contract import VectorGame
from punish_fast.games.episodes import NONE, retrace
from punish_fast.games.learn.hyperparameters import LearnError, MuZeroMethod
from punish_fast.games.learn.trainer import located, trimmed

# Constant added to errors: a tenth of a win. With a much smaller constant, states with zero error, such as states
# before random moves, would be drawn rarely but weighted heavily. A single state could then dominate a batch.
LEAST_ERROR = 0.1


class SearchedGames(NamedTuple):
    """Games with the results of the searches. After the end of a game, all entries except ``action`` are 0."""

    action: np.ndarray  # int16 [n, n_plies], `NONE` after the end of the game
    is_random: np.ndarray  # bool [n, n_plies], True if the latest search of the state chose another action
    value: np.ndarray  # float32 [n, n_plies], value found by the search, for the player to move
    policy: np.ndarray  # float16 [n, n_plies, n_moves], policy target found by the search


class Remembered(NamedTuple):
    """Games of a round, with states and value targets."""

    games: SearchedGames
    state: np.ndarray  # uint64 [n, n_plies + 1, n_words], states before each action and after the last action
    length: np.ndarray  # int64 [n], number of actions in each game
    is_over: np.ndarray  # bool [n], False if the game was stopped
    result: np.ndarray  # float32 [n], return of the player who moved last
    target: np.ndarray  # float32 [n, n_plies], value targets


class Unrolled(NamedTuple):
    """``m`` training samples: states and the next ``k`` steps."""

    state: np.ndarray  # uint64 [m, n_words]
    action: np.ndarray  # int32 [m, k], random after the end of the game
    reward: np.ndarray  # float32 [m, k], reward of each action
    value: np.ndarray  # float32 [m, k + 1], value targets
    policy: np.ndarray  # float32 [m, k + 1, n_moves], policy targets
    has_value: np.ndarray  # bool [m, k + 1], False after the last action of a stopped game
    has_policy: np.ndarray  # bool [m, k + 1], False after the last action of any game
    weight: np.ndarray  # float32 [m], weight of each sample, at most 1


def empty_games(n: int, n_plies: int, n_moves: int) -> SearchedGames:
    """Return ``n`` games without actions."""
    return SearchedGames(
        np.full((n, n_plies), NONE, dtype=np.int16),
        np.zeros((n, n_plies), dtype=np.bool_),
        np.zeros((n, n_plies), dtype=np.float32),
        np.zeros((n, n_plies, n_moves), dtype=np.float16),
    )


def remember(vector: VectorGame, games: SearchedGames, method: MuZeroMethod) -> Remembered:
    """Compute the states and targets of games.

    Raise `LearnError` if an action is illegal or a player moves twice in succession.
    """
    games = trimmed(games)
    played, is_move = retrace(vector, games.action), games.action != NONE
    length = is_move.sum(axis=1)
    if not played.is_legal[is_move].all():
        raise LearnError("action: an action is illegal")
    if (is_move[:, 1:] & (played.player[:, 1:] == played.player[:, :-1])).any():
        raise LearnError(f"muzero: a player of {vector.game.name} moves twice, but the turn must pass with each action")
    rows = np.arange(len(length))
    last = played.player[rows, np.maximum(length - 1, 0)] if is_move.size else np.zeros(0, dtype=np.int8)
    result = played.returns[rows, last]
    target = targets_of(games, length, played.is_over, result, method)
    return Remembered(games, played.state, length, played.is_over, result, target)


def targets_of(
    games: SearchedGames, length: np.ndarray, is_over: np.ndarray, result: np.ndarray, method: MuZeroMethod
) -> np.ndarray:
    """Return the value targets, float32 ``[n, n_plies]``, 0 after the end of a game (see `Remembered`)."""
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


def draw(replay: Sequence[Remembered], n: int, method: MuZeroMethod, generator: np.random.Generator) -> Unrolled:
    """Draw ``n`` training samples from the games in ``replay``. The games must contain at least one action."""
    moves = [np.nonzero(part.games.action != NONE) for part in replay]
    drawn, weight = _drawn(replay, moves, n, method.priority, generator)
    unrolled, n_moves = method.n_unrolled, replay[0].games.policy.shape[2]
    # Actions after the end of a game are random.
    past = generator.integers(n_moves, size=(n, unrolled), dtype=np.int32)
    draws = Unrolled(
        np.empty((n, replay[0].state.shape[2]), dtype=np.uint64),
        past,
        np.zeros((n, unrolled), dtype=np.float32),
        np.zeros((n, unrolled + 1), dtype=np.float32),
        np.zeros((n, unrolled + 1, n_moves), dtype=np.float32),
        np.zeros((n, unrolled + 1), dtype=np.bool_),
        np.zeros((n, unrolled + 1), dtype=np.bool_),
        weight,
    )
    of_parts = located(drawn, [len(rows) for rows, _ in moves])
    for part, (rows, plies), (places, chosen) in zip(replay, moves, of_parts, strict=True):
        _unroll(draws, places, part, rows[chosen], plies[chosen])
    return draws


def _drawn(
    replay: Sequence[Remembered],
    moves: Sequence[tuple[np.ndarray, ...]],
    n: int,
    priority: float,
    generator: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw ``n`` states. Return their indices in the concatenation of all rounds, and their weights."""
    total = sum(len(rows) for rows, _ in moves)
    if priority == 0:
        return generator.integers(total, size=n), np.ones(n, dtype=np.float32)
    errors = [
        np.abs(part.games.value[where] - part.target[where]) + LEAST_ERROR
        for part, where in zip(replay, moves, strict=True)
    ]
    share = np.concatenate(errors).astype(np.float64) ** priority
    cumulated = share.cumsum()
    drawn = np.minimum(np.searchsorted(cumulated, generator.random(n) * cumulated[-1], side="right"), total - 1)
    return drawn, (share.min() / share[drawn]).astype(np.float32)


def _unroll(draws: Unrolled, places: np.ndarray, part: Remembered, rows: np.ndarray, plies: np.ndarray) -> None:
    """Write the samples that begin at ``rows`` and ``plies`` of a round to the rows ``places`` of ``draws``."""
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

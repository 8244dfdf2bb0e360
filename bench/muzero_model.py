"""Compare the learned model of a MuZero agent with the rules: ``python -m bench.muzero_model tictactoe muzero.h5``.

Starting from sampled states, random legal actions are applied both in the game and in the model. The model observes
only the first state. After each action, the predicted reward, value and policy are compared with perfect play. After
the end of a game, any action can follow, and rewards and values should be 0. Since later states may be easier, the
table also contains the errors if the model observes the later state itself. The difference is the error of unrolling.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bench.report import markdown
from punish_fast.games.connect4.known_scores import position_sets
from punish_fast.games.contract import GameError, Oracle, VectorBoardGame
from punish_fast.games.enumeration.positions import enumerate_positions
from punish_fast.games.learn.agent_file import load_as
from punish_fast.games.learn.hyperparameters import LearnError
from punish_fast.games.learn.muzero.learner import MuZeroLearner
from punish_fast.games.learn.muzero.network import ModelShape, mean_of, networks_of
from punish_fast.games.learn.networks import on_processor
from punish_fast.games.registry import make_game, perfect_play

if TYPE_CHECKING:
    import jax

# Set of Connect Four positions for games that cannot be enumerated. Late positions are solved quickly.
_LATE = "easy-ends"


class UnrolledErrors(NamedTuple):
    """Mean errors after a number of actions. A mean over no games is NaN."""

    actions: int  # number of actions
    states: int  # number of games that have not ended
    # Mean absolute error of the predicted value in games that have not ended. Exact values use the learner's discount.
    value: float
    value_if_seen: float  # mean absolute error of the value if the model observes this state
    reward: float  # mean absolute error of the last action's reward, if the game had not ended before
    keeps_value: float  # share of states whose most probable legal action keeps the exact value
    keeps_value_if_seen: float  # the same share if the model observes this state
    illegal: float  # mean total probability of illegal actions
    illegal_if_uniform: float  # mean share of illegal actions among all actions
    past_value: float  # mean absolute value predicted for games that have ended
    past_reward: float  # mean absolute reward predicted for actions after the end


class _Predictions(NamedTuple):
    """Predictions after each number of actions, arrays ``[n_actions + 1, n, ...]``. Rewards are ``[n_actions, n]``."""

    policy: np.ndarray
    value: np.ndarray
    reward: np.ndarray


def sampled_states(vector: VectorBoardGame, n: int, generator: np.random.Generator) -> list[Any]:
    """Return at most ``n`` different states before the end of a game. For Connect Four, they are easy to solve."""
    try:
        positions = enumerate_positions(vector.game, is_folded=False)
        states = [positions.states[number] for number in positions.live.tolist()]
    except GameError:
        states = list(position_sets()[_LATE].states)
    return [states[k] for k in generator.permutation(len(states))[:n]]


def unrolled_errors(
    learner: MuZeroLearner, oracle: Oracle, states: Sequence[Any], n_actions: int, generator: np.random.Generator
) -> list[UnrolledErrors]:
    """Return the errors of the model after 0 to ``n_actions`` actions.

    Raises:
        LearnError: If the learner has no learned model.
    """
    if not learner.method.is_learned:
        raise LearnError("model: it plans in the rules of the game, so there is no model to judge")
    vector: Any = learner.vector
    game = vector.game
    lines, action = _random_lines(game, states, n_actions, generator)
    said = _predicted(learner, vector.features(vector.pack(states)), action)
    found = []
    for k in range(n_actions + 1):
        now = [line[k] for line in lines]
        live = np.array([not game.is_terminal(state) for state in now])
        before = live if k == 0 else np.array([not game.is_terminal(line[k - 1]) for line in lines])
        exact = [_exact(game, oracle, state, learner.method.discount) for state in now]
        value, keeps, legal = (np.array(part) for part in zip(*exact, strict=True))
        policy, row, seen = said.policy[k], np.arange(len(now)), _seen(learner, now)
        best, best_if_seen = (np.where(legal, each, -1).argmax(axis=1) for each in (policy, seen.policy[0]))
        reward, truth = np.zeros(len(now)), np.zeros(len(now))
        if k:
            reward = said.reward[k - 1]
            truth = np.array([game.returns(line[k])[game.player(line[k - 1])] for line in lines]) * before
        found.append(
            UnrolledErrors(
                k,
                int(live.sum()),
                _mean(np.abs(said.value[k] - value)[live]),
                _mean(np.abs(seen.value[0] - value)[live]),
                _mean(np.abs(reward - truth)[before & (k > 0)]),
                _mean(keeps[row, best][live]),
                _mean(keeps[row, best_if_seen][live]),
                _mean((policy * ~legal).sum(axis=1)[live]),
                _mean((~legal).mean(axis=1)[live]),
                _mean(np.abs(said.value[k])[~live]),
                _mean(np.abs(reward)[~before]),
            )
        )
    return found


def _random_lines(
    game: Any, states: Sequence[Any], n_actions: int, generator: np.random.Generator
) -> tuple[list[list[Any]], np.ndarray]:
    """Return states along random legal actions, and the actions, int32 ``[n, n_actions]``. Final states repeat."""
    action, luck = np.empty((len(states), n_actions), dtype=np.int32), generator.random((len(states), n_actions))
    lines = [[state] for state in states]
    for row, line in enumerate(lines):
        for k in range(n_actions):
            legal = list(game.actions(line[-1]))
            allowed = legal or range(game.n_actions)
            action[row, k] = allowed[int(luck[row, k] * len(allowed))]
            line.append(game.apply(line[-1], int(action[row, k])) if legal else line[-1])
    return lines, action


def _exact(game: Any, oracle: Oracle, state: Any, discount: float) -> tuple[float, list[bool], list[bool]]:
    """Return a state's discounted exact value and two lists of flags by action: keeps the value, is legal."""
    keeps, legal = [False] * game.n_actions, [False] * game.n_actions
    if game.is_terminal(state):
        return 0.0, keeps, legal
    moves = oracle.move_values(state)
    best = next(move for move in moves if move.is_best)
    for move in moves:
        legal[move.action], keeps[move.action] = True, move.value == best.value
    return best.value * discount ** ((best.plies or 1) - 1), keeps, legal


def _mean(numbers: np.ndarray) -> float:
    """Return the mean, or NaN for an empty array."""
    return float(numbers.mean()) if len(numbers) else float("nan")


def _seen(learner: MuZeroLearner, states: Sequence[Any]) -> _Predictions:
    """Return the predictions of the model for states that it observes."""
    vector: Any = learner.vector
    features = vector.features(vector.pack(states))
    return _predicted(learner, features, np.empty((len(states), 0), dtype=np.int32))


def _predicted(learner: MuZeroLearner, features: np.ndarray, action: np.ndarray) -> _Predictions:
    with on_processor():
        said = _compiled(learner.shape)(learner.weights, features, action)
        return _Predictions(*(np.asarray(part, dtype=np.float64) for part in said))


@lru_cache(maxsize=4)
def _compiled(shape: ModelShape) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    def run(weights: jax.Array, features: jax.Array, action: jax.Array) -> Any:
        networks = networks_of(shape, weights)
        hidden = networks.represent(features)
        policies, values, rewards = [], [], []
        for k in range(action.shape[1] + 1):
            logits, value = networks.predict(hidden)
            policies.append(jax.nn.softmax(logits))
            values.append(mean_of(value))
            if k < action.shape[1]:
                hidden, reward = networks.advance(hidden, action[:, k])
                rewards.append(mean_of(reward))
        return jnp.stack(policies), jnp.stack(values), jnp.array(rewards)

    return jax.jit(run)


def _text(number: float) -> str:
    if isinstance(number, int):
        return f"{number:,}"
    return "-" if math.isnan(number) else f"{number:.3f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table of errors for an agent."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("game", help="tictactoe, tapnswap or connect4, under its standard rules")
    parser.add_argument("file", type=Path, help="an agent written by games train --method muzero")
    parser.add_argument("--states", type=int, default=500, help="number of initial states (500)")
    parser.add_argument("--actions", type=int, default=10, help="number of actions to follow (10)")
    parser.add_argument("--seed", type=int, default=0, help="random seed (0)")
    options = parser.parse_args(arguments)
    game, generator = make_game(options.game, {}), np.random.default_rng(options.seed)
    learner = load_as(options.file, MuZeroLearner, game)
    vector: Any = learner.vector
    states = sampled_states(vector, options.states, generator)
    oracle = perfect_play(game)
    assert oracle is not None
    unrolled = unrolled_errors(learner, oracle, states, options.actions, generator)
    rows = [[name.replace("_", " ") for name in UnrolledErrors._fields], *(map(_text, row) for row in unrolled)]
    print("\n".join(markdown([list(row) for row in rows])))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

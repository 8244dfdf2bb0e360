"""Policies for games other than Punish: random, rules of thumb, perfect play, mixtures, and learned policies."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from punish_fast.games.contract import Game, Oracle, VectorBoardGame
from punish_fast.games.enumeration.positions import Positions
from punish_fast.games.episodes import PLAY_TEMPERATURE, softmax
from punish_fast.games.learn.networks import Architecture, evaluate, file_of, pretrained_network
from punish_fast.games.registry import entry_of
from punish_fast.play.games.match import GamePolicy
from punish_fast.runtime.errors import are_installed, require

if TYPE_CHECKING:
    from punish_fast.games.learn.muzero.learner import MuZeroLearner

# Share of random choices at each level. All other choices follow perfect play.
RANDOM_SHARES = {"random": 1.0, "casual": 0.3, "perfect": 0.0}
LEVELS = ("random", "casual", "trained", "perfect")
# Levels of games without an oracle.
CARD_LEVELS = ("random", "rule-of-thumb", "trained")


def policy_at(game: Game, oracle: Oracle | None, level: str) -> GamePolicy:
    """Return the policy of a level from `levels_of`. ``oracle`` is the game's perfect play, or None."""
    if level == "trained":
        return trained_policy(game)
    if level == "rule-of-thumb":
        return _rule_policy(game)
    random = RANDOM_SHARES[level]

    def choices(state: object) -> np.ndarray:
        actions = list(game.actions(state))
        weight = np.full(len(actions), random / len(actions))
        if oracle is not None and random < 1:
            weight[actions.index(oracle.best_action(state))] += 1 - random
        return weight

    return choices


def _rule_policy(game: Game) -> GamePolicy:
    """Return a policy that follows the game's rule of thumb and deviates at random with a fixed probability."""
    entry = entry_of(game.name)
    rule, breaks = cast(Callable[[Any], int], entry.rule_of_thumb), entry.rule_breaks

    def choices(state: object) -> np.ndarray:
        follows = np.array(game.actions(state)) == rule(state)
        return np.where(follows, 1 - breaks, breaks / max(len(follows) - 1, 1))

    return choices


def trained_policy(game: Game) -> GamePolicy:
    """Return the policy of the game's packaged network. If the game has no network, train a table in about a second."""
    network = pretrained_network(game)
    if network is not None:
        require("jax", "optax")
        return q_network_policy(game, *network, entry_of(game.name).learning.get("temperature", 0) > 0)
    from punish_fast.games.learn.qlearning import trained_table

    return table_policy(*trained_table(game))


def levels_of(game: Game) -> list[str]:
    """Return the available levels. ``trained`` requires JAX if the game has a network, otherwise an oracle."""
    is_exact, has_network = entry_of(game.name).oracle is not None, file_of(game).exists()
    has_trained = are_installed("jax", "optax") if has_network else is_exact
    return [level for level in (LEVELS if is_exact else CARD_LEVELS) if level != "trained" or has_trained]


def table_policy(positions: Positions, policy: np.ndarray) -> GamePolicy:
    """Return a policy from ``policy``, the probability of each row in ``positions``, float64 ``[n_rows]``."""
    return lambda state: policy[positions.rows_of(state)]


def q_network_policy(game: Game, architecture: Architecture, weights: np.ndarray, is_mixed: bool = False) -> GamePolicy:
    """Return the policy of a deep Q-network.

    Args:
        is_mixed: True for softmax at `PLAY_TEMPERATURE`, False for the best legal action.
    """

    def values(state: Any) -> np.ndarray:
        return np.asarray(evaluate(architecture, weights, game.features(state)[np.newaxis])[0])

    return _valued_policy(game, values, is_mixed)


def muzero_policy(learner: "MuZeroLearner") -> GamePolicy:
    """Return the policy of a trained MuZero learner, with its method's number of simulations per move."""
    vector, values = cast(VectorBoardGame, learner.vector), learner.values_of(learner.weights)
    return _valued_policy(vector.game, lambda state: values(vector.pack([state]))[0])


def _valued_policy(game: Game, values: Callable[[Any], np.ndarray], is_mixed: bool = False) -> GamePolicy:
    """Return a policy from ``values``, a function from a state to the values of all actions, ``[n_moves]``."""

    def choices(state: object) -> np.ndarray:
        known = values(state)[list(game.actions(state))]
        if is_mixed:
            mixed = softmax(known[np.newaxis], np.ones((1, len(known)), dtype=np.bool_), PLAY_TEMPERATURE)
            return np.asarray(mixed[0])
        return np.asarray(np.arange(len(known)) == known.argmax())

    return choices


def file_policy(path: Path, game: Game | None = None) -> tuple[Game, GamePolicy]:
    """Return the game and the policy of the table or network stored in a file."""
    from punish_fast.games.learn.agent_file import load_agent
    from punish_fast.games.learn.muzero.learner import MuZeroLearner
    from punish_fast.games.learn.qlearning import QLearner

    agent = load_agent(path, game)
    found = agent.game
    if isinstance(agent, QLearner):
        return found, table_policy(agent.positions, agent.policy())
    if isinstance(agent, MuZeroLearner):
        return found, muzero_policy(agent)
    is_mixed = agent.method.temperature > 0
    return found, q_network_policy(found, agent.shape, agent.weights, is_mixed)

"""Training of agents, and files from which training resumes.

Arrays:
    q (learner, n_tables, n_rows): Values of the actions. `n_tables` is 2.
    visits (learner, n_tables, n_rows): Number of updates of each value.
    weights (network and muzero, n_weights): Weights of the network.
    target (network, n_weights): Weights of the target network.
    momentum (network and muzero, n_weights): Momentum of the optimizer Adam.
    variance (network and muzero, n_weights): Variance of the optimizer Adam.
    snapshots (network and muzero, n_snapshots, n_weights): Weights at the points of the learning curve.
    action (network and muzero, n_games, n_plies): Actions of the latest games, the oldest first. -1 after their end.
    is_random (muzero, n_games, n_plies): 1 if an action was not the one chosen by its search.
    value (muzero, n_games, n_plies): Value of each position according to its search.
    policy (muzero, n_games, n_plies, n_moves): Policy in each position according to its search.
    points (league, n_agents, n_agents): Points of the row's agent against the column's agent. The header lists the
        names in `agents`.
"""

import json
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from punish_fast.games.contract import Game, GameError, VectorBoardGame
from punish_fast.games.enumeration.positions import Positions, enumerate_positions
from punish_fast.games.episodes import EpisodeError
from punish_fast.games.learn.dqn import DqnLearner
from punish_fast.games.learn.hyperparameters import LearnError
from punish_fast.games.learn.muzero.learner import MuZeroLearner
from punish_fast.games.learn.qlearning import QLearner, learner_of
from punish_fast.games.learn.strength import ExactStrength
from punish_fast.games.learn.trainer import NetworkTrainer
from punish_fast.games.registry import describe, game_of, in_words, vector_game
from punish_fast.runtime.errors import ReadError
from punish_fast.store.bundles import load_bundle, save_bundle

Trainer = QLearner | NetworkTrainer
_NETWORKS = {each.kind: each for each in (DqnLearner, MuZeroLearner)}
LAYOUTS = {each.kind: each.layout for each in (QLearner, *_NETWORKS.values())}

_T = TypeVar("_T", QLearner, DqnLearner, MuZeroLearner, NetworkTrainer)


def train(trainer: Trainer, strength: Any, on_round: Callable[[], None] | None = None) -> float:
    """Train until all planned games are played, and return the time spent in training rounds, in seconds.

    ``on_round`` is called after each round. Training stops if ``on_round`` raises an exception or the user interrupts
    the program. It resumes with the next call of `train`. ``strength`` is passed to `add_point`: `PerfectPlay` for
    tabular agents, `strength.Strength` for networks.
    """
    seconds = 0.0
    _settle(trainer, strength)
    while trainer.games < trainer.games_wanted:
        begin = time.perf_counter()
        trainer.learn_round()
        seconds += time.perf_counter() - begin
        _settle(trainer, strength)
        if on_round is not None:
            on_round()
    # The last point of the learning curve is missing if a time limit was reached.
    _settle(trainer, strength)
    return seconds


def _settle(trainer: Trainer, strength: Any) -> None:
    """Add a point to the learning curve if one is due and has not been added yet."""
    if trainer.is_point and not (trainer.curve and trainer.curve[-1]["games"] == trainer.games):
        trainer.add_point(strength)


def save_agent(path: Path, agent: Trainer, **notes: Any) -> None:
    """Write an agent file atomically. ``notes`` are JSON values for human readers."""
    header = {"game": describe(agent.game), "learner": agent.to_mapping(), "notes": notes}
    save_bundle(path, agent.kind, header, agent.arrays)


def load_agent(path: Path, game: Game | None = None) -> QLearner | DqnLearner | MuZeroLearner:
    """Read an agent from a file. Raise `ReadError` if the file is invalid or the agent does not play ``game``.

    By default, agents of all games are accepted.
    """
    header, arrays = load_bundle(path, LAYOUTS)
    try:
        found = game_of(header["game"])
        if game is not None and describe(found) != describe(game):
            raise ReadError(f"{path}: its game is {in_words(found)}, not {in_words(game)}")
        if header["kind"] == QLearner.kind:
            return learner_of(positions_of(found), header["learner"], arrays)
        return _NETWORKS[header["kind"]].of(vector_game(found), header["learner"], arrays)
    except (GameError, LearnError, EpisodeError) as error:
        raise ReadError(f"{path}: {error}") from None
    # Invalid headers can cause exceptions of many types.
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
        raise ReadError(f"{path}: header: invalid") from None


def load_as(path: Path, wanted: type[_T], game: Game | None = None) -> _T:
    """Read an agent with `load_agent`. Raise `ReadError` if the agent is not an instance of ``wanted``."""
    agent = load_agent(path, game)
    if not isinstance(agent, wanted):
        raise ReadError(f"{path}: kind: {agent.kind!r}, must be {wanted.kind!r}")
    return agent


def positions_of(game: Game) -> Positions:
    """Return the positions of a game. The positions of the four most recently used games are cached."""
    return _positions_of(json.dumps(describe(game)))


@lru_cache(maxsize=4)
def _positions_of(description: str) -> Positions:
    return enumerate_positions(game_of(json.loads(description)))


def load_policies(path: Path, game: Game) -> tuple[Positions, dict[int | None, np.ndarray]]:
    """Return the positions of a game and the policies of an agent in a file.

    If the agent is a network, positions are not folded. Policies, float64 ``[n_rows]``, are keyed by number of
    simulations (see `NetworkTrainer.value_functions`). If a network chooses an illegal action in a position, the
    probabilities of all actions are 0.
    """
    agent = load_agent(path, game)
    if isinstance(agent, QLearner):
        return agent.positions, {None: agent.policy()}
    strength = ExactStrength(cast(VectorBoardGame, agent.vector))
    policies = {n: strength.policy(values, agent.keeps_rules) for n, values in agent.value_functions().items()}
    return strength.positions, policies

"""Agents that learned a game, in files, together with the game and everything that further learning depends on."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from punish_fast.games.contract import Game, GameError, TableGame, VectorBoardGame
from punish_fast.games.learn.dqn import DqnLearner, dqn_of
from punish_fast.games.learn.episodes import EpisodeError
from punish_fast.games.learn.hyperparameters import LearnError
from punish_fast.games.learn.movers import Values
from punish_fast.games.learn.muzero.learner import MuZeroLearner, muzero_of
from punish_fast.games.learn.qlearning import QLearner, learner_of
from punish_fast.games.learn.strength import live_states, network_policy
from punish_fast.games.learn.trainer import NetworkTrainer, Trainer
from punish_fast.games.registry import describe, game_of, in_words, vectorise
from punish_fast.games.solve.positions import Positions, enumerate_positions
from punish_fast.runtime.files import ReadError
from punish_fast.store.bundles import load_bundle, save_bundle

# Simulations of the searches by which MuZero is judged; 0 is the policy alone.
JUDGED_SIMULATIONS = (0, 25, 100)

_NETWORK = dict.fromkeys(("weights", "momentum", "variance"), ("float32", 1)) | {
    "snapshots": ("float32", 2),
    "action": ("int16", 2),  # actions of the latest games, the oldest first; -1 after the end
}
LAYOUTS = {
    QLearner.kind: {"q": ("float64", 2), "visits": ("int64", 2)},
    DqnLearner.kind: _NETWORK | {"target": ("float32", 1)},
    MuZeroLearner.kind: _NETWORK | {"is_random": ("uint8", 2), "value": ("float32", 2), "policy": ("float16", 3)},
}

_T = TypeVar("_T", bound=Trainer)


def save_agent(path: Path, agent: Trainer, **notes: Any) -> None:
    """Write an agent, whole or not at all; ``notes`` are JSON values for people."""
    header = {"game": describe(agent.game), "learner": agent.to_mapping(), "notes": notes}
    save_bundle(path, agent.kind, header, agent.arrays)


def load_agent(path: Path, game: Game | None = None) -> QLearner | DqnLearner | MuZeroLearner:
    """Read an agent, of any game if ``game`` is None."""
    header, arrays = load_bundle(path, LAYOUTS)
    try:
        found = game_of(header["game"])
        if game is not None and describe(found) != describe(game):
            raise ReadError(f"{path}: its game is {in_words(found)}, not {in_words(game)}")
        if header["kind"] == QLearner.kind:
            return learner_of(positions_of(found), header["learner"], arrays)
        make = dqn_of if header["kind"] == DqnLearner.kind else muzero_of
        return make(vectorise(found), header["learner"], arrays)
    except (GameError, LearnError, EpisodeError) as error:
        raise ReadError(f"{path}: {error}") from None
    # A forged header can fail in many ways.
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
        raise ReadError(f"{path}: header: invalid") from None


def load_as(path: Path, wanted: type[_T], game: Game | None = None) -> _T:
    """Read an agent of a class; other arguments and errors as in `load_agent`."""
    agent = load_agent(path, game)
    if not isinstance(agent, wanted):
        raise ReadError(f"{path}: kind: {agent.kind!r}, must be {wanted.kind!r}")
    return agent


def positions_of(game: TableGame) -> Positions:
    """Return the positions of a game, which are kept for the next call."""
    return _positions_of(json.dumps(describe(game)))


@lru_cache(maxsize=4)
def _positions_of(description: str) -> Positions:
    return enumerate_positions(game_of(json.loads(description)))


def load_policies(path: Path, game: Game) -> tuple[Positions, dict[int | None, np.ndarray]]:
    """Read the policy of an agent, be it a table or a network.

    Returns:
        The positions that it tells apart (a network knows no symmetries), and its policies there, float64 ``[n_rows]``,
        by simulations as in `judged_values`, all 0 where a network that may break the rules does.
    """
    agent = load_agent(path, game)
    if isinstance(agent, QLearner):
        return agent.positions, {None: agent.policy()}
    positions, policies = enumerate_positions(game, is_folded=False), {}
    states = live_states(cast(VectorBoardGame, agent.vector), positions)
    for simulations, values in judged_values(agent).items():
        policy, is_illegal = network_policy(positions, values(states))
        if not agent.keeps_rules:
            policy[is_illegal[positions.position_of_row]] = 0.0
        policies[simulations] = policy
    return positions, policies


def judged_values(agent: NetworkTrainer) -> dict[int | None, Values]:
    """Return the values by which an agent is judged: of MuZero by `JUDGED_SIMULATIONS`, of others by None."""
    if isinstance(agent, MuZeroLearner):
        return {simulations: agent.values_of(agent.weights, simulations) for simulations in JUDGED_SIMULATIONS}
    return {None: agent.values_of(agent.weights)}

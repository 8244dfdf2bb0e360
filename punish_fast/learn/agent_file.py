"""Q-learners in files, together with the game that they learned, and how any agent of a file plays."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np

from punish_fast.games.contract import Game, GameError, TableGame, VectorBoardGame
from punish_fast.games.positions import Positions, enumerate_positions
from punish_fast.games.registry import describe, game_of, in_words
from punish_fast.learn.dqn import DqnLearner
from punish_fast.learn.movers import Values
from punish_fast.learn.muzero.checkpoint import load_muzero
from punish_fast.learn.muzero.learner import MuZeroLearner
from punish_fast.learn.network_file import load_dqn
from punish_fast.learn.qlearning import LearnError, QLearner, learner_of
from punish_fast.learn.strength import live_states, network_policy
from punish_fast.runtime.files import ReadError
from punish_fast.store import schema
from punish_fast.store.learners import load_learner, save_learner
from punish_fast.store.sealed_file import SealedFile

# Simulations of the searches by which MuZero is judged; 0 is the policy alone.
JUDGED_SIMULATIONS = (0, 25, 100)


def save_checkpoint(path: Path, game: Game, learner: QLearner, **notes: Any) -> None:
    """Write a learner, whole or not at all.

    Args:
        path: The file.
        game: The game of the learner.
        learner: The learner.
        **notes: JSON values to store with it, for people.

    Raises:
        OutputError: The file cannot be written there.
        WriteError: Writing failed.
    """
    save_learner(path, describe(game), learner.to_mapping() | notes, learner.q, learner.visits)


def load_checkpoint(path: Path, game: Game | None = None) -> tuple[TableGame, QLearner]:
    """Read a learner and its game.

    Args:
        path: The file.
        game: The game that it must have; None for any.

    Raises:
        ReadError: The file is not readable, not a learner, or of another game.
    """
    file = load_learner(path)
    try:
        found, learner = game_of(file.game), learner_of(file.learner, file.q, file.visits)
    except (GameError, LearnError) as error:
        raise ReadError(f"{path}: {error}") from None
    if game is not None and describe(found) != describe(game):
        raise ReadError(f"{path}: its game is {in_words(found)}, not {in_words(game)}")
    return found, learner


def load_policies(path: Path, game: Game) -> tuple[Positions, dict[int | None, np.ndarray]]:
    """How the agent of a file plays, be it a table or a network.

    Args:
        path: The file.
        game: The game that it must have.

    Returns:
        The positions that it tells apart (a network knows no symmetries), and its policies there, float64 ``[n_rows]``,
        by simulations as in `judged_values`, all 0 where a network that may break the rules does.

    Raises:
        ReadError: The file is not readable, not an agent, or of another game.
        GameError: The game has too many positions.
        ExtraError: It is a network, and JAX is not installed.
    """
    network = load_network_learner(path, game)
    if network is None:
        learner = load_checkpoint(path, game)[1]
        positions = enumerate_positions(game)
        return positions, {None: learner.policy(positions)}
    positions, policies = enumerate_positions(game, is_folded=False), {}
    states = live_states(cast(VectorBoardGame, network.vector), positions)
    for simulations, values in judged_values(network).items():
        policy, is_illegal = network_policy(positions, values(states))
        if not network.keeps_rules:
            policy[is_illegal[positions.position_of_row]] = 0.0
        policies[simulations] = policy
    return positions, policies


def judged_values(learner: DqnLearner | MuZeroLearner) -> dict[int | None, Values]:
    """The values of actions by which a learner is judged: of MuZero by `JUDGED_SIMULATIONS`, of others by None."""
    if isinstance(learner, MuZeroLearner):
        return {simulations: learner.values_of(learner.weights, simulations) for simulations in JUDGED_SIMULATIONS}
    return {None: learner.values_of(learner.weights)}


def load_network_learner(path: Path, game: Game | None = None) -> DqnLearner | MuZeroLearner | None:
    """Read a learner with a network, or None if the file has another kind of learner.

    Args:
        path: The file.
        game: The game that it must have; None for any.

    Raises:
        ReadError: The file is not readable, not a learner, or of another game.
    """
    kind = SealedFile(path).kind
    if kind == schema.NETWORK:
        return load_dqn(path, game)
    return load_muzero(path, game) if kind == schema.MUZERO else None

"""Q-learners in files, together with the game that they learned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from punish_fast.games.contract import Game, GameError
from punish_fast.games.registry import describe, game_of
from punish_fast.learn.qlearning import LearnError, QLearner, learner_of
from punish_fast.runtime.files import ReadError
from punish_fast.store.learners import load_learner, save_learner


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


def load_checkpoint(path: Path, game: Game | None = None) -> tuple[Game, QLearner]:
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
        raise ReadError(f"{path}: its game is {describe(found)}, not {describe(game)}")
    return found, learner

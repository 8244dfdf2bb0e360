"""Learners in files, with the game that they have learned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from punish_fast.games.contract import Game, GameError
from punish_fast.games.registry import describe, game_of
from punish_fast.learn.qlearning import Learner, LearnError, learner_of
from punish_fast.runtime.files import ReadError
from punish_fast.store.learners import load_learner, save_learner


def keep(path: Path, game: Game, learner: Learner, **notes: Any) -> None:
    """Write a learner, whole or not at all.

    Args:
        path: The file.
        game: What it has learned.
        learner: The learner.
        **notes: What else to say of it, JSON-like; nobody reads it here.

    Raises:
        OutputError: nothing can be written there.
        WriteError: it could not be written to its end.
    """
    save_learner(path, describe(game), learner.to_mapping() | notes, learner.q, learner.visits)


def fetch(path: Path) -> tuple[Game, Learner]:
    """Read a learner and its game.

    Raises:
        ReadError: the file cannot be read, or holds something else.
    """
    file = load_learner(path)
    try:
        return game_of(file.game), learner_of(file.learner, file.q, file.visits)
    except (GameError, LearnError) as error:
        raise ReadError(f"{path}: {error}") from None


def fetch_for(path: Path, game: Game) -> Learner:
    """Read a learner of a game.

    Raises:
        ReadError: the file cannot be read, or belongs to another game.
    """
    found, learner = fetch(path)
    if describe(found) != describe(game):
        raise ReadError(f"{path}: belongs to {describe(found)}, but the game is {describe(game)}")
    return learner

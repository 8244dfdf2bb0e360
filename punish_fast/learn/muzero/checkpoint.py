"""MuZero learners in files, together with the game that they learn and all that further learning depends on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.games.contract import Game, VectorGame
from punish_fast.games.registry import describe
from punish_fast.learn.episodes import NONE
from punish_fast.learn.muzero.learner import MuZeroLearner
from punish_fast.learn.muzero.method import MuZeroMethod, check_game
from punish_fast.learn.muzero.search import shape_of
from punish_fast.learn.muzero.self_play import SearchedGames, empty_games
from punish_fast.learn.network_file import check_names, hyperparameters_of, learner_in_file, progress_of
from punish_fast.learn.qlearning import LearnError
from punish_fast.store.networks import MuZeroFile, load_muzero_file, save_network


def save_muzero(path: Path, learner: MuZeroLearner) -> None:
    """Write a learner, whole or not at all.

    Raises:
        OutputError: The file cannot be written there.
        WriteError: Writing failed.
    """
    n_plies = max((games.action.shape[1] for games in learner.memory), default=0)
    games = empty_games(len(learner.memory) * learner.method.games, n_plies, learner.vector.n_moves)
    for number, part in enumerate(learner.memory):
        rows = slice(number * learner.method.games, (number + 1) * learner.method.games)
        for into, array in zip(games, part, strict=True):
            into[rows, : array.shape[1]] = array
    content = MuZeroFile(
        game=describe(learner.vector.game),
        learner=learner.to_mapping(),
        weights=learner.weights,
        momentum=learner.momentum,
        variance=learner.variance,
        snapshots=np.array(learner.snapshots, dtype=np.float32).reshape(-1, len(learner.weights)),
        action=games.action,
        is_random=games.is_random.astype(np.uint8),
        value=games.value,
        policy=games.policy,
    )
    save_network(path, content)


def load_muzero(path: Path, game: Game | None = None) -> MuZeroLearner:
    """Read a learner.

    Args:
        path: The file.
        game: The game that it must have; None for any.

    Raises:
        ReadError: The file is not readable, not a learner of MuZero, or of another game.
    """
    return learner_in_file(path, game, load_muzero_file(path), _learner_of)


def _learner_of(vector: VectorGame, file: MuZeroFile) -> MuZeroLearner:
    """The learner of a file.

    Raises:
        LearnError, EpisodeError: The values are not those of a learner.
    """
    check_names(file.learner)
    method = muzero_method_of(file.learner["method"])
    check_game(vector, method)
    progress = progress_of(vector, file, method, shape_of(vector, method).n_weights)
    if file.policy.shape[2] != vector.n_moves:
        raise LearnError(f"policy: it has {file.policy.shape[2]} actions, the game {vector.n_moves}")
    games = SearchedGames(file.action, file.is_random.astype(np.bool_), file.value, file.policy)
    rounds = [slice(begin, begin + method.games) for begin in range(0, len(games.action), method.games)]
    return MuZeroLearner(
        vector=vector,
        method=method,
        weights=file.weights,
        momentum=file.momentum,
        variance=file.variance,
        memory=[_trimmed(SearchedGames(*(array[rows] for array in games))) for rows in rounds],
        snapshots=list(file.snapshots),
        **progress,
    )


def _trimmed(games: SearchedGames) -> SearchedGames:
    """Games without the plies that none of them has."""
    n_plies = int((games.action != NONE).sum(axis=1).max(initial=0))
    return SearchedGames(*(array[:, :n_plies] for array in games))


def muzero_method_of(mapping: Any) -> MuZeroMethod:
    """The hyperparameters of a mapping, as `dataclasses.asdict` makes it, with lists for tuples.

    Raises:
        LearnError: The mapping holds something else.
    """
    return MuZeroMethod(**hyperparameters_of(mapping, MuZeroMethod, ("filters",)))

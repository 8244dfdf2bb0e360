"""Deep Q-networks in files, together with the game that they learn and all that further learning depends on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from punish_fast.games.contract import Game, GameError, VectorGame
from punish_fast.games.registry import describe, game_of, in_words, vectorise
from punish_fast.learn.dqn import DqnLearner, DqnMethod, check_method
from punish_fast.learn.episodes import NONE, EpisodeError
from punish_fast.learn.muzero.method import MuZeroMethod
from punish_fast.learn.qlearning import LAST_SEED, MAX_GAMES, LearnError
from punish_fast.learn.strength import SEATS
from punish_fast.runtime.files import ReadError
from punish_fast.runtime.json_values import brief, is_number, is_whole
from punish_fast.store.networks import MuZeroFile, NetworkFile, load_network, save_network

_ENDINGS = ("win", "draw", "loss", "illegal")
_SHARES = ("epsilon", "win_share", "draw_share", "loss_share")
# Shares are sums, so they may be off by rounding.
_MOST = 1 + 1e-9
_PROGRESS = ("seed", "rounds", "wanted", "curve")

_Content = TypeVar("_Content", NetworkFile, MuZeroFile)
_Learner = TypeVar("_Learner")


def save_dqn(path: Path, learner: DqnLearner) -> None:
    """Write a learner, whole or not at all.

    Raises:
        OutputError: The file cannot be written there.
        WriteError: Writing failed.
    """
    n_games, n_plies = learner.method.games, max((action.shape[1] for action in learner.memory), default=0)
    action = np.full((len(learner.memory), n_games, n_plies), NONE, dtype=np.int16)
    for padded, played in zip(action, learner.memory, strict=True):
        padded[:, : played.shape[1]] = played
    content = NetworkFile(
        game=describe(learner.vector.game),
        learner=learner.to_mapping(),
        weights=learner.weights,
        target=learner.target,
        momentum=learner.momentum,
        variance=learner.variance,
        snapshots=np.array(learner.snapshots, dtype=np.float32).reshape(-1, len(learner.weights)),
        action=action.reshape(len(learner.memory) * n_games, n_plies),
    )
    save_network(path, content)


def load_dqn(path: Path, game: Game | None = None) -> DqnLearner:
    """Read a learner.

    Args:
        path: The file.
        game: The game that it must have; None for any.

    Raises:
        ReadError: The file is not readable, not a network, or of another game.
    """
    return learner_in_file(path, game, load_network(path), _learner_of)


def learner_in_file(
    path: Path, game: Game | None, file: _Content, learner_of: Callable[[VectorGame, _Content], _Learner]
) -> _Learner:
    """The learner of the content of a file, by a function that makes it.

    Raises:
        ReadError: It is none, or of another game.
    """
    try:
        found = game_of(file.game)
        if game is not None and describe(found) != describe(game):
            raise ReadError(f"{path}: its game is {in_words(found)}, not {in_words(game)}")
        return learner_of(vectorise(found), file)
    except (GameError, LearnError, EpisodeError) as error:
        raise ReadError(f"{path}: {error}") from None


def _learner_of(vector: VectorGame, file: NetworkFile) -> DqnLearner:
    """The learner of a file.

    Raises:
        LearnError, EpisodeError: The values are not those of a learner.
    """
    check_names(file.learner)
    method = dqn_method_of(file.learner["method"])
    progress = progress_of(vector, file, method, check_method(vector, method).n_weights)
    n_remembered, n_plies = min(progress["rounds"], method.memory), file.action.shape[1]
    return DqnLearner(
        vector=vector,
        method=method,
        weights=file.weights,
        target=file.target,
        momentum=file.momentum,
        variance=file.variance,
        memory=[_trimmed(played) for played in file.action.reshape(n_remembered, method.games, n_plies)],
        snapshots=list(file.snapshots),
        **progress,
    )


def check_names(mapping: dict[str, Any]) -> None:
    """Check what the description of a learner has.

    Raises:
        LearnError: Something is missing or not allowed.
    """
    if sorted(mapping) != sorted(("method", *_PROGRESS)):
        raise LearnError(f"learner: {brief(mapping)} is not allowed, it must have {', '.join(('method', *_PROGRESS))}")


def progress_of(
    vector: VectorGame, file: NetworkFile | MuZeroFile, method: DqnMethod | MuZeroMethod, n_weights: int
) -> dict[str, Any]:
    """How far the learner of a file is: its ``seed``, ``rounds``, ``wanted`` and ``curve``.

    Raises:
        LearnError: They are impossible, or the arrays are not those of so many rounds.
    """
    progress = {name: file.learner[name] for name in _PROGRESS}
    seed, rounds, wanted, curve = progress.values()
    if not (is_whole(seed, 0, LAST_SEED) and is_whole(wanted, 0, MAX_GAMES) and is_whole(rounds, 0, wanted)):
        raise LearnError("learner: its numbers are impossible")
    if len(file.weights) != n_weights:
        raise LearnError(f"learner: it has {len(file.weights):,} weights, its method {n_weights:,}")
    if not (isinstance(curve, list) and len(curve) == len(file.snapshots)):
        raise LearnError(f"curve: it has not a point for each of {len(file.snapshots)} snapshots")
    _check_curve(curve, rounds * method.games, SEATS[: vector.game.n_players])
    n_remembered, (n_games, n_plies) = min(rounds, method.memory), file.action.shape
    if n_games != n_remembered * method.games or n_plies > method.max_plies:
        raise LearnError(f"action: {n_games:,} games of {n_plies} plies are not those of the latest rounds")
    return progress


def _trimmed(action: np.ndarray) -> np.ndarray:
    """Games without the plies that none of them has."""
    return action[:, : int((action != NONE).sum(axis=1).max(initial=0))]


def dqn_method_of(mapping: Any) -> DqnMethod:
    """The hyperparameters of a mapping, as `dataclasses.asdict` makes it, with lists for tuples.

    Raises:
        LearnError: The mapping holds something else.
    """
    return DqnMethod(**hyperparameters_of(mapping, DqnMethod, ("filters", "hidden")))


def hyperparameters_of(mapping: Any, method: type, layers: Sequence[str]) -> dict[str, Any]:
    """The hyperparameters of a method in a mapping, with tuples for those that are lists of layers.

    Raises:
        LearnError: The mapping has others.
    """
    names = [each.name for each in fields(method)]
    if not isinstance(mapping, dict) or sorted(mapping) != sorted(names):
        raise LearnError(f"method: {brief(mapping)} is not allowed, it must have {', '.join(names)}")
    for name in layers:
        if not isinstance(mapping[name], list):
            raise LearnError(f"{name}: {brief(mapping[name])} is not allowed, it must be a list")
    return mapping | {name: tuple(mapping[name]) for name in layers}


def _check_curve(curve: list[Any], n_games: int, seats: Sequence[str]) -> None:
    """Check the points of a learning curve of players with these seats.

    Raises:
        LearnError: One is none.
    """
    before = 0
    for number, point in enumerate(curve):
        if not (
            isinstance(point, dict)
            and is_whole(point.get("games"), before + 1, n_games)
            and _is_point(point, number, seats)
        ):
            raise LearnError(f"curve: {brief(point)} is no point of a learning curve")
        before = point["games"]


def _is_point(point: dict[str, Any], number: int, seats: Sequence[str]) -> bool:
    names = ("games", *_SHARES, *seats, "mistakes", "perfect", "earlier")
    if sorted(point) != sorted(names):
        return False
    shares = [point[name] for name in _SHARES]
    for seat in seats:
        if not isinstance(point[seat], dict) or sorted(point[seat]) != sorted(_ENDINGS):
            return False
        shares += point[seat].values()
    if not isinstance(point["earlier"], list) or len(point["earlier"]) != number:
        return False
    shares += point["earlier"] + ([] if point["perfect"] is None else [point["perfect"]])
    is_judged = point["mistakes"] is None if point["perfect"] is None else is_whole(point["mistakes"], 0, MAX_GAMES)
    return is_judged and all(is_number(share, 0, _MOST) for share in shares)

"""Networks that learn a game, in files, with all that further learning depends on: deep Q-networks, and MuZero's.

The game and the description of the learner are JSON objects that this module does not interpret. A file is whole or
absent, and a changed one is refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from punish_fast.store import schema
from punish_fast.store.sealed_file import SealedFile
from punish_fast.store.writer import sealed_file


class NetworkFile(NamedTuple):
    """The content of a file.

    Attributes:
        game: The game, a JSON object.
        learner: The description of the learner, a JSON object.
        weights: float32 ``[n_weights]``.
        target: float32 ``[n_weights]``, the weights of the target network.
        momentum: float32 ``[n_weights]``, the optimiser's mean of gradients.
        variance: float32 ``[n_weights]``, its mean of squared gradients.
        snapshots: float32 ``[n_snapshots, n_weights]``.
        action: int16 ``[n_games, n_plies]``, the actions of the latest games.
    """

    game: dict[str, Any]
    learner: dict[str, Any]
    weights: np.ndarray
    target: np.ndarray
    momentum: np.ndarray
    variance: np.ndarray
    snapshots: np.ndarray
    action: np.ndarray


class MuZeroFile(NamedTuple):
    """The content of a file of MuZero.

    Attributes:
        game: The game, a JSON object.
        learner: The description of the learner, a JSON object.
        weights: float32 ``[n_weights]``.
        momentum: float32 ``[n_weights]``, the optimiser's mean of gradients.
        variance: float32 ``[n_weights]``, its mean of squared gradients.
        snapshots: float32 ``[n_snapshots, n_weights]``.
        action: int16 ``[n_games, n_plies]``, the actions of the latest games.
        is_random: uint8 ``[n_games, n_plies]``, whether each was not the one found.
        value: float32 ``[n_games, n_plies]``, what the searches found.
        policy: float16 ``[n_games, n_plies, n_moves]``, the same.
    """

    game: dict[str, Any]
    learner: dict[str, Any]
    weights: np.ndarray
    momentum: np.ndarray
    variance: np.ndarray
    snapshots: np.ndarray
    action: np.ndarray
    is_random: np.ndarray
    value: np.ndarray
    policy: np.ndarray


_Content = TypeVar("_Content", NetworkFile, MuZeroFile)
_KINDS: dict[type, str] = {NetworkFile: schema.NETWORK, MuZeroFile: schema.MUZERO}
_REPLAY = ("action", "is_random", "value", "policy")


def save_network(path: str | Path, content: NetworkFile | MuZeroFile) -> None:
    """Write a network.

    Args:
        path: The file, replaced when the new one is whole.
        content: What to write.

    Raises:
        OutputError: The file cannot be written there.
        WriteError: Writing failed.
    """
    attributes = {"game": json.dumps(content.game), "learner": json.dumps(content.learner)}
    with sealed_file(Path(path), _KINDS[type(content)], **attributes) as out:
        for name in content._fields[2:]:
            out.array(_dataset(name), getattr(content, name))


def load_network(path: str | Path) -> NetworkFile:
    """Read a network.

    Raises:
        ReadError: The file is not readable, has changed, or is not a network; the message names the field.
    """
    return _load(path, NetworkFile)


def load_muzero_file(path: str | Path) -> MuZeroFile:
    """Read a network of MuZero.

    Raises:
        ReadError: As in `load_network`.
    """
    return _load(path, MuZeroFile)


def _load(path: str | Path, content: type[_Content]) -> _Content:
    file, kind = SealedFile(path), _KINDS[content]
    if file.kind != kind:
        raise file.error(
            "kind", f"{file.kind!r}, must be a {'network' if kind == schema.NETWORK else 'network of MuZero'}"
        )
    file.check_shapes()
    arrays = [file.array(_dataset(name)) for name in content._fields[2:]]
    return content(file.attributes["game"], file.attributes["learner"], *arrays)


def _dataset(name: str) -> str:
    return f"/{'replay' if name in _REPLAY else 'network'}/{name}"

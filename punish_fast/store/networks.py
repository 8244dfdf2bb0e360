"""Networks that learn a game, in files, with all that further learning depends on.

The game and the description of the learner are JSON objects that this module does not interpret. A file is whole or
absent, and a changed one is refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

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


_GROUPS = {name: "replay" if name == "action" else "network" for name in NetworkFile._fields[2:]}


def save_network(path: str | Path, content: NetworkFile) -> None:
    """Write a network.

    Args:
        path: The file, replaced when the new one is whole.
        content: What to write.

    Raises:
        OutputError: The file cannot be written there.
        WriteError: Writing failed.
    """
    attributes = {"game": json.dumps(content.game), "learner": json.dumps(content.learner)}
    with sealed_file(Path(path), schema.NETWORK, **attributes) as out:
        for name, group in _GROUPS.items():
            out.array(f"/{group}/{name}", getattr(content, name))


def load_network(path: str | Path) -> NetworkFile:
    """Read a network.

    Raises:
        ReadError: The file is not readable, has changed, or is not a network; the message names the field.
    """
    file = SealedFile(path)
    if file.kind != schema.NETWORK:
        raise file.error("kind", f"{file.kind!r}, must be a network")
    file.check_shapes()
    arrays = [file.array(f"/{group}/{name}") for name, group in _GROUPS.items()]
    return NetworkFile(file.json_object("game"), file.json_object("learner"), *arrays)

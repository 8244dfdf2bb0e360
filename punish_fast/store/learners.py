"""Tables of Q-learners in files.

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


class LearnerFile(NamedTuple):
    """The content of a file.

    Attributes:
        game: The game, a JSON object.
        learner: The description of the learner, a JSON object.
        q: float64 ``[n_tables, n_rows]``.
        visits: int64 ``[n_tables, n_rows]``.
    """

    game: dict[str, Any]
    learner: dict[str, Any]
    q: np.ndarray
    visits: np.ndarray


def save_learner(
    path: str | Path, game: dict[str, Any], learner: dict[str, Any], q: np.ndarray, visits: np.ndarray
) -> None:
    """Write a learner.

    Args:
        path: The file, replaced when the new one is whole.
        game: The game, a JSON object.
        learner: The description of the learner, a JSON object.
        q: float64 ``[n_tables, n_rows]``.
        visits: int64 ``[n_tables, n_rows]``.

    Raises:
        OutputError: The file cannot be written there.
        WriteError: Writing failed.
    """
    attributes = {"game": json.dumps(game), schema.LEARNER: json.dumps(learner)}
    with sealed_file(Path(path), schema.LEARNER, **attributes) as out:
        out.array("/learner/q", q)
        out.array("/learner/visits", visits)


def load_learner(path: str | Path) -> LearnerFile:
    """Read a learner.

    Raises:
        ReadError: The file is not readable, has changed, or is not a learner; the message names the field.
    """
    file = SealedFile(path)
    if file.kind != schema.LEARNER:
        raise file.error("kind", f"{file.kind!r}, must be a learner; networks need their --method")
    file.check_shapes()
    q, visits = file.array("/learner/q"), file.array("/learner/visits")
    return LearnerFile(file.attributes["game"], file.attributes["learner"], q, visits)

"""Tables of Q-learners in files.

The game and the description of the learner are JSON objects that this module does not interpret. A file is whole or
absent, and a changed one is refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np

from punish_fast.runtime.files import ReadError
from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.store import layout
from punish_fast.store.checksum import check_seal
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
    attributes = {"game": json.dumps(game), layout.LEARNER: json.dumps(learner)}
    with sealed_file(Path(path), layout.LEARNER, **attributes) as out:
        out.tables(q, visits)


@uninterrupted()
def load_learner(path: str | Path) -> LearnerFile:
    """Read a learner.

    Raises:
        ReadError: The file is not readable, has changed, or is not a learner; the message names the field.
    """
    path = Path(path)
    if not path.is_file():
        raise ReadError(f"{path}: there is no such file")
    check_seal(path)
    try:
        with h5py.File(path, "r") as file:
            attributes = {name: _text(file.attrs.get(name)) for name in ("kind", "game", layout.LEARNER)}
            version = file.attrs.get("format_version")
            found = {name: file[name][...] for name in ("/learner/q", "/learner/visits") if name in file}
    except Exception as error:
        raise ReadError(f"{path}: not a readable HDF5 file ({error})") from None
    if attributes["kind"] != layout.LEARNER:
        raise ReadError(f"{path}: kind: {attributes['kind']!r}, must be a learner")
    if version != layout.FORMAT_VERSION:
        raise ReadError(f"{path}: format_version: {version} is not known, allowed is {layout.FORMAT_VERSION}")
    game, learner = (_object(path, name, attributes[name]) for name in ("game", layout.LEARNER))
    q, visits = (_table(path, name, found.get(name)) for name in ("/learner/q", "/learner/visits"))
    if q.shape != visits.shape:
        raise ReadError(f"{path}: /learner/visits: shape is {visits.shape}, must be {q.shape}")
    return LearnerFile(game, learner, q, visits)


def _object(path: Path, name: str, text: str | None) -> dict[str, Any]:
    try:
        value = json.loads(text or "null")
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ReadError(f"{path}: {name}: not a JSON object")
    return value


def _table(path: Path, name: str, array: np.ndarray | None) -> np.ndarray:
    if array is None:
        raise ReadError(f"{path}: {name}: missing")
    dtype = layout.LEARNER_DTYPES[name]
    if array.dtype != np.dtype(dtype) or array.ndim != 2:
        raise ReadError(f"{path}: {name}: {array.dtype} {array.shape}, allowed is {dtype} in two dimensions")
    return array


def _text(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else value

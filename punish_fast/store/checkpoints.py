"""What an equilibrium needs to go on later as if it had never stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from punish_fast.punish.information_space import States
from punish_fast.store.files import ReadError
from punish_fast.store.reader import Artefact
from punish_fast.store.writer import new_file

TABLES = ("regret", "last_regret", "total", "dealt", "nodes")


def save_checkpoint(path: Path, space: States, iterations: int, tables: dict[str, np.ndarray]) -> None:
    """Write the state of an equilibrium: its tables, by the names in ``TABLES``.

    Raises:
        WriteError: writing failed; what was there before still is.
    """
    with new_file(path, "equilibrium", space.rules, information=space.information.name, iterations=iterations) as out:
        for name in TABLES:
            out.array(f"/equilibrium/{name}", tables[name])


def load_checkpoint(file: Artefact, shapes: dict[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """The tables of an equilibrium, of the given shapes.

    Raises:
        ReadError: the file is no equilibrium, is damaged, or of another game.
    """
    if file.kind != "equilibrium":
        raise ReadError(f"{file.path}: kind: {file.kind!r}, but an equilibrium is needed")
    tables = {name: file.array(f"/equilibrium/{name}", shapes[name]) for name in TABLES}
    for name, table in tables.items():
        if not np.isfinite(table).all():
            raise ReadError(f"{file.path}: /equilibrium/{name}: a number is not finite")
    return tables

"""Checkpoints of equilibria: all that is needed to resume as if the run had not stopped."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from punish_fast.equilibrium._restricted_game import NEEDED
from punish_fast.punish.space import StateSpace
from punish_fast.runtime.files import ReadError
from punish_fast.store.reader import Artefact
from punish_fast.store.writer import new_file

# Probabilities are sums, so they may be off by rounding; the exponentials of logits are finite.
_PROBABILITY = (-1e-9, 1 + 1e-9)
_RANGES = {
    "total": (0.0, np.inf),
    "regret": (0.0, np.inf),
    "logit": (-np.inf, 700.0),
    "dealt": (0.0, np.inf),
    "answer_dealt": (0.0, np.inf),
} | dict.fromkeys(("nodes", "values", "answer_nodes", "answer_values"), _PROBABILITY)


class Checkpoint(NamedTuple):
    """An equilibrium at some time.

    Attributes:
        iterations: How many were made.
        answers: The share of games against an answer.
        tables: All its tables, by name.
    """

    iterations: int
    answers: float
    tables: dict[str, np.ndarray]


def save_checkpoint(path: Path, space: StateSpace, checkpoint: Checkpoint) -> None:
    """Write the state of an equilibrium.

    Raises:
        WriteError: writing failed.
    """
    kept = {"iterations": checkpoint.iterations, "answers": checkpoint.answers}
    with new_file(path, "equilibrium", space.rules, information=space.information.name, **kept) as out:
        for name, table in checkpoint.tables.items():
            out.array(f"/equilibrium/{name}", table)


def _check_ranges(path: Path, tables: dict[str, np.ndarray]) -> None:
    for name, table in tables.items():
        if not np.isfinite(table).all():
            raise ReadError(f"{path}: /equilibrium/{name}: a number is not finite")
        least, most = _RANGES.get(name, (-np.inf, np.inf))
        if len(table) and not least <= table.min() <= table.max() <= most:
            raise ReadError(f"{path}: /equilibrium/{name}: a number is not from {least:g} to {most:g}")


def load_checkpoint(file: Artefact, begin: dict[str, np.ndarray]) -> Checkpoint:
    """The state of an equilibrium whose tables were those of `begin` when it had just begun.

    Raises:
        ReadError: the file is no equilibrium, is damaged, or of another game.
    """
    if file.kind != "equilibrium":
        raise ReadError(f"{file.path}: kind: {file.kind!r}, but an equilibrium is needed")
    tables = {name: file.array(f"/equilibrium/{name}", table.shape) for name, table in begin.items()}
    _check_ranges(file.path, tables)
    if "variance" in tables and not (tables["variance"] > 0).all():
        raise ReadError(f"{file.path}: /equilibrium/variance: a number is not above 0")
    for name in ("marked_rows", "marked_full"):
        most = tables[name].max(initial=0) if name in tables else 0
        if most > NEEDED:
            raise ReadError(f"{file.path}: /equilibrium/{name}: a mark is {most}, allowed are 0 to {NEEDED}")
    if "answer" in tables:
        # It begins with the first row of each state.
        first, chosen = begin["answer"], tables["answer"]
        if not ((first <= chosen) & (chosen < np.append(first[1:], len(begin["total"])))).all():
            raise ReadError(f"{file.path}: /equilibrium/answer: a row is not one of its state")
        marked = tables["marked_rows"]
        if not (marked[chosen] >= np.maximum.reduceat(marked, first)).all():
            raise ReadError(f"{file.path}: /equilibrium/marked_rows: what the answer does is not marked")
    return Checkpoint(file.attributes["iterations"], file.attributes["answers"], tables)

"""Checkpoints of the equilibrium solver, from which a run can be resumed."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from punish_fast.punish.states.space import StateSpace
from punish_fast.runtime.errors import ReadError
from punish_fast.store.reader import Artefact
from punish_fast.store.writer import new_file


class Checkpoint(NamedTuple):
    """State of the equilibrium solver after some iterations."""

    iterations: int
    best_response_share: float  # share of games that are played against a best response
    tables: dict[str, np.ndarray]  # the solver's arrays, by name


def save_checkpoint(path: Path, space: StateSpace, checkpoint: Checkpoint) -> None:
    """Write a checkpoint file."""
    kept = {"iterations": checkpoint.iterations, "best_response_share": checkpoint.best_response_share}
    with new_file(path, "equilibrium", space.rules, information=space.information.name, **kept) as out:
        for name, table in checkpoint.tables.items():
            out.array(f"/equilibrium/{name}", table)


def load_checkpoint(file: Artefact, begin: dict[str, np.ndarray]) -> Checkpoint:
    """Load a checkpoint; its tables must have the names and shapes of the initial tables ``begin``."""
    if file.kind != "equilibrium":
        raise ReadError(f"{file.path}: kind: {file.kind!r}; it must be 'equilibrium'")
    # Check all shapes before reading any table.
    for name, table in begin.items():
        file.must_have_shape(f"/equilibrium/{name}", table.shape)
    tables = {name: file.array(f"/equilibrium/{name}") for name in begin}
    if "response" in tables:
        # The initial response contains the first row of each state.
        first, response, marked = begin["response"], tables["response"], tables["marked_rows"]
        if (response < first).any() or (response >= np.append(first[1:], len(begin["total"]))).any():
            raise file.error("/equilibrium/response", "must be rows of their states")
        if (marked[response] < np.maximum.reduceat(marked, first)).any():
            raise file.error("/equilibrium/marked_rows", "must mark the rows of the response")
    return Checkpoint(file.attributes["iterations"], file.attributes["best_response_share"], tables)

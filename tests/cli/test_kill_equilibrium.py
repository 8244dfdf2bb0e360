"""``equilibrium`` killed or interrupted at any instant: the checkpoint is whole, and the resumed run ends the same.

A checkpoint is written after every iteration, so that most of the time is spent writing them. Most iterations play a
restricted game, as in games large enough for it to pay.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from cli.killing import (
    POINTS,
    WITH_JIT,
    end,
    leftovers,
    start_dying,
)
from punish_fast.duel.graph import Graph
from punish_fast.equilibrium import regret_minimisers, restricted_game
from punish_fast.equilibrium import run as run_module
from punish_fast.equilibrium.solver import Equilibrium
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.runtime.files import ReadError
from punish_fast.store.checkpoints import load_checkpoint
from punish_fast.store.reader import load

LAST, FIRST = 30, 7
INSTANTS = 10
MOST_ROUNDS = 3
SHARE = 0.9
GAME = ("equilibrium", "--rules", "tiny")
LEARN = (*GAME, "--quiet", "--resume", "run.h5", "-o", "x.h5", "--iterations")
# Much of so small a game is left out, and the restricted game is made anew every fourth iteration.
RESTRICTION = {"LEAST_STATE": 0.004, "LEAST_FULL": 0.001, "LEAST_PLAYED": 0.1, "MOST": 1.0}
FULL_ITERATIONS = {"_FULL_ITERATIONS": 2, "_FULL_EVERY": 4}


def save_often() -> None:
    """The same settings in a process of its own."""
    run_module._SECONDS_BETWEEN_CHECKPOINTS = 0.0
    vars(restricted_game).update(RESTRICTION)
    vars(regret_minimisers).update(FULL_ITERATIONS)


def content(path: Path) -> dict[str, Any]:
    """Every dataset and every attribute of a file except the time it was made."""
    found: dict[str, Any] = {}
    with h5py.File(path) as file:
        found |= {f"@{name}": value for name, value in file.attrs.items() if name != "created"}
        file.visititems(lambda name, item: found.update({name: item[...].tobytes()} if hasattr(item, "dtype") else {}))
    return found


def bytes_of(tables: dict[str, np.ndarray]) -> dict[str, bytes]:
    return {name: table.tobytes() for name, table in tables.items()}


def begun() -> Equilibrium:
    return Equilibrium(Graph(StateSpace(true_rules(PRESETS["tiny"]))), share=SHARE)


@pytest.fixture(scope="module", autouse=True)
def small_restricted_games() -> Iterator[None]:
    """The same settings in this process as in the others."""
    with pytest.MonkeyPatch.context() as patch:
        for module, settings in ((restricted_game, RESTRICTION), (regret_minimisers, FULL_ITERATIONS)):
            for name, value in settings.items():
                patch.setattr(module, name, value)
        yield


@pytest.fixture(scope="module")
def history() -> list[dict[str, bytes]]:
    """The tables after each iteration of an unbroken run."""
    equilibrium = begun()
    found = [bytes_of(equilibrium.tables)]
    while equilibrium.iterations < LAST:
        equilibrium.iterate()
        found.append(bytes_of(equilibrium.tables))
    assert equilibrium._part is not None, "no restricted game"
    return found


@pytest.fixture(scope="module")
def tables() -> dict[str, np.ndarray]:
    return begun().tables


class Folder:
    """A folder with checkpoint and final file of an unbroken run, and the history of that run."""

    def __init__(self, run: Any, folder: Path, history: Any, tables: Any, unbroken: dict[str, Any]) -> None:
        self.checkpoint, self._run, self._folder = folder / "run.h5", run, folder
        self._history, self._tables = history, tables
        if not unbroken:
            assert run(*LEARN, str(FIRST)).code == 0
            unbroken["first"] = self.checkpoint.read_bytes()
            assert run(*LEARN, str(LAST)).code == 0
            unbroken["expected"] = self._files()
        self._first, self._expected = unbroken["first"], unbroken["expected"]
        self.forget()

    def _files(self) -> list[dict[str, Any]]:
        return [content(self._folder / name) for name in ("run.h5", "x.h5")]

    def forget(self, keep: bool = False) -> int:
        """Start over from an earlier checkpoint, or from none; return its iterations."""
        for name in ("run.h5", "x.h5", *leftovers(self._folder)):
            (self._folder / name).unlink(missing_ok=True)
        if keep:
            self.checkpoint.write_bytes(self._first)
        return FIRST if keep else 0

    def iterations(self) -> int:
        """Iterations of the checkpoint, 0 if it is absent; -1 if it is damaged."""
        if not self.checkpoint.exists():
            return 0
        try:
            file = load(self.checkpoint)
            n: int = file.attributes["iterations"]
            is_whole = bytes_of(load_checkpoint(file, self._tables).tables) == self._history[n]
        except ReadError:
            return -1
        return n if is_whole else -1

    def ends_the_same(self) -> bool:
        """Whether a resumed run writes the same as an unbroken one, and leaves nothing else."""
        return self._run(*LEARN, str(LAST)).code == 0 and self._files() == self._expected and not self.leftovers()

    def leftovers(self) -> list[str]:
        return leftovers(self._folder)


@pytest.fixture(scope="module")
def unbroken() -> dict[str, Any]:
    """The first checkpoint of an unbroken run and its final files, once a test has made them."""
    return {}


@pytest.fixture
def learning(run, folder, history, tables, unbroken, monkeypatch):
    monkeypatch.setattr(run_module, "_SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    return Folder(run, folder, history, tables, unbroken)


@pytest.mark.slow
@WITH_JIT
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=lambda number: number.name)
@pytest.mark.parametrize(("name", "when"), POINTS)
def test_stopped_at_the_moment_that_matters(learning, number, name, when):
    before = learning.forget(keep=True)
    code, err = end(start_dying(name, when, number, *LEARN, str(FIRST + 1), before=save_often))
    # Files are created and closed first when the earlier checkpoint is read, before any iteration. After an interrupt
    # while the next one is written, it is written again.
    is_kept = (name, when) == ("rename", "after") or (number == signal.SIGINT and name in ("write", "rename"))
    assert learning.iterations() == before + is_kept
    if number == signal.SIGINT:
        assert (code, learning.leftovers()) == (130, [])
        assert err.splitlines()[-1].startswith("interrupted")
    else:
        assert code == -signal.SIGKILL
    assert learning.ends_the_same()

"""The tiny game, solved, and a file of each kind of it."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from punish_fast.mdp.arrays.policy import softmax
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.solution import Solution
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import build
from punish_fast.store.formats.notebook_json import NotebookValues, export_notebook
from punish_fast.store.policies import save_policy
from punish_fast.store.tensors import save

# Rush and strike in hand, punish revealed, all HP.
KNOWN = "101010200220000001"


# What solving makes; files of other kinds have tests of their own.
KINDS = ("tensor", "agent", "strategy")


@dataclass(frozen=True)
class Game:
    space: StateSpace
    mdp: MDP
    solution: Solution
    policy: np.ndarray

    def save(self, path: Path, kind: str) -> Path:
        if kind == "strategy":
            save_policy(path, self.space, self.policy, name="soft")
        else:
            solution = self.solution if kind == "agent" else None
            save(path, self.space, self.mdp, solution, {"kind": "built-in", "name": "random"})
        return path


@pytest.fixture(scope="session")
def game() -> Game:
    space = StateSpace(PRESETS["tiny"])
    mdp = build(space)
    solution = solve(mdp)
    return Game(space, mdp, solution, softmax(mdp.state_ptr, solution.q, 1.0))


@pytest.fixture(scope="session")
def originals(game: Game, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A sound file of each of these kinds; tests must not change them."""
    folder = tmp_path_factory.mktemp("originals")
    return {kind: game.save(folder / f"{kind}.h5", kind) for kind in KINDS}


@pytest.fixture
def copies(originals: dict[str, Path], tmp_path: Path) -> dict[str, Path]:
    return {kind: Path(shutil.copy(path, tmp_path)) for kind, path in originals.items()}


@pytest.fixture
def values(game: Game) -> NotebookValues:
    return NotebookValues(game.solution.q, (20.0, -20.0))


@pytest.fixture
def written(
    game: Game, values: NotebookValues, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, Any], Path]:
    """Values as a Python object, and the path of the file, which is written in several pieces."""
    monkeypatch.setattr("punish_fast.store.formats.notebook_json._STATES_AT_ONCE", 100)
    path = tmp_path / "q.json"
    export_notebook(path, game.space, values)
    return json.loads(path.read_text()), path


def write(path: Path, content: Any) -> Path:
    """A file of JSON, or of a text as it is."""
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path

"""The public names of the room, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from punish_fast import mdp


def modules_after(code: str) -> set[str]:
    """All modules that a fresh process has after ``code``."""
    command = [sys.executable, "-W", "error", "-c", f"{code}\nimport sys; print(*sys.modules)"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split())


def test_processes_are_solved_without_a_game():
    modules = modules_after(
        "from punish_fast.mdp import MDP, solve\nimport punish_fast.mdp.model, punish_fast.mdp.solver, numpy as np\n"
        "solve"
    )
    rooms = {name.split(".")[1] for name in modules if name.startswith("punish_fast.")}
    assert rooms == {"mdp", "runtime"}
    assert not {"h5py", "typer", "rich", "matplotlib", "sqlite3", "quantecon", "gymnasium"} & modules


@pytest.mark.parametrize("name", mdp.__all__)
def test_every_name_is_offered(name):
    value = getattr(mdp, name)
    assert value.__doc__
    assert value.__module__ == f"punish_fast.mdp.{mdp._HOMES[name]}"


def test_the_names_are_listed():
    assert set(mdp.__all__) == set(mdp._HOMES)
    assert dir(mdp) == sorted(mdp.__all__)


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match=r"module 'punish_fast\.mdp' has no attribute 'nonsense'"):
        _ = mdp.nonsense

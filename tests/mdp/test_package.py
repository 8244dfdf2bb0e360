"""What importing the room costs."""

from __future__ import annotations

import subprocess
import sys


def modules_after(code: str) -> set[str]:
    """All modules that a fresh process has after ``code``."""
    command = [sys.executable, "-W", "error", "-c", f"{code}\nimport sys; print(*sys.modules)"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split())


def test_processes_are_solved_without_a_game_and_built_without_a_solver():
    modules = modules_after("from punish_fast.mdp import *\nfrom punish_fast.mdp import solver")
    assert {name.split(".")[1] for name in modules if name.startswith("punish_fast.")} == {"mdp", "runtime"}
    assert not {"h5py", "typer", "rich", "matplotlib", "quantecon", "gymnasium"} & modules
    assert "punish_fast.mdp.solver" not in modules_after("from punish_fast.mdp import MDP, from_rows")

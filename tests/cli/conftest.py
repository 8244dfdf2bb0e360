"""Running commands, in this process or in one of their own, and files of the tiny game."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cli.json_keys import faults_of
from punish_fast.cli.app import run as run_app
from punish_fast.cli.frame import progress as reporting
from punish_fast.cli.frame.progress import Progress
from punish_fast.mdp.arrays.policy import softmax
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import build
from punish_fast.runtime import _jit, deadline
from punish_fast.store.policies import save_policy
from punish_fast.store.tensors import save

COMMAND = [sys.executable, "-m", "punish_fast"]


@pytest.fixture(scope="session")
def kernels() -> None:
    """Every kernel compiled, for tests that limit time, disk or memory."""
    space = StateSpace(PRESETS["tiny"])
    solution = solve(build(space))
    build(space, softmax(space.state_ptr, solution.q, 1.0))
    solve(build(space), method="jacobi", sweeps=1)


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str
    arguments: tuple[str, ...] = ()
    # What was said about kernels that a process compiled.
    compiled: tuple[str, ...] = ()
    # The lines on stderr that suggest the next command.
    suggestion: str = ""

    @property
    def then(self) -> str:
        """The next command, on one line."""
        return self.suggestion.replace(" \\\n   ", "").strip()

    @property
    def report(self) -> dict[str, Any]:
        """The one JSON object on stdout, with documented keys, of a command that did what it should."""
        # Kernels that are compiled first are told of on stderr.
        assert self.code == 0, self.err
        report = json.loads(self.out)
        assert isinstance(report, dict)
        assert faults_of(report, self.arguments) == []
        return report

    def refused(self, *texts: str, code: int = 2) -> None:
        """Insist on an error of one line that has all ``texts``, and on nothing else."""
        assert self.out == ""
        assert self.code == code, self.err
        self.failed_with(*texts)

    def failed_with(self, *texts: str) -> None:
        """Insist on an error of one line that has all ``texts``."""
        assert self.err.startswith("error: "), self.err
        assert self.err.count("\n") == 1, self.err
        assert self.err.endswith("\n"), self.err
        assert len(self.err) <= 501, self.err
        assert self.err[:-1].isprintable(), self.err
        assert not self.err.startswith("error: unexpected "), self.err
        for text in texts:
            assert text in self.err


Run = Callable[..., Done]


def clean_environment(**variables: str) -> dict[str, str]:
    """The environment without options of ours, and with ``variables``."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PUNISH_FAST_", "COLUMNS"))}
    return kept | variables


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(
    folder: Path,  # noqa: ARG001
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Run]:
    """Run a command in this process; what it changes of the process is put back."""
    for name in [name for name in os.environ if name.startswith("PUNISH_FAST_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    # How much progress is reported depends on the speed of the machine.
    monkeypatch.setattr(reporting, "_SECONDS_BETWEEN_LINES", 1e6)
    # Kernels might have to be compiled within a time limit.
    monkeypatch.setattr(deadline, "_GRACE", 1e6)
    # Which kernels are compiled already depends on the tests before.
    monkeypatch.setattr(Progress, "compiling", lambda *_: None)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    threads = _jit.threads()

    def run_here(*arguments: str | Path) -> Done:
        capfd.readouterr()
        code = run_app([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        err, _, suggestion = err.partition("Next: ")
        return Done(code, out, err, tuple(map(str, arguments)), suggestion=suggestion)

    yield run_here
    for number, handler in handlers.items():
        signal.signal(number, handler)
    _jit.set_threads(threads)


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Answers on stdin, a line each."""

    def answers(*lines: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))

    return answers


def run_apart(*arguments: str | Path, **options: Any) -> Done:
    """Run a command in a process of its own, without progress, which depends on the speed of the machine."""
    options = {"capture_output": True, "text": True, "timeout": 120, "env": clean_environment()} | options
    options["env"] = {"PUNISH_FAST_QUIET": "1"} | options["env"]
    child = subprocess.run([*COMMAND, *map(str, arguments)], check=False, **options)
    lines = (child.stderr or "").splitlines(keepends=True)
    compiled = tuple(line for line in lines if line.startswith("compiling kernels"))
    err = "".join(line for line in lines if line not in compiled)
    return Done(child.returncode, child.stdout, err, tuple(map(str, arguments)), compiled)


@pytest.fixture(scope="session")
def _files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    for preset, prefix in (("tiny", ""), ("reshuffle", "other-")):
        space = StateSpace(PRESETS["tiny"] if preset == "tiny" else PRESETS["tiny"]._replace(redeal="reshuffle"))
        mdp = build(space)
        solution = solve(mdp)
        save(folder / f"{prefix}tensor.h5", space, mdp, enemy={"kind": "built-in", "name": "random"})
        save(folder / f"{prefix}agent.h5", space, mdp, solution, enemy={"kind": "built-in", "name": "random"})
        policy = softmax(mdp.state_ptr, solution.q, 1.0)
        save_policy(folder / f"{prefix}strategy.h5", space, policy, name="soft")
    return folder


@pytest.fixture
def files(_files: Path, folder: Path) -> Path:
    """The current folder, with tensor, agent and strategy of ``tiny``, and ``other-`` ones of another game."""
    for path in _files.iterdir():
        shutil.copy(path, folder)
    return folder

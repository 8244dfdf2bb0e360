"""Ending commands of other processes at random instants and at the moments that matter, and what is left of files."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from fuzz.reading import read_everything
from numba import config

from cli.conftest import clean_environment

INSTANTS = 20
SECONDS_TO_END = 30.0
POINTS = [
    ("create", "after"),
    ("write", "before"),
    ("close", "before"),
    ("close", "after"),
    ("rename", "before"),
    ("rename", "after"),
]

# Without compiled kernels these are slow, and nothing in them depends on the kernels.
WITH_JIT = pytest.mark.skipif(config.DISABLE_JIT, reason="processes of their own are watched with the JIT on")

# The command, with a byte on a pipe as soon as it is ready for interrupts.
_ANNOUNCED = """
import os, sys
from punish_fast.__main__ import main
from punish_fast.cli import app
guarded = app.guarded
app.guarded = lambda call: guarded(lambda: (os.write(int(sys.argv.pop(1)), b"."), call())[1])
main()
"""

# Where a process dies, or is interrupted once, by its own hand.
_DYING = """
import os, signal, sys
from pathlib import Path
import h5py
from punish_fast.__main__ import main

name, when, number = sys.argv[1], sys.argv[2], signal.Signals(int(sys.argv[3]))
del sys.argv[1:4]
home, attribute = {
    "rename": (Path, "replace"),
    "force": (os, "fsync"),
    "remove": (Path, "unlink"),
    "close": (h5py.File, "close"),
    "write": (h5py.Group, "create_dataset"),
    "create": (h5py.File, "__init__"),
}[name]
original = getattr(home, attribute)

is_due = True

def send(moment):
    global is_due
    if is_due and moment == when:
        is_due = False
        os.kill(os.getpid(), number)

def dying(*args, **options):
    send("before")
    result = original(*args, **options)
    send("after")
    return result

setattr(home, attribute, dying)
main()
"""


def whole(path: Path) -> dict[str, Any]:
    """What a whole file says, but for what differs from run to run."""
    read = read_everything(path)
    for name in ("attributes", "log"):
        read.pop(name)
    return read


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob(".*"))


def start_announced(*arguments: str, before: str = "") -> subprocess.Popen[str]:
    """Start a command and wait until interrupts are taken care of; ``before`` is code that runs first."""
    read, write = os.pipe()
    child = subprocess.Popen(
        [sys.executable, "-c", before + _ANNOUNCED, str(write), *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=clean_environment(),
        pass_fds=[write],
    )
    os.close(write)
    os.read(read, 1)
    os.close(read)
    return child


def start_dying(name: str, when: str, number: int, *arguments: str, before: str = "") -> subprocess.Popen[str]:
    """Start a command that sends itself a signal at one of the ``POINTS``; ``before`` is code that runs first."""
    return subprocess.Popen(
        [sys.executable, "-c", before + _DYING, name, when, str(int(number)), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=clean_environment(),
    )


def end(child: subprocess.Popen[str]) -> tuple[int | None, str]:
    """Exit code and stderr; no code for a process that does not end."""
    try:
        _, err = child.communicate(timeout=SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        child.kill()
        return None, child.communicate()[1]
    return child.returncode, err


def instants(begin: Callable[[], subprocess.Popen[str]], seed: int, n: int = INSTANTS) -> list[float]:
    """Seeded delays, ``n`` of them, that spread over a whole run and a little more."""
    generator = random.Random(seed)
    durations = []
    for _ in range(2):
        child = begin()
        before = time.perf_counter()
        assert end(child) == (0, "")
        durations.append(time.perf_counter() - before)
    return [1.05 * min(durations) * (k + generator.random()) / n for k in range(n)]


class Interrupter:
    """Counts the lines that run in some files, and interrupts at one of them."""

    def __init__(self, modules: list[Any], at: int | None = None) -> None:
        self.names = {module.__file__ for module in modules}
        self.at = at
        self.count = 0
        self.place = ""

    def trace(self, frame: FrameType, _event: str, _arg: object) -> Any:
        return self.local if frame.f_code.co_filename in self.names else None

    def local(self, frame: FrameType, event: str, _arg: object) -> Any:
        if event == "line":
            self.count += 1
            if self.count == self.at:
                self.place = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
                signal.raise_signal(signal.SIGINT)
        return self.local

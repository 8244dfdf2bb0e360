"""Ending commands of other processes at random instants and at the moments that matter, and what is left of files."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any

import h5py
import pytest
from fuzz.reading import read_everything
from numba import config

from cli.forks import Fork
from punish_fast.__main__ import main
from punish_fast.cli import app

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

# Where a process dies, or is interrupted once, by its own hand.
_ATTRIBUTES: dict[str, tuple[Any, str]] = {
    "rename": (Path, "replace"),
    "force": (os, "fsync"),
    "remove": (Path, "unlink"),
    "close": (h5py.File, "close"),
    "write": (h5py.Group, "create_dataset"),
    "create": (h5py.File, "__init__"),
}


def whole(path: Path) -> dict[str, Any]:
    """What a whole file says, but for what differs from run to run."""
    read = read_everything(path)
    for name in ("attributes", "log"):
        read.pop(name)
    return read


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob(".*"))


def start_announced(*arguments: str, before: Callable[[], None] | None = None) -> Fork:
    """Start a command and wait until interrupts are taken care of; ``before`` is called first."""
    ready, announce = multiprocessing.Pipe(duplex=False)
    child = Fork(_run_announced, announce, before, arguments)
    announce.close()
    with suppress(EOFError):
        ready.recv_bytes()
    ready.close()
    return child


def _run_announced(announce: Connection, before: Callable[[], None] | None, arguments: tuple[str, ...]) -> None:
    guarded = app.guarded

    def announced(call: Callable[[], Any]) -> int:
        return guarded(lambda: (announce.send_bytes(b"."), call())[1])

    app.guarded = announced
    _run_command(before, arguments)


def _run_command(before: Callable[[], None] | None, arguments: tuple[str, ...]) -> None:
    if before is not None:
        before()
    sys.argv = ["punish-fast", *arguments]
    main()


def start_dying(name: str, when: str, number: int, *arguments: str, before: Callable[[], None] | None = None) -> Fork:
    """Start a command that sends itself a signal at one of the ``POINTS``; ``before`` is called first."""
    return Fork(_run_dying, name, when, number, before, arguments)


def _run_dying(
    name: str, when: str, number: int, before: Callable[[], None] | None, arguments: tuple[str, ...]
) -> None:
    home, attribute = _ATTRIBUTES[name]
    original = getattr(home, attribute)
    is_due = True

    def send(moment: str) -> None:
        nonlocal is_due
        if is_due and moment == when:
            is_due = False
            os.kill(os.getpid(), number)

    def dying(*args: Any, **options: Any) -> Any:
        send("before")
        result = original(*args, **options)
        send("after")
        return result

    setattr(home, attribute, dying)
    _run_command(before, arguments)


def end(child: Fork, seconds: float = SECONDS_TO_END) -> tuple[int | None, str]:
    """Exit code and stderr; no code for a process that does not end."""
    return child.end(seconds)


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

"""Ending commands of other processes at random instants and at the moments that matter, and what is left of files."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import h5py
import pytest
from numba import config

from cli.forks import Fork
from punish_fast.__main__ import main
from punish_fast.cli import app

SECONDS_TO_END = 30.0
POINTS = [
    *[("create", "after"), ("write", "before"), ("close", "before")],
    *[("close", "after"), ("rename", "before"), ("rename", "after")],
]

# Without compiled kernels these are slow, and nothing in them depends on the kernels.
WITH_JIT = pytest.mark.skipif(config.DISABLE_JIT, reason="processes of their own are watched with the JIT on")

# Where a process dies, or is interrupted once, by its own hand.
_ATTRIBUTES: dict[str, tuple[Any, str]] = {
    "rename": (Path, "replace"),
    "close": (h5py.File, "close"),
    "write": (h5py.Group, "create_dataset"),
    "create": (h5py.File, "__init__"),
}


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob(".*"))


def start_announced(*arguments: str) -> Fork:
    """Start a command and wait until interrupts are taken care of."""
    ready, announce = multiprocessing.Pipe(duplex=False)
    child = Fork(_run_announced, announce, arguments)
    announce.close()
    with suppress(EOFError):
        ready.recv_bytes()
    ready.close()
    return child


def _run_announced(announce: Connection, arguments: tuple[str, ...]) -> None:
    guarded = app.guarded

    def announced(call: Callable[[], Any]) -> int:
        return guarded(lambda: (announce.send_bytes(b"."), call())[1])

    app.guarded = announced
    _run_command(arguments)


def _run_command(arguments: tuple[str, ...]) -> None:
    sys.argv = ["punish-fast", *arguments]
    main()


def start_dying(name: str, when: str, number: int, *arguments: str) -> Fork:
    """Start a command that sends itself a signal at one of the ``POINTS``."""
    return Fork(_run_dying, name, when, number, arguments)


def _run_dying(name: str, when: str, number: int, arguments: tuple[str, ...]) -> None:
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
    _run_command(arguments)


def end(child: Fork, seconds: float = SECONDS_TO_END) -> tuple[int | None, str]:
    """Exit code and stderr; no code for a process that does not end."""
    return child.end(seconds)

"""Ending commands in forks of a process that has imported what they need, at random instants or where it matters.

Such commands start in milliseconds. A command that is started anew spends most of its time on imports, where most
random instants would fall.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import h5py
import pytest
from numba import config

from cli.conftest import clean_environment
from punish_fast.__main__ import main
from punish_fast.cli import app

_CONTEXT = multiprocessing.get_context("forkserver")
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


class Fork:
    """A process that calls a function, in the current folder and without stdout."""

    def __init__(self, call: Callable[..., Any], *arguments: Any) -> None:
        self._errors, errors = _CONTEXT.Pipe(duplex=False)
        self._process = _CONTEXT.Process(target=_run, args=(errors, Path.cwd(), clean_environment(), call, arguments))
        _CONTEXT.set_forkserver_preload(["cli.imported"])
        with pytest.MonkeyPatch.context() as patch:
            # The process that is forked finds that module there, and has no threads.
            patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
            patch.setenv("OPENBLAS_NUM_THREADS", "1")
            self._process.start()
        errors.close()

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        assert self._process.pid is not None
        with suppress(ProcessLookupError):
            os.kill(self._process.pid, number)

    def end(self, seconds: float) -> tuple[int | None, str]:
        """Wait for the exit code, and what was written to stderr; no code for a process that does not end."""
        self._process.join(seconds)
        code = self._process.exitcode
        self._process.kill()
        self._process.join()
        said = b""
        while self._errors.poll(1) and (part := os.read(self._errors.fileno(), 1 << 16)):
            said += part
        self._errors.close()
        self._process.close()
        return code, said.decode()


def _run(
    errors: Connection, folder: Path, environment: dict[str, str], call: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(errors.fileno(), 2)
    errors.close()
    # The streams remember what the descriptors were connected to before.
    sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))  # noqa: SIM115
    call(*arguments)


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

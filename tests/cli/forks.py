"""Commands in forks of a process that has imported what they need.

They start in milliseconds. A command that is started anew spends most of its time on imports, where most random
instants would fall.
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

import pytest

from cli.conftest import clean_environment

_CONTEXT = multiprocessing.get_context("forkserver")


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

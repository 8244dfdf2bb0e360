"""Killed or interrupted at any instant: the output is absent, or the old one bit by bit, or whole."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from numba import config

from cli.conftest import clean_environment
from cli.killing import (
    POINTS,
    SECONDS_TO_END,
    WITH_JIT,
    Interrupter,
    end,
    leftovers,
    start_dying,
    whole,
)
from punish_fast.cli.solving import solve
from punish_fast.runtime import files as store_files
from punish_fast.store import tensors, writer

pytestmark = pytest.mark.usefixtures("kernels")

SOLVE = ("solve", "--rules", "tiny", "-o", "x.h5", "--quiet")
OLD = b"the old file\n" * 999


@pytest.fixture
def expected(run: Callable[..., Any], folder: Path) -> dict[str, Any]:
    assert run("solve", "--rules", "tiny", "-o", "whole.h5").code == 0
    return whole(folder / "whole.h5")


def state_of(path: Path, expected: dict[str, Any]) -> str:
    """``absent``, ``old``, ``whole`` or what is wrong."""
    if not path.exists():
        return "absent"
    if path.read_bytes() == OLD:
        return "old"
    return "whole" if whole(path) == expected else "neither old nor whole"


def prepare(path: Path, had_old: bool) -> str:
    """Put the old file there or take it away; return what is allowed besides a whole one."""
    path.unlink(missing_ok=True)
    if had_old:
        path.write_bytes(OLD)
    return "old" if had_old else "absent"


@WITH_JIT
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("name", "when"), POINTS)
def test_killed_at_the_moment_that_matters(run, folder, expected, name, when, number):
    path = folder / "x.h5"
    prepare(path, had_old=True)
    code, err = end(start_dying(name, when, number, *SOLVE))
    assert state_of(path, expected) == ("whole" if (name, when) == ("rename", "after") else "old")
    if number != signal.SIGKILL:
        ended = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}[number]
        assert err == f"{ended}: every file is as it was or complete, none is half-written\n"
        assert (code, leftovers(folder)) == (128 + number, [])
        return
    assert code == -signal.SIGKILL
    assert run(*SOLVE).code == 0
    assert state_of(path, expected) == "whole"
    assert leftovers(folder) == []


# An interrupt while the first thread of the pool starts.
_WHILE_A_THREAD_STARTS = """
import signal, threading
from punish_fast.__main__ import main
start = threading.Thread.start

def interrupted_start(self):
    start(self)
    if "kernel" in self.name or "Pool" in self.name:
        signal.raise_signal(signal.SIGINT)

threading.Thread.start = interrupted_start
main()
"""


def test_interrupted_while_a_thread_starts(folder):
    child = subprocess.Popen(
        [sys.executable, "-c", _WHILE_A_THREAD_STARTS, *SOLVE],
        stderr=subprocess.PIPE,
        text=True,
        env=clean_environment(),
    )
    _, err = child.communicate(timeout=SECONDS_TO_END)
    code = child.returncode
    if code == 0:
        pytest.skip("no thread was started")
    assert (code, err) == (130, "interrupted: every file is as it was or complete, none is half-written\n")
    assert list(folder.iterdir()) == []


# An interrupt before the command itself has begun.
_WHILE_IMPORTING = """
import signal, sys

class Interrupting:
    @staticmethod
    def find_spec(name, *_args):
        if name == "typer":
            sys.meta_path.remove(Interrupting)
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting)
from punish_fast.__main__ import main
main()
"""


def test_interrupted_while_importing_shows_no_traceback(folder):
    child = subprocess.Popen(
        [sys.executable, "-c", _WHILE_IMPORTING, *SOLVE], stderr=subprocess.PIPE, text=True, env=clean_environment()
    )
    _, err = child.communicate(timeout=SECONDS_TO_END)
    assert child.returncode in (130, -signal.SIGINT)
    assert "Traceback" not in err
    assert list(folder.iterdir()) == []


# Interrupts while the command imports what it needs: one that waits, and two of which the second one does not.
_WHILE_THE_COMMAND_IMPORTS = """
import signal, sys

interrupts = int(sys.argv.pop(1))

class Interrupting:
    @staticmethod
    def find_spec(name, *_args):
        if name == "punish_fast.store.tensors":
            sys.meta_path.remove(Interrupting)
            for _ in range(interrupts):
                signal.raise_signal(signal.SIGINT)
            print("went on importing", flush=True)

sys.meta_path.insert(0, Interrupting)
from punish_fast.__main__ import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("interrupts", "goes_on"), [(1, True), (2, False)])
def test_an_interrupt_waits_for_what_the_command_imports(folder, interrupts, goes_on):
    child = subprocess.run(
        [sys.executable, "-c", _WHILE_THE_COMMAND_IMPORTS, str(interrupts), *SOLVE],
        capture_output=True,
        text=True,
        env=clean_environment(),
        check=False,
        timeout=60,
    )
    assert (child.returncode, child.stderr.count("\n")) == (130, 1)
    assert ("went on importing" in child.stdout) == goes_on
    assert list(folder.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.gettrace() is not None, reason="something else is tracing")
@pytest.mark.parametrize("module", [store_files, writer, tensors, solve], ids=lambda module: module.__name__)
def test_interrupted_at_any_line(run, folder, expected, module):
    path = folder / "x.h5"

    def run_traced(interrupter: Interrupter) -> Any:
        sys.settrace(interrupter.trace)
        try:
            return run("solve", "--rules", "tiny", "-o", "x.h5", "--quiet", "--json")
        finally:
            sys.settrace(None)

    counter = Interrupter([module])
    assert run_traced(counter).code == 0
    most = 6 if config.DISABLE_JIT else 60
    lines = range(1, counter.count + 1)
    wrong = []
    for at in sorted(random.Random(4).sample(lines, min(most, len(lines)))):
        before = prepare(path, had_old=at % 2 == 0)
        interrupter = Interrupter([module], at)
        done = run_traced(interrupter)
        state = state_of(path, expected)
        allowed = {130: (before, "whole"), 0: ("whole",)}.get(done.code, ())
        denied = state == "whole" and "no file was changed" in done.err
        if state not in allowed or leftovers(folder) or denied:
            wrong.append((interrupter.place, done.code, state, done.err, leftovers(folder)))
            for name in leftovers(folder):
                (folder / name).unlink()
    assert wrong == []

"""Killed or interrupted while a file is written: it is the old one, or whole, and nothing else is left."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys

import pytest

from cli.conftest import clean_environment, run_apart
from cli.killing import POINTS, SECONDS_TO_END, WITH_JIT, start_dying
from punish_fast.store.reader import load

pytestmark = pytest.mark.usefixtures("kernels")

SOLVE = ("solve", "--rules", "tiny", "-o", "x.h5", "--quiet")
OLD = b"the old file\n" * 999


# The one in the default run.
KILL = (signal.SIGKILL, "rename", "before")


@WITH_JIT
@pytest.mark.parametrize(
    ("number", "name", "when"),
    [
        pytest.param(number, *point, marks=[] if (number, *point) == KILL else pytest.mark.slow)
        for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
        for point in POINTS
    ],
)
def test_ended_at_the_moment_that_matters(run, folder, number, name, when):
    path = folder / "x.h5"
    path.write_bytes(OLD)
    code, err = start_dying(name, when, number, *SOLVE).end(SECONDS_TO_END)
    if (name, when) == ("rename", "after"):
        load(path).solution()
    else:
        assert path.read_bytes() == OLD
    if number != signal.SIGKILL:
        ended = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}[number]
        assert err == f"{ended}; no file is damaged or incomplete\n"
        assert (code, list(folder.glob(".*"))) == (128 + number, [])
        return
    assert code == -signal.SIGKILL
    assert run(*SOLVE).code == 0
    load(path).solution()
    assert list(folder.glob(".*")) == []


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


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "limit"), [("solve", 1), ("solve", 20_000), ("build", 50_000)])
def test_a_file_that_may_not_grow(folder, verb, limit):
    path = folder / "x.h5"
    path.write_bytes(OLD)
    done = run_apart(
        *(verb, "--rules", "tiny", "-o", "x.h5", "--json"),
        cwd=folder,
        # Python may leave half of a compiled module behind where files may not grow.
        env=clean_environment() | {"PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert (done.code, done.out) == (1, ""), done.err[-500:]
    done.failed_with("x.h5", "too large", "nothing was changed")
    assert path.read_bytes() == OLD
    assert list(folder.glob(".*")) == []

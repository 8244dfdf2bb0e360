"""Standard streams that are closed, full or of another encoding: one line before any work, or all of the results."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from playing import some_games

from cli.conftest import COMMAND, clean_environment, run_apart
from punish_fast.cli.frame import errors
from punish_fast.cli.frame.errors import ClosedPipeError
from punish_fast.cli.frame.streams import prepare_streams
from punish_fast.punish.rules import PRESETS
from punish_fast.records.logs import write_log

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")


@pytest.fixture
def games(folder, run):
    """A database of games between people, one of them not ASCII."""
    games = some_games(20, seed=1, names=("Renée", "Ben"), rules=PRESETS["tabletop"])
    (folder / "log.json").write_text(write_log(games), encoding="utf-8")
    assert run("records", "import", "log.json", "--db", "games.db").code == 0
    return folder / "games.db"


def test_a_closed_stdout_is_told_before_any_work(files):
    command = ["sh", "-c", 'exec "$@" >&-', "sh", *COMMAND, "solve", "tensor.h5", "-o", "x.h5"]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, env=clean_environment(), timeout=120, check=False)
    assert (done.returncode, done.stderr) == (1, "error: the results cannot be printed (stdout is closed)\n")
    assert not (files / "x.h5").exists()


def test_a_closed_stdin_is_told_before_any_work(run, monkeypatch, games):
    monkeypatch.setattr(sys, "stdin", None)
    run("games", "play", "tapnswap").refused("moves cannot be read: stdin is closed")
    before = games.read_bytes()
    run("records", "player", "Ben", "--db", games, "--delete").refused("confirm with --yes")
    assert games.read_bytes() == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")  # noqa: PTH110
@pytest.mark.parametrize("unbuffered", ["", pytest.param("1", marks=pytest.mark.slow)])
def test_an_export_that_is_not_printed_to_its_end_fails(games, unbuffered):
    arguments = ("records", "player", "Ben", "--db", games.name, "--export")
    with open("/dev/full", "w") as full:  # noqa: PTH123
        environment = clean_environment(PYTHONUNBUFFERED=unbuffered)
        done = run_apart(*arguments, capture_output=False, stdout=full, stderr=subprocess.PIPE, env=environment)
    assert done.code == 1
    assert done.err == "error: the results cannot be printed (No space left on device)\n"


@pytest.mark.parametrize("value", ["0", "abc", "99999", "٣"])
def test_an_impossible_limit_of_threads_is_refused(run, files, monkeypatch, value):
    monkeypatch.setenv("NUMBA_NUM_THREADS", value)
    done = run("solve", "tensor.h5", "-o", "x.h5")
    done.refused("NUMBA_NUM_THREADS is ", "it must be a whole number from 1 to 4096")
    assert not (files / "x.h5").exists()


class Console(io.RawIOBase):
    """A console that shows a part of a text at a time, as Python's own stream for the console of Windows."""

    def __init__(self):
        self.shown = ""

    def writable(self):
        return True

    def write(self, data):
        self.shown += bytes(data[:5]).decode("cp1252")
        return len(data[:5])


@pytest.mark.parametrize("is_buffered", [True, False])
def test_a_console_of_another_encoding_gets_text_that_it_can_show(monkeypatch, is_buffered):
    consoles = [Console(), Console()]
    layers = [io.BufferedWriter(console) if is_buffered else console for console in consoles]
    streams = [io.TextIOWrapper(layer, "cp1252", write_through=not is_buffered) for layer in layers]
    for name, stream in zip(("stdout", "stderr"), streams, strict=True):
        monkeypatch.setattr(sys, name, stream)
    for _ in range(2):  # the layer of the first call is freed by the second
        prepare_streams()
    print("Renée ┃ ± ♥", flush=True)
    print("über", file=sys.stderr, flush=True)
    assert [console.shown for console in consoles] == ["Renée \\u2503 ± \\u2665\n", "über\n"]


@pytest.mark.parametrize("unbuffered", ["", pytest.param("1", marks=pytest.mark.slow)])
@pytest.mark.usefixtures("files")
def test_a_pipe_that_is_closed_ends_the_command_without_a_word(unbuffered):
    reader, writer = os.pipe()
    os.close(reader)
    # Like Python 3.13, the development mode reports streams that cannot be flushed at the end.
    variables = {"PYTHONDEVMODE": "1", "PYTHONWARNINGS": "ignore", "PYTHONUNBUFFERED": unbuffered}
    options = {"stdout": writer, "stderr": subprocess.PIPE, "env": clean_environment(**variables)}
    done = run_apart("show", "agent.h5", "--json", capture_output=False, **options)
    os.close(writer)
    assert (done.code, done.err) == (141, "")


def test_a_pipe_that_is_closed_has_the_code_1_on_windows(monkeypatch):
    monkeypatch.setattr(errors, "os", SimpleNamespace(name="nt"))
    assert ClosedPipeError().exit_code == 1

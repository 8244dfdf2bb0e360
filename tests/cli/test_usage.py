"""Wrong usage and bad input: one clear line on stderr, exit code 2, and nothing is touched."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from numba import config

from cli.commands import all_verbs, shown_arguments
from punish_fast.cli.frame import errors, report
from punish_fast.cli.installation import doctor
from punish_fast.games.enumeration.retrograde import CertificateError
from punish_fast.punish.states import space
from punish_fast.runtime.errors import ReadError

OLD = b"old content"
OTHER = "made for rules"
# Texts of the parser of commands.
THEIRS = (
    "Invalid value|Missing |valid integer|valid number|unable to parse|equal to|Got |^error: Option|"
    "Possible option|Did you mean|' / '"
)


@pytest.fixture
def output(folder):
    """An output that exists and must stay as it is."""
    path = folder / "old.h5"
    path.write_bytes(OLD)
    yield path
    assert path.read_bytes() == OLD
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        (["--tolerance", "0"], ["tolerance"]),
        (["--sweeps", "0"], ["sweeps"]),
        (["--discount", "1.01"], ["--discount: 1"]),
        (["--objective", "draw"], ["--objective: 'draw' is not allowed; it must be one of discounted"]),
        (["--objective", "reach-probability", "--discount", "0.9"], ["discount: 0.9 is not allowed with"]),
        (["--objective", "reach-probability", "--method", "jacobi"], ["requires --method layered"]),
        (["--threads", "0"], ["threads"]),
        (["--tolerance", "1e-3", "--sweeps", "5"], ["--tolerance and --sweeps"]),
        (["--rules", "tournament"], ["'tournament' is neither a preset"]),
        (["--rules", "tabltop"], ["--rules", "'tabltop' is neither a preset", "did you mean tabletop?"]),
        (["--enemy", "tensor.h5"], ["tensor.h5 is a tensor, not an agent. Solve it first"]),
        (["--enemy", "strategy.h5@1"], ["strategy.h5@1: has no values"]),
        (["--enemy", "agent.h5@0"], ["agent.h5@0: temperature 0 is not allowed"]),
        (["--enemy", "nave"], ["'nave': no such file; the built-in", "did you mean naive?"]),
        (["--enemy", "agent.h5", "--rules", "notebook"], ["agent.h5", OTHER]),
        (["--from", "other-agent.h5"], ["other-agent.h5", OTHER]),
        (["--from", "tensor.h5"], ["tensor.h5 is a tensor, not an agent"]),
        (["--from", "strategy.h5"], ["strategy.h5 is a strategy, not an agent"]),
        (["--from", "agent.h5", "--method", "jacobi"], ["--from", "--method"]),
        (["none.h5"], ["none.h5"]),
        (["home.toml"], ["home.toml: rules, not a tensor", "--rules home.toml"]),
        (["tensor.h5", "--rules", "tiny"], ["--rules", "tensor.h5"]),
        (["tensor.h5", "--enemy", "naive"], ["--enemy", "tensor.h5"]),
    ],
)
@pytest.mark.usefixtures("files")
def test_options_that_are_wrong_or_do_not_go_together_are_refused(run, output, options, texts):
    rules = ["--rules", "tiny"] if options[0].startswith("-") and "--rules" not in options else []
    run("solve", *rules, *options, "-o", output).refused(*texts)


def test_threads_are_capped_and_names_of_hdf5_files_are_checked(run, folder):
    done = run("solve", "--rules", "tiny", "--threads", "4000", "-o", "x.hdf5")
    assert done.code == 0
    assert "--threads 4000 exceeds the" in done.err
    run("solve", "--rules", "tiny", "-o", "out.txt").refused("out.txt: the name of this file must end in .h5 or .hdf5")
    assert [path.name for path in folder.iterdir()] == ["x.hdf5"]


def wrong_usage(verb: str, command: Any) -> Iterator[tuple[list[str | Path], str]]:
    """Arguments of a verb that are wrong for what it declares, and what the error names."""
    right = shown_arguments(command)
    yield [*right, "--nonsense"], "--nonsense"
    if not any(each.param_type_name == "argument" and each.nargs < 0 for each in command.params):
        yield [*right, *["1"] * 5], ": unexpected argument; see --help"
    if any(each.required for each in command.params):
        yield verb.split(), " is missing; see --help"
    for each in command.params:
        # Versions of Typer agree on the name of a value, but not on its type.
        if each.param_type_name == "option" and re.fullmatch("[A-Z]|POINTS|SECONDS", str(each.metavar)):
            ends = [(getattr(each, "min", None), -1), (getattr(each, "max", None), 1)]
            for wrong in ("x", *(str(value + step) for value, step in ends if value is not None)):
                yield [*right, each.opts[0], wrong], each.opts[0]


def test_what_contradicts_the_declared_options_is_refused(run, folder):
    tried = 0
    for verb, command in all_verbs().items():
        for arguments, text in wrong_usage(verb, command):
            done = run(*arguments)
            done.refused(text)
            assert not re.search(THEIRS, done.err)
            tried += 1
    assert tried > 120
    run("nonsense").refused("nonsense")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["records", "list", "-n", "x"], "error: --most/-n: 'x' is not allowed; it must be a whole number"),
        (["improve", "Joe", "--db", "p.db"], "error: Joe: unexpected argument; see --help"),
        (["solve", "a", "b", "c"], "error: b c: unexpected argument; see --help"),
        (["records", "list", "--db"], "error: --db: requires a value"),
        (["solve", "--quiet=3"], "error: --quiet: does not take a value"),
        (["records", "list", "--ba"], "error: --ba: unknown option; did you mean --db?"),
        (["records", "list", "--peple"], "error: --peple: unknown option; did you mean --help, --people, --player?"),
        (["records", "list", "-x"], "error: -x: unknown option; write -- before a name that begins with a dash"),
        (
            ["records", "list", "--since", "9" * 19],
            f"error: --since: '{'9' * 19}' is neither a Unix time nor a date such as 2022-11-13",
        ),
    ],
)
def test_no_error_has_the_words_of_the_parser(run, arguments, text):
    done = run(*arguments)
    assert (done.code, done.err) == (2, text + "\n")
    assert not re.search(THEIRS, done.err)


def test_texts_of_other_versions_of_the_parser_are_replaced():
    for theirs, ours in {
        "No such option: --peple Did you mean --people?": "--peple: unknown option; did you mean --people?",
        "No such option '--peple'. (Did you mean one of: --a, --b?)": "--peple: unknown option; did you mean --a, --b?",
        "No such option: --peple (Possible options: --a, --b)": "--peple: unknown option; did you mean --a, --b?",
        "No such command 'lst'. Did you mean 'list'?": "lst: unknown command; did you mean list?",
        "Got unexpected extra argument (Joe)": "Joe: unexpected argument; see --help",
    }.items():
        assert errors._usage_text(SimpleNamespace(format_message=lambda told=theirs: told, __cause__=None)) == ours


def test_places_that_cannot_be_written_to_are_refused(run, files):
    (files / "file").write_text("mine")
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    for output in (".", "none/x.h5", "x" * 250, "x" * 5000):
        for command in (["solve", "tensor.h5"], ["build", "--rules", "tiny"]):
            # Long names are shortened.
            run(*command, "-o", output).refused(output[:200])
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_not_ours_is_refused(run, folder):
    (folder / "closed").mkdir(mode=0o500)
    run("solve", "--rules", "tiny", "-o", "closed/x.h5").refused("closed/x.h5", "cannot write here")


@pytest.mark.skipif(config.DISABLE_JIT, reason="counting so many hands takes minutes without kernels")
def test_a_game_too_large_for_this_machine_fails_in_one_line(run, output):
    path = output.parent / "huge.toml"
    path.write_text("copies = [9, 9, 9, 9, 9]\nhand_size = 9\nhp = 9\nfeints = 9\nbreaths = 8\nreveal_size = 9\n")
    run("solve", "--rules", path, "--memory-limit", "1GB", "-o", output).refused("memory", code=1)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyboardInterrupt(), 130),
        (MemoryError("little"), 1),
        (RuntimeError("strange"), 1),
        (report.CheckError("no"), 1),
        (report.UsageError("no"), 2),
        (CertificateError("no"), 1),
    ],
)
def test_exit_codes_of_errors(run, folder, monkeypatch, error, code):
    def fail(*_args, **_options):
        raise error

    monkeypatch.setattr(space, "StateSpace", fail)
    done = run("solve", "--rules", "tiny")
    assert (done.code, done.out, done.err.count("\n")) == (code, "", 1)
    assert "Traceback" not in done.err
    assert list(folder.iterdir()) == []


def test_debugging_keeps_the_traceback(run, monkeypatch):
    monkeypatch.setenv("PUNISH_FAST_DEBUG", "1")
    with pytest.raises(ReadError):
        run("show", "none.h5")


def test_a_failing_self_test_is_reported(run, monkeypatch):
    monkeypatch.setattr(doctor, "_self_test", lambda: {"all is well": False, "the sky is up": True})
    done = run("doctor", "--json")
    assert done.code == 1
    done.failed_with("the self-test failed: all is well")
    assert '"ok": false' in done.out


def test_an_interrupt_that_others_turn_into_an_error_is_still_one(run, folder, monkeypatch):
    """C extensions and locks may answer an interrupt with an exception of their own."""

    def disguise(*_args, **_options):
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise RuntimeError("cannot release un-acquired lock")

    monkeypatch.setattr(space, "StateSpace", disguise)
    done = run("solve", "--rules", "tiny", "-o", "x.h5")
    assert (done.code, done.out) == (130, "")
    assert done.err.startswith("interrupted")
    assert done.err.count("\n") == 1
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("run")
def test_an_interrupt_waits_for_what_is_being_imported(folder, monkeypatch, capfd):
    (folder / "interrupted.py").write_text("import signal\nsignal.raise_signal(signal.SIGINT)\n")
    monkeypatch.syspath_prepend(folder)
    imported = []

    def call():
        imported.append(import_module("interrupted"))
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            time.sleep(0.01)

    assert errors.guarded(call) == 130
    assert [module.__name__ for module in imported] == ["interrupted"]
    assert capfd.readouterr().err == "interrupted; no file is damaged or incomplete\n"


def test_names_are_printed_escaped_and_short(run, files):
    name = "a\n\x1b[31m" + "x" * 180 + ".h5"
    shutil.copy(files / "strategy.h5", files / name)
    done = run("show", name)
    assert done.code == 0
    assert r"a\n\x1b[31mxxx" in done.out
    assert all(line.isprintable() and len(line) <= 500 for line in done.out.splitlines())
    assert json.loads(run("show", name, "--json").out)["file"] == name
    run("openings", name, "--plot", "x.txt").refused("x.txt")

"""Wrong usage and bad input: one clear line on stderr, exit code 2, and nothing is touched."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess

import h5py
import pytest
from fuzz.damage import editing
from numba import config

from cli.conftest import COMMAND, clean_environment, run_apart
from punish_fast.cli.frame import errors
from punish_fast.cli.installation import doctor
from punish_fast.cli.solving import solve
from punish_fast.games.solve.retrograde import CertificateError
from punish_fast.punish.states import space

OLD = b"old content"
OTHER = "made for rules"


@pytest.fixture
def output(folder):
    """An output that exists and must stay as it is."""
    path = folder / "old.h5"
    path.write_bytes(OLD)
    yield path
    assert path.read_bytes() == OLD
    assert not list(folder.glob(".*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--tolerance", "0"], "tolerance"),
        (["--tolerance", "-1"], "tolerance"),
        (["--tolerance", "nan"], "tolerance"),
        (["--tolerance", "inf"], "tolerance"),
        (["--tolerance", "-inf"], "tolerance"),
        (["--tolerance", "small"], "--tolerance"),
        (["--tolerance", ""], "--tolerance"),
        (["--sweeps", "0"], "sweeps"),
        (["--sweeps", "-3"], "sweeps"),
        (["--sweeps", "1.5"], "--sweeps"),
        (["--sweeps", "many"], "--sweeps"),
        (["--discount", "1.01"], "discount"),
        (["--discount", "-0.1"], "discount"),
        (["--discount", "nan"], "discount"),
        (["--discount", "inf"], "discount"),
        (["--discount", "high"], "--discount"),
        (["--objective", "draw"], "--objective: 'draw' is not allowed, it must be one of discounted, win-probability"),
        (["--objective", ""], "--objective"),
        (
            ["--objective", "win-probability", "--discount", "0.9"],
            "discount: 0.9 is not allowed with the objective win-probability",
        ),
        (["--objective", "win-probability", "--schedule", "jacobi"], "--schedule jacobi is not allowed with"),
        (["--schedule", "random"], "schedule"),
        (["--schedule", ""], "schedule"),
        (["--threads", "0"], "threads"),
        (["--threads", "-1"], "threads"),
        (["--threads", "100000"], "threads"),
        (["--threads", "two"], "--threads"),
        (["--threads", "1.5"], "--threads"),
        (["--tolerance", "1e-3", "--sweeps", "5"], "--tolerance and --sweeps"),
        (["--rules", "tournament"], "tournament"),
        (["--rules", "Tiny"], "Tiny"),
        (["--rules", "."], "rules"),
        (["--rules", "no/such/file.toml"], "no/such/file.toml"),
        (["--rules", "r" * 5000], "rules"),
        (["--enemy", "general"], "general"),
        (["--enemy", "."], "is a folder"),
        (["--enemy", "e" * 5000], "e"),
        (["--from", "none.h5"], "none.h5"),
        (["--from", "f" * 5000], "f"),
        (["--nonsense"], "--nonsense"),
        (["--rules"], "--rules"),
        (["none.h5"], "none.h5"),
        (["a.h5", "b.h5"], "b.h5"),
    ],
)
def test_bad_options_are_refused(run, output, options, text):
    rules = [] if "--rules" in options or not options[0].startswith("-") else ["--rules", "tiny"]
    run("solve", *rules, *options, "-o", output).refused(text)


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        (["tensor.h5", "--rules", "tiny"], ["--rules", "tensor.h5"]),
        (["tensor.h5", "--enemy", "naive"], ["--enemy", "tensor.h5"]),
        (["tensor.h5", "--from", "agent.h5", "--schedule", "jacobi"], ["--from", "--schedule"]),
        (["tensor.h5", "--from", "tensor.h5"], ["tensor.h5", "kind"]),
        (["tensor.h5", "--from", "strategy.h5"], ["strategy.h5", "kind"]),
        (["strategy.h5"], ["strategy.h5"]),
        (["--rules", "tiny", "--enemy", "tensor.h5"], ["tensor.h5: is a tensor, allowed are agents and strategies"]),
        (["--rules", "tiny", "--enemy", "strategy.h5@1"], ["strategy.h5@1: has no values"]),
        (["--rules", "tiny", "--enemy", "random@1"], ["random@1: has no values"]),
        (["--rules", "tiny", "--enemy", "agent.h5@0"], ["agent.h5@0: temperature 0 is not allowed"]),
        (["--rules", "tiny", "--enemy", "agent.h5@-1"], ["temperature"]),
        (["--rules", "tiny", "--enemy", "agent.h5@nan"], ["temperature"]),
        (["--rules", "tiny", "--enemy", "agent.h5@1e999"], ["temperature"]),
        (["--rules", "tiny", "--enemy", "nave"], ["'nave': no such file, and built-in", "did you mean naive?"]),
        (["--rules", "tiny", "--from", "other-agent.h5"], ["other-agent.h5", OTHER]),
        (["tensor.h5", "--from", "other-agent.h5"], ["other-agent.h5", OTHER]),
        (["other-tensor.h5", "--from", "agent.h5"], ["agent.h5", OTHER]),
        (["--enemy", "agent.h5"], ["agent.h5", OTHER]),
    ],
)
@pytest.mark.usefixtures("files")
def test_options_that_do_not_go_together_are_refused(run, output, options, texts):
    run("solve", *options, "-o", output).refused(*texts)


def test_bad_values_in_the_environment_are_refused(run, output, monkeypatch):
    for name, value in (("THREADS", "many"), ("TOLERANCE", "0"), ("DISCOUNT", "2"), ("SCHEDULE", "x"), ("SWEEPS", "0")):
        with monkeypatch.context() as patch:
            patch.setenv(f"PUNISH_FAST_{name}", value)
            run("solve", "--rules", "tiny", "-o", output).refused()
    monkeypatch.setenv("PUNISH_FAST_JSON", "perhaps")
    run("solve", "--rules", "tiny", "-o", output).refused("PUNISH_FAST_JSON")


@pytest.mark.parametrize("arguments", [["nonsense"], ["show"], ["--nonsense"], ["build", "x.h5"], ["doctor", "x"]])
def test_wrong_commands_are_refused(run, arguments):
    run(*arguments).refused()


def test_places_that_cannot_be_written_to_are_refused(run, files):
    (files / "file").write_text("mine")
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    for output in (".", "none/x.h5", "file/x.h5", "/proc/x.h5", "x" * 250, "x" * 5000):
        for command in (["solve", "tensor.h5"], ["solve", "--rules", "tiny"], ["build", "--rules", "tiny"]):
            # Long names are shortened.
            run(*command, "-o", output).refused(output[:200])
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_not_ours_is_refused(run, folder):
    (folder / "closed").mkdir(mode=0o500)
    run("solve", "--rules", "tiny", "-o", "closed/x.h5").refused("closed/x.h5", "cannot write here")


# What only TOML can say; fields and their ranges are tests of the rules themselves.
RULES = [
    "hp = nan",
    "hp = 2026-01-01",
    "hp = " + "9" * 5000,
    "hp = 0x" + "f" * 5000,
    "hp = " + "[" * 50_000,
    "a" + ".a" * 3000 + " = 1",
    "hp = 3\nhp = 4",
    "hp",
    "[[hp]]",
    '"" = 3',
    '"h\\np" = 3',
    "redeal = 'often'",
    "\0",
    "hp = 3 # \x07",
    "\ufeffhp = 3",
]


@pytest.mark.parametrize("text", RULES, ids=range(len(RULES)))
def test_absurd_rules_are_refused(run, output, text):
    (output.parent / "house.toml").write_text(text, encoding="utf-8")
    run("solve", "--rules", "house.toml", "-o", output).refused("rules")


@pytest.mark.parametrize("content", [b"\xff\xfe", b"hp = \xe9", bytes(100), b"\x89HDF\r\n\x1a\n"])
def test_rules_that_are_no_text_are_refused(run, output, content):
    (output.parent / "house.toml").write_bytes(content)
    run("solve", "--rules", "house.toml", "-o", output).refused("rules", "house.toml")


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["show", "x.h5"],
        ["show", "x.h5", "101010200220000001"],
        ["solve", "x.h5", "-o", "old.h5"],
        ["solve", "--rules", "tiny", "--enemy", "x.h5", "-o", "old.h5"],
        ["solve", "--rules", "tiny", "--from", "x.h5", "-o", "old.h5"],
        ["build", "--rules", "tiny", "--enemy", "x.h5", "-o", "old.h5"],
    ],
)
@pytest.mark.usefixtures("output")
def test_files_that_are_not_ours_are_refused(run, files, command):
    path = files / "x.h5"
    content = (files / "agent.h5").read_bytes()
    with h5py.File(files / "foreign.h5", "w") as file:
        file["data"] = [1, 2, 3]
    generator = random.Random(1)
    lengths = [0, 8, len(content) - 1, *(generator.randrange(len(content)) for _ in range(4))]
    for damaged in [content[:length] for length in lengths] + [b"text\n" * 99, (files / "foreign.h5").read_bytes()]:
        path.write_bytes(damaged)
        run(*command).refused("x.h5: ")
    path.unlink()
    run(*command).refused("x.h5: there is no such file")


def test_damage_is_noticed(run, files, output):
    path = files / "agent.h5"
    shutil.copy(path, files / "sound.h5")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    run("show", path, "101010200220000001").refused("agent.h5", "damaged")
    run("solve", "--from", "agent.h5", "sound.h5", "-o", output).refused("agent.h5", "damaged")
    run("solve", "agent.h5", "-o", output).refused("agent.h5", "damaged")


@pytest.mark.parametrize("name", ["/solution/v", "/rows/state_ptr", "/states/code"])
def test_a_field_that_cannot_be_is_named(run, files, output, name):
    path = files / "agent.h5"
    shutil.copy(path, files / "sound.h5")
    with editing(path) as file:
        array = file[name][...]
        array[0] = array[-1] + 1
        file[name][...] = array
    run("show", path, "101010200220000001").refused("agent.h5", name)
    command = ["--from", "agent.h5", "sound.h5"] if name == "/solution/v" else ["agent.h5"]
    run("solve", *command, "-o", output).refused("agent.h5", name)


def test_a_process_of_its_own_refuses_the_same_way(files):
    run_apart("show", "tensor.h5", "12", cwd=files).refused()


@pytest.mark.skipif(config.DISABLE_JIT, reason="counting so many hands takes minutes without kernels")
def test_a_game_too_large_for_this_machine_fails_in_one_line(run, output):
    path = output.parent / "huge.toml"
    path.write_text("copies = [9, 9, 9, 9, 9]\nhand_size = 9\nhp = 9\nfeints = 9\nbreaths = 8\nreveal_size = 9\n")
    run("solve", "--rules", path, "-o", output).refused("memory", code=1)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyboardInterrupt(), 130),
        (MemoryError("little"), 1),
        (RuntimeError("strange"), 1),
        (errors.CheckError("no"), 1),
        (errors.UsageError("no"), 2),
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


def test_an_interrupt_after_the_file_stands_does_not_deny_it(run, folder, monkeypatch):
    def interrupt(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr(solve, "model_report", interrupt)
    done = run("solve", "--rules", "tiny", "-o", "x.h5")
    assert done.code in (0, 130)
    assert (folder / "x.h5").exists()
    assert "no file was changed" not in done.err


def test_debugging_shows_the_traceback(files):
    done = run_apart("solve", "none.h5", cwd=files, env=os.environ | {"PUNISH_FAST_DEBUG": "1"})
    assert "Traceback" in done.err
    assert done.code != 0


def test_a_reader_that_leaves_is_no_error_to_talk_about(files):
    read, write = os.pipe()
    os.close(read)
    try:
        done = run_apart("show", "agent.h5", cwd=files, capture_output=False, stdout=write, stderr=-1)
    finally:
        os.close(write)
    assert (done.code, done.err) == (1, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")  # noqa: PTH110
def test_results_that_cannot_be_printed_fail_in_one_line(files):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = run_apart("show", "agent.h5", cwd=files, capture_output=False, stdout=full, stderr=-1)
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err


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


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize("arguments", [["show", "agent.h5"], ["solve", "tensor.h5", "-o", "x.h5"], ["--help"]])
def test_a_closed_stdout_shows_no_traceback(files, arguments):
    command = ["sh", "-c", 'exec "$@" >&-', "sh", *COMMAND, *arguments]
    child = subprocess.run(
        command, stderr=subprocess.PIPE, text=True, cwd=files, env=clean_environment(), timeout=60, check=False
    )
    assert child.returncode in (0, 1)
    assert "Traceback" not in child.stderr
    assert child.stderr.count("\n") <= 1


def test_names_are_printed_escaped_and_short(run, files):
    name = "a\n\x1b[31m" + "x" * 180 + ".h5"
    shutil.copy(files / "strategy.h5", files / name)
    done = run("show", name)
    assert done.code == 0
    assert done.out.startswith(r"a\n\x1b[31mxxx")
    assert all(line.isprintable() and len(line) <= 500 for line in done.out.splitlines())
    assert json.loads(run("show", name, "--json").out)["file"] == name
    run("openings", name).refused(r"a\n\x1b[31mxxx", "is a strategy")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["arena", "random", "careful@1"], "error: careful@1: has no values; a temperature needs"),
        (["solve", "tensor.h5", "--discount", "2"], "error: --discount: 2"),
        (["show", "agent.h5", "--hand", "rs", "--discard", "p", "--hp", "9-1"], "error: position: own_hp is 9"),
        (["show", "agent.h5", "１０１０１０２００２２０００００００１"], "allowed are 18 digits"),  # noqa: RUF001
        (["show", "agent.h5", " 101010200220000001"], "allowed are 18 digits"),
    ],
)
@pytest.mark.usefixtures("files")
def test_errors_name_the_option_as_it_is_typed(run, arguments, text):
    run(*arguments).refused(text)

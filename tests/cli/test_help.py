"""Help answers at once, and every verb shows an example."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from cli.conftest import clean_environment, run_apart
from punish_fast import __version__

VERBS = ("solve", "build", "show", "export", "warmup", "doctor")
HEAVY = ("numba", "llvmlite", "numpy", "scipy", "h5py", "matplotlib")

_LIST_MODULES = """
import sys
from punish_fast.cli.app import run
code = run(sys.argv[1:])
print(code, *sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["-h"], ["--version"], ["nonsense"], *([verb, "--help"] for verb in VERBS), ["solve", "--nonsense"]],
)
def test_nothing_heavy_is_imported_before_it_is_needed(arguments):
    command = [sys.executable, "-c", _LIST_MODULES, *arguments]
    child = subprocess.run(command, capture_output=True, text=True, env=clean_environment(), timeout=60, check=True)
    modules = child.stderr.split()
    assert "punish_fast" in modules
    assert not set(HEAVY) & set(modules)


def test_import_times_show_nothing_heavy():
    command = [sys.executable, "-X", "importtime", "-m", "punish_fast", "--help"]
    child = subprocess.run(command, capture_output=True, text=True, env=clean_environment(), timeout=60, check=True)
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in child.stderr.splitlines()}
    assert "typer" in imported
    assert not set(HEAVY) & imported


def test_help_names_every_verb(run):
    done = run("--help")
    assert (done.code, done.err) == (0, "")
    for verb in VERBS:
        assert re.search(rf"^  {verb} ", done.out, re.MULTILINE)
    assert "punish-fast solve" in done.out


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_every_verb_shows_an_example(run, verb):
    done = run(verb, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: punish-fast {verb}")
    assert re.search(rf"Examples?:\s+punish-fast\s+{verb}", done.out)
    assert "--json" in done.out


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        (
            "solve",
            [
                "[TENSOR.h5]",
                "--rules",
                "--enemy",
                "--temperature",
                "--discount",
                "--schedule",
                "layered|jacobi",
                "--tolerance",
                "--sweeps",
                "--threads",
                "--no-tensor",
                "--from",
                "--output",
                "-o",
                "--quiet",
            ],
        ),
        ("build", ["--rules", "--enemy", "--temperature", "--threads", "--output", "-o", "--quiet"]),
        ("show", ["FILE.h5", "[STATE]"]),
        ("export", ["FILE.h5", "--to", "umb|npz", "--output", "-o"]),
    ],
)
def test_help_names_every_option(run, verb, options):
    done = run(verb, "--help")
    for option in options:
        assert option in done.out
    for option in [option for option in options if option.startswith("--")]:
        assert "PUNISH_FAST_" + option[2:].upper().replace("-", "_") in re.sub(r"\s+", "", done.out)


def test_version(run):
    assert run("--version").out == f"punish-fast {__version__}\n"
    assert run("--version").code == 0


def test_no_arguments_show_the_help(run):
    done = run()
    assert done.code in (0, 2)
    text = done.out + done.err
    assert text.startswith("Usage: punish-fast")
    assert "Try: punish-fast solve" in text


def test_the_module_and_the_command_are_the_same():
    done = run_apart("--version")
    assert (done.code, done.out, done.err) == (0, f"punish-fast {__version__}\n", "")


def test_examples_of_the_help_are_commands(run):
    """Every example names a verb, and only options that the verb has."""
    texts = [run(*verb, "--help").out for verb in ((), *((verb,) for verb in VERBS))]
    for text in texts:
        examples = re.sub(r"\s+", " ", re.split(r"Examples?:|Try:", text)[1])
        for example in examples.split(";"):
            words = example.split()
            assert words[0] == "punish-fast"
            assert words[1] in VERBS
            known = run(words[1], "--help").out
            assert all(word in known for word in words[2:] if word.startswith("-"))

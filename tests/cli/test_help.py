"""Help answers at once, and every verb shows an example."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable

import pytest

from cli.commands import EXAMPLES
from cli.conftest import Done, Run, clean_environment, run_apart
from punish_fast import __version__

COMMANDS = list(EXAMPLES)
GROUPS = list(dict.fromkeys(name.split()[0] for name in COMMANDS if " " in name))
HEAVY = ("numba", "llvmlite", "numpy", "scipy", "h5py", "sqlite3", "matplotlib", "jax", "optax", "fastapi", "uvicorn")

_LIST_MODULES = """
import sys
from punish_fast.cli.app import run
for line in sys.argv[1:]:
    run(line.split())
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def texts() -> dict[str, Done]:
    """What commands said already."""
    return {}


@pytest.fixture
def help_of(run: Run, texts: dict[str, Done]) -> Callable[[str], Done]:
    """What a command says when it is asked for help; each is asked once."""

    def ask(name: str) -> Done:
        if name not in texts:
            texts[name] = run(*name.split(), "--help")
        return texts[name]

    return ask


@pytest.mark.slow
def test_nothing_heavy_is_imported_before_it_is_needed():
    lines = [
        *("--help", "-h", "--version", "nonsense", "help solve", "solve --nonsense"),
        *(f"{name} --help" for name in (*GROUPS, *COMMANDS)),
    ]
    command = [sys.executable, "-c", _LIST_MODULES, *lines]
    child = subprocess.run(command, capture_output=True, text=True, env=clean_environment(), timeout=60, check=True)
    modules = child.stderr.split()
    assert "punish_fast" in modules
    assert not set(HEAVY) & set(modules)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_shows_an_example(help_of, name):
    done = help_of(name)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: punish-fast {name}")
    assert re.search(rf"Examples?:\s+punish-fast\s+{name.replace(' ', chr(92) + 's+')}", done.out)
    assert "--json" in done.out


@pytest.mark.parametrize("name", ["", *GROUPS, *COMMANDS])
def test_help_fits_80_columns(help_of, name):
    text = help_of(name).out
    assert [line for line in text.splitlines() if len(line) > 80] == []


def test_an_example_in_two_lines_is_one_command(run):
    text = run("arena", "--help").out
    folded = re.search(r"^ *(punish-fast arena naive.h5.* \\\n.*)$", text, re.MULTILINE)
    assert folded
    assert shlex.split(folded[1])[-2:] == ["--record", "arena.db"]


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_a_group_lists_its_commands(run, group, arguments):
    done = run(group, *arguments)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: punish-fast {group}")
    for name in COMMANDS:
        verb = name.removeprefix(f"{group} ")
        assert verb == name or re.search(rf"^  {verb} ", done.out, re.MULTILINE)


def test_help_is_a_verb(run):
    assert run("help", "enemy", "parless").out == run("enemy", "parless", "--help").out


def test_version(run):
    assert run("--version").out == f"punish-fast {__version__}\n"
    assert run("-V") == run("--version")


def test_the_module_and_the_command_are_the_same():
    done = run_apart("--version")
    assert (done.code, done.out, done.err) == (0, f"punish-fast {__version__}\n", "")


def test_examples_of_the_help_are_commands(help_of):
    """Every example names a command, and only options that it has."""
    texts = [help_of(name).out for name in ("", *GROUPS, *COMMANDS)]
    for text in texts:
        after = re.sub(r"\s+", " ", re.split(r"Examples?:", text)[1]).partition("Every option")[0]
        for example in re.split(r"punish-fast ", after)[1:]:
            words = example.strip(" ;").split()
            name = words[:2] if words[0] in GROUPS else words[:1]
            assert " ".join(name) in COMMANDS
            known = help_of(" ".join(name)).out
            assert all(word in known for word in words[1:] if word.startswith("-"))

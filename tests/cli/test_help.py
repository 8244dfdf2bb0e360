from __future__ import annotations

import re
import subprocess
import sys

import numba
import pytest

from cli.commands import all_verbs
from cli.conftest import clean_environment, run_apart
from punish_fast import __version__

COMMANDS = list(all_verbs())
GROUPS = list(dict.fromkeys(name.split()[0] for name in COMMANDS if " " in name))
HEAVY = ("numba", "llvmlite", "numpy", "scipy", "h5py", "sqlite3", "matplotlib", "jax", "optax", "fastapi", "uvicorn")

_LIST_MODULES = """
import sys
from punish_fast.cli.app import run
for line in sys.argv[1:]:
    run(line.split())
print(*sys.modules, file=sys.stderr)
"""


def modules_after(*lines: str) -> list[str]:
    """The modules that a process has imported after some commands."""
    command = [sys.executable, "-c", _LIST_MODULES, *lines]
    options = {"capture_output": True, "text": True, "env": clean_environment(), "input": "q\n"}
    child = subprocess.run(command, timeout=300, check=True, **options)
    return child.stderr.splitlines()[-1].split()


@pytest.mark.slow
def test_nothing_heavy_is_imported_before_it_is_needed():
    modules = modules_after(
        *("--help", "-h", "--version", "nonsense", "help solve", "solve --nonsense"),
        *(f"{name} --help" for name in (*GROUPS, *COMMANDS)),
    )
    assert "punish_fast" in modules
    assert not set(HEAVY) & {name.partition(".")[0] for name in modules}


def test_a_verb_is_imported_alone():
    modules = modules_after("solv", "enemy show --help")
    assert "punish_fast.cli.enemy.show" in modules
    others = ("solving.solve", "strategies.arena", "records", "enemy.pawnn", "games")
    assert not {f"punish_fast.cli.{name}" for name in others} & set(modules)


# Modules that a command with cached kernels does not use: other parts of the package, and Numba's compiler.
_COMPILER = ("numba.np.arraymath", "scipy.linalg", "filelock")
UNUSED = {
    "solve --rules tiny --quiet": (
        *("duel", "enemies", "equilibrium", "games", "play", "study", "web", "records.database"),
        *("mdp.objectives.reachability", "mdp.methods.exact_iteration", "mdp.methods.rational"),
    ),
    "play naive --rules tiny": (
        *("enemies", "equilibrium", "study", "web", "mdp.methods.rational", "games.registry"),
        *("arena.tournament", "duel.evaluation", "play.games", "games.learn"),
    ),
    "serve --check --port 0": (
        *("enemies", "equilibrium", "study", "mdp.methods.rational", "arena.survey", "records.plots"),
        *("arena.tournament", "games.learn.agent_file", "games.learn.dqn", "games.learn.muzero.learner"),
    ),
}


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="no kernels are cached")
@pytest.mark.parametrize("line", UNUSED)
def test_a_command_with_cached_kernels_imports_only_what_it_uses(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    modules_after(line)
    modules = set(modules_after(line))
    # The check of the server ends before its workers have compiled their kernels.
    assert not set(_COMPILER) & modules or line.startswith("serve")
    assert not {f"punish_fast.{name}" for name in UNUSED[line]} & modules


def test_help_of_every_command_fits_80_columns_and_has_examples_that_name_its_options(run):
    names = ["", *GROUPS, *COMMANDS]
    texts = {name: run(*name.split(), "--help").out for name in names}
    for name, text in texts.items():
        assert text.startswith(f"Usage: punish-fast {name}")
        assert [line for line in text.splitlines() if len(line) > 80] == []
        assert not re.search("<=|>=", text)  # ranges are in words
        assert name in ("", *GROUPS) or "--json" in text
        after = re.sub(r"\s+", " ", text.split("Examples:")[1]).partition("Any option")[0]
        for example in re.split(r"punish-fast ", after)[1:]:
            words = example.strip(" ;").split()
            of = " ".join(words[:2] if words[0] in GROUPS else words[:1])
            assert all(word in texts[of] for word in words[1:] if word.startswith("-"))


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_lists_its_commands(run, group):
    out = run(group, "--help").out
    assert run(group).out == run(group, "-h").out == out
    for name in COMMANDS:
        verb = name.removeprefix(f"{group} ")
        assert verb == name or re.search(rf"^  {verb} ", out, re.MULTILINE)


def test_help_is_a_verb_and_the_module_and_the_command_are_the_same(run):
    assert run("help", "enemy", "parless").out == run("enemy", "parless", "--help").out
    done = run_apart("--version")
    assert (done.code, done.out, done.err) == (0, f"punish-fast {__version__}\n", "")
    assert run("--version").out == run("-V").out == done.out


def test_help_begins_with_what_players_need(run):
    commands = re.findall(r"^  (\w+) +[A-Z]", run("--help").out.partition("Play:")[2], re.MULTILINE)
    assert commands[:3] == ["play", "hand", "improve"]
    first = run("--help").out.partition("\nLessons:")[0]
    assert not re.search(r"agent|tabletop|\.h5|\d{4}", first)
    assert "Rush, strike and punish deal 1, 2 and 3 damage." in " ".join(run("play", "--help").out.split())

"""README and docs show what runs, and what it prints."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from documents import agrees, blocks_of, steps_of
from playing import some_games

from bench.make.site import command_reference
from punish_fast.cli.app import app as cli
from punish_fast.cli.app import run as run_app
from punish_fast.games.learn.muzero import learner
from punish_fast.punish.rules import PRESETS
from punish_fast.records.logs import write_log

ROOT = Path(__file__).parents[1]
PAGES = [*map(ROOT.joinpath, ("README.md", "CONTRIBUTING.md")), *sorted((ROOT / "docs").rglob("*.md"))]
# Commands that take minutes run shorter or in a smaller game, servers and games end at once, and nothing is installed.
SHORTER = {
    "--information memory --iterations 1344": "--rules tiny --information memory --iterations 1",
    "--public 75": "--rules tiny --public 2 --iterations 2",
    "exploit equilibrium-public.h5": "exploit tiny-equilibrium-public.h5",
    "--public 100 --iterations 31": "--rules tiny --public 2 --iterations 2",
    "equilibrium -o": "equilibrium --rules tiny --iterations 2 -o",
    "arena naive random": "arena --rules tiny naive random",
    "exploit naive": "exploit naive --rules tiny",
    "exploit bot.h5 --bracket": "exploit bot.h5 --bracket --time 5",
    "exploit trained.h5 --bracket": "exploit trained.h5 --bracket --time 60",
    "network.learn(600_000)": "network.learn(2_000)",
    "bench.make.lessons equilibrium.h5": "bench.make.lessons equilibrium.h5 --page lessons.md",
    "punish-fast serve": "punish-fast serve --port 0 --check",
    "punish-fast games play": "punish-fast games play < /dev/null",
    "evaluate incan-gold": "evaluate incan-gold --games 9",
    "evaluate gwent": "evaluate gwent --games 20",
    "--method muzero --games 1000": "--method muzero --set simulations=2 --set width=4 --games 200",
    "--method dqn --games 20000": "--method dqn --games 2000",
    "illegal=punish --games 5000": "illegal=punish --games 500",
    "decks gwent --generations 40": "decks gwent --generations 1 --set games=2",
    "decks gwent --set pool": "decks gwent --generations 1 --set pool",
    "for _ in range(30)": "for _ in range(3)",
    "python3 -m venv .venv": "true",
    ".venv/bin/pip install": "true",
    ".venv/bin/python -m pytest": "true",
    ". .venv/bin/activate": "true",
    ".venv/bin/punish-fast": "punish-fast",
}
# Pages that show nothing of what their commands print, which may as well be about the smallest game.
SMALL = ("formats.md", "lessons.md", "solving.md")
# Packages of extras that a page needs.
NEEDED = {"openspiel.md": "pyspiel", "train.md": "sb3_contrib"}


def record_games(folder: Path, preset: str) -> None:
    """Write the logs ``saves_1.json`` and ``saves_2.json``."""
    games = some_games(60, seed=1, names=("Ann", "Ben", "Cay"), rules=PRESETS[preset])
    (folder / "saves_1.json").write_text(write_log(games[:30]), encoding="utf-8")
    (folder / "saves_2.json").write_text(write_log(games[30:]), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder to follow a page in: with logs of recorded games and a command ``punish-fast``."""
    (tmp_path / "bin").mkdir()
    for name, command in (("punish-fast", "-m punish_fast "), ("python", "")):
        program = tmp_path / "bin" / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {command}"$@"\n', encoding="utf-8")
        program.chmod(0o755)
    shutil.copy(ROOT / "docs" / "lessons.md", tmp_path)
    record_games(tmp_path, "tabletop")
    return tmp_path


@pytest.fixture
def run_line(folder: Path, capfd: pytest.CaptureFixture[str]) -> Callable[[str], tuple[int, str, str]]:
    """Run a line of the shell: exit code, stdout and stderr.

    Commands of ours run in this process, which has the kernels, unless they need a shell.
    """

    def run(line: str) -> tuple[int, str, str]:
        if line.startswith("punish-fast ") and not set(line) & set("<>|&;$*"):
            capfd.readouterr()
            code = run_app(shlex.split(line)[1:])
            return code, *capfd.readouterr()
        environment = os.environ | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            line, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
        )
        return done.returncode, done.stdout, done.stderr

    return run


def shortened(source: str) -> str:
    """A command, or code, that takes no minutes."""
    for long, short in SHORTER.items():
        source = source.replace(long, short)
    return source


def follow(page: Path, run_line: Callable[[str], tuple[int, str, str]]) -> None:
    """Run everything that a page shows."""
    names: dict[str, object] = {"__name__": "__main__"}
    for step in steps_of(page):
        if step.kind == "python":
            exec(compile(shortened(step.source), f"line {step.line}", "exec"), names)
            continue
        code, out, err = run_line(shortened(step.source))
        assert code == 0, f"line {step.line}: {step.source}\n{err}"
        if step.shown is not None:
            assert agrees(step.shown, out.splitlines()), f"line {step.line}: {step.source}\n{out}"


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.smoke] * (page.name == "formats.md")) for page in PAGES],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_what_a_page_shows_runs(request, page, folder, monkeypatch, run_line):
    if page.name in NEEDED:
        pytest.importorskip(NEEDED[page.name], reason=f"{NEEDED[page.name]} is not installed")
    monkeypatch.chdir(folder)
    if page.name in SMALL:
        monkeypatch.setenv("PUNISH_FAST_RULES", "tiny")
        record_games(folder, "tiny")
    if page.parent.name == "games":
        # Compiling searches, and judging by long ones, takes most of the time.
        request.getfixturevalue("fast_compilation")
        monkeypatch.setattr(learner, "EVALUATED_SIMULATIONS", (0, 2))
    follow(page, run_line)


SMALL_PAGE = """
```sh
echo 'hp = 1' > house.toml
```
```console
$ punish-fast agents
...
  house.toml  rules  house

AGENT@resolve solves each measure again after its deal; AGENT@T plays by softmax
at temperature T.
$ punish-fast solve --rules tiny
...
output       tiny-naive.h5 (97.2 kB)
...
```
```python
import punish_fast as pf

assert pf.load("tiny-naive.h5").solution().converged
```
"""


def test_a_small_page_runs(tmp_path, folder, monkeypatch, run_line):
    monkeypatch.chdir(folder)
    page = tmp_path / "page.md"
    page.write_text(SMALL_PAGE, encoding="utf-8")
    follow(page, run_line)
    # Now there is another file to list.
    with pytest.raises(AssertionError, match="line 5: punish-fast agents"):
        follow(page, run_line)


def test_every_command_that_a_page_shows_is_one():
    app = typer.main.get_command(cli)
    for page in PAGES:
        for step in steps_of(page):
            if not step.source.startswith("punish-fast ") or set(step.source) & set("<>|&;$*"):
                continue
            command, words = app, shlex.split(step.source)[1:]
            while hasattr(command, "commands"):
                command, words = command.commands[words[0]], words[1:]
            command.make_context(step.source, words)


def links_of(page: Path) -> set[Path]:
    targets = re.findall(r"\]\((?!http)([^)#]+\.md)", page.read_text(encoding="utf-8"))
    return {(page.parent / target).resolve() for target in targets}


def test_links_lead_from_the_readme_to_every_page():
    reached, waiting = set(), {ROOT / "README.md"}
    while waiting:
        page = waiting.pop()
        reached.add(page)
        waiting |= links_of(page) - reached
    assert {page.name for page in PAGES if page not in reached} == set()


def test_the_readme_fits_a_terminal():
    too_wide = [line for block in blocks_of(PAGES[0]) for line in block.text if len(line) > 80]
    assert too_wide == []


def test_every_block_says_what_it_is():
    kinds = {block.kind for page in PAGES for block in blocks_of(page)}
    assert kinds <= {"console", "sh", "python", "toml", "json", "text"}


def test_every_path_that_a_page_names_exists():
    pattern = r"`((?:punish_fast|tests|bench|docs)/[\w/.-]*)`"
    named = {path for page in PAGES for path in re.findall(pattern, page.read_text(encoding="utf-8"))}
    assert {path for path in named if not (ROOT / path).exists()} == set()


def test_every_link_between_pages_leads_somewhere():
    for page in PAGES:
        for target in re.findall(r"(?:\]\(|src=\")(?!http)([^)#\"]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_website_has_all_pages_in_its_navigation():
    listed = re.findall(r'"([^"]*\.md)"', (ROOT / "zensical.toml").read_text(encoding="utf-8"))
    written = [name for name in listed if not name.startswith("reference/") and name != "CHANGELOG.md"]
    assert sorted(written) == sorted(page.relative_to(ROOT).as_posix() for page in PAGES)


def test_the_command_reference_lists_every_command_and_option():
    sections = dict(re.findall(r"^#+ (.*)\n((?:(?!#).*\n?)*)", command_reference(), re.MULTILINE))

    def check(command: Any, path: str) -> int:
        for parameter in command.params:
            names = parameter.opts if parameter.param_type_name == "option" else [parameter.metavar]
            section = sections[path or "Commands"]
            assert all(re.search(rf"^`.*{re.escape(name)}(?![\w-])", section, re.MULTILINE) for name in names)
        return 1 + sum(check(each, f"{path} {name}".strip()) for name, each in getattr(command, "commands", {}).items())

    assert check(typer.main.get_command(cli), "") == len(sections)


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 250


def test_output_agrees_apart_from_the_machine():
    shown = ("rules tiny, 2 threads", "...", "wrote tiny.h5 (1.2 MB)")
    assert agrees(shown, ["rules tiny, 16 threads", "states  0.1", "", "wrote tiny.h5 (99.0 kB)"])
    assert agrees(shown, ["rules tiny, 1 threads", "wrote tiny.h5 (1.2 MB)"])
    assert not agrees(shown, ["rules notebook, 2 threads", "wrote tiny.h5 (1.2 MB)"])
    assert not agrees(shown, ["rules tiny, 2 threads", "wrote other.h5 (1.2 MB)"])
    assert not agrees(("all 5 states",), ["all 6 states"])


def test_pages_are_taken_apart_into_steps(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "a\n```console\n$ one\n1\n$ two\n```\n```sh\n# no\nthree &&\nfour\nfive\n```\n```toml\nx = 1\n```\n",
        encoding="utf-8",
    )
    assert [(step.line, step.kind, step.source, step.shown) for step in steps_of(page)] == [
        (2, "console", "one", ("1",)),
        (2, "console", "two", ()),
        (7, "sh", "three && four", None),
        (7, "sh", "five", None),
    ]

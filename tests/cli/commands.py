"""All verbs of the command line, as Typer knows them, and files for them to work on."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from playing import some_games

from cli.conftest import COMMAND, clean_environment
from punish_fast.cli.app import app
from punish_fast.punish.rules import PRESETS
from punish_fast.records.logs import write_log

HOUSE = "copies = [1, 2, 1, 2, 1]\nhand_size = 2\nreveal_size = 1\nhp = 2\nbreaths = 2\nredeal = 'reshuffle'\n"

# A small command of each verb that reads files or compiles kernels, without an output that the user names.
EXAMPLES: dict[str, tuple[str, ...]] = {
    "solve": ("--rules", "tiny", "--objective", "reach-probability"),
    "build": ("--rules", "tiny"),
    "show": ("agent.h5", "101010200220000001"),
    "compare": ("agent.h5", "tiny-naive.h5"),
    "export": ("agent.h5", "--to", "notebook-json"),
    "import": ("q.json", "--rules", "tiny"),
    "arena": ("random", "careful", "--rules", "tiny", "--games", "20", "--seed", "1"),
    "exploit": ("random", "--rules", "tiny", "--bracket"),
    "equilibrium": ("--rules", "tiny", "--iterations", "2"),
    "openings": ("agent.h5",),
    "hand": ("rs", "--rules", "tiny"),
    "lessons": ("strategy.h5",),
    "improve": ("--player", "Ann", "--db", "games.db", "--against", "judge.h5"),
    "survey": ("survey.toml",),
    "balance": ("--base", "tiny", "--set", "hp=1"),
    "enemy parless": ("--db", "games.db", "--rules", "house.toml"),
    "enemy pawnn": ("--from", "strategy.h5", "--set", "hidden=3", "--set", "epochs=1"),
    "enemy logit": ("--db", "games.db", "--rules", "house.toml"),
    "enemy import-flux": ("params.json", "--rules", "tiny"),
    "enemy validate": ("--db", "games.db", "--rules", "house.toml", "--models", "uniform,parless"),
    "enemy show": ("strategy.h5",),
    "records import": ("log.json", "--db", "games.db", "--rules", "house.toml"),
    "records list": ("--db", "games.db"),
    "records summary": ("--db", "games.db", "--rules", "house.toml"),
    "records review": ("1600000000", "--db", "games.db", "--agent", "judge.h5"),
    "records plot": ("win-rates", "--db", "games.db"),
    "records repair": ("--db", "games.db"),
    "records player": ("Ann", "--db", "games.db", "--anonymize"),
    "games solve": ("tapnswap:limit=3",),
    "games show": ("tapnswap:limit=3", "1-1/1-1"),
    "games train": ("tapnswap", "--games", "20"),
    "games league": ("tapnswap", "agents", "--set", "epsilon=0.5", "--games", "20"),
    "games evaluate": ("tictactoe", "perfect"),
    "games decks": ("gwent", "--set", "games=2", "--generations", "2"),
    "games play": ("tapnswap:limit=3", "--level", "random", "--seed", "1"),
    "play": ("naive", "--rules", "tiny", "--seed", "1", "--db", "played.db"),
    "serve": ("agent.h5", "--rules", "tiny", "--db", "games.db", "--port", "0", "--check"),
    "practice": ("naive", "--rules", "tiny", "--seed", "1", "-n", "2"),
}


_FIRST = (
    "records import log.json --db games.db --rules house.toml",
    "export agent.h5 --to notebook-json -o q.json",
    "solve --rules tiny",
    "solve --rules house.toml -o judge.h5",
    " ".join(["games league", *EXAMPLES["games league"]]),
)


def all_verbs() -> dict[str, Any]:
    """Every verb by its whole name, such as ``enemy parless``, without ``help``, which takes names of others."""
    found: dict[str, Any] = {}

    def visit(name: str, command: Any) -> None:
        for part, member in getattr(command, "commands", {}).items():
            visit(f"{name} {part}".strip(), member)
        if not hasattr(command, "commands"):
            found[name] = command

    visit("", typer.main.get_command(app))
    found.pop("help")
    return found


def shown_arguments(command: Any) -> list[str]:
    """The arguments of the first example in the help of a verb."""
    example = re.sub(r" \\\n +", " ", command.epilog).splitlines()[2]
    return shlex.split(example)[1:]


def make_files(files: Path, factory: pytest.TempPathFactory, folder: Path) -> None:
    """Put what ``EXAMPLES`` read into a folder: copies of ``files``, rules, logs, a database and weights.

    All processes of a test run share them.
    """
    place = factory.getbasetemp()
    place = place.parent if "PYTEST_XDIST_WORKER" in os.environ else place
    made = place / "examples"
    if not made.exists():
        parts = factory.mktemp("parts")
        _make_files(files, parts)
        # Another process may have been faster.
        with suppress(OSError):
            parts.rename(made)
    shutil.copytree(made, folder, dirs_exist_ok=True)


def _make_files(files: Path, folder: Path) -> None:
    for path in files.iterdir():
        shutil.copy(path, folder)
    (folder / "house.toml").write_text(HOUSE, encoding="utf-8")
    (folder / "survey.toml").write_text('base = "tiny"\n[grid]\nhp = [1, 2]\n', encoding="utf-8")
    games = some_games(24, seed=1, names=("Ann", "Ben", "Cay"), rules=PRESETS["tiny"]._replace(redeal="reshuffle"))
    (folder / "log.json").write_text(write_log(games), encoding="utf-8")
    generator = np.random.default_rng(4)
    layers = [generator.normal(size=size).tolist() for size in ((18, 3), 3, (3, 11), 11)]
    (folder / "params.json").write_text(json.dumps(layers), encoding="utf-8")
    for line in _FIRST:
        subprocess.run(
            [*COMMAND, *line.split(), "-q"], cwd=folder, env=clean_environment(), capture_output=True, check=True
        )

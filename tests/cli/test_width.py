"""Output in a pipe, which has 80 columns, as most terminals."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec

import pytest
from numba import config

from cli.commands import EXAMPLES, make_files

# Variants of the commands that print other texts.
MORE = {
    "solve ": ("--rules", "tiny", "--verbose", "-o", "verbose.h5"),
    "solve  ": ("--rules", "tiny", "--dry-run"),
    "solve": ("--rules", "house.toml", "--enemy", "careful", "-o", "a-name-of-thirty-characters.h5"),
    "show": ("agent.h5",),
    "show    ": ("tensor.h5",),
    "improve ": (
        "--player",
        "Ann",
        "--against",
        "judge.h5",
        "--db",
        "a-long-folder-name/a-long-folder-name/games-of-many-players.db",
    ),
    "show ": ("strategy.h5", "101010200220000001"),
    "show  ": ("agent.h5", "101010200220000001", "--why"),
    "show   ": ("judge.h5", "--hand", "rs", "--discard", "d"),
    "enemy show": ("agent.h5",),
    "arena": ("random", "careful", "strategy.h5", "agent.h5", "--rules", "tiny"),
    "balance": ("--base", "tiny", "--set", "hp=1", "--set", "healing=0", "--restore", "--time", "20"),
    "games show": ("tapnswap:limit=3",),
    "games decks ": (*EXAMPLES["games decks"], "-o", "decks.json"),
    "games list": (),
    "games methods": (),
    "agents": (),
    "doctor": (),
}


@pytest.mark.slow
@pytest.mark.skipif(config.DISABLE_JIT, reason="takes long without kernels")
@pytest.mark.skipif(any(find_spec(name) is None for name in ("jax", "matplotlib")), reason="needs all extras")
def test_no_line_in_a_pipe_is_wider_than_80_columns(run, files, tmp_path_factory, monkeypatch):
    make_files(files, tmp_path_factory, files)
    folder = files / "a-long-folder-name" / "a-long-folder-name"
    folder.mkdir(parents=True)
    shutil.copy(files / "games.db", folder / "games-of-many-players.db")
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: PTH123, SIM115 - closed with the process
    wide = []
    for name, arguments in (*EXAMPLES.items(), *MORE.items()):
        done = run(*name.split(), *arguments)
        printed = f"{done.out}{done.err}\nNext: {done.suggestion}"
        wide += [f"{name}: {line}" for line in printed.splitlines() if len(line) > 80]
        assert done.code == 0, f"{name}: {done.err}"
    assert wide == []

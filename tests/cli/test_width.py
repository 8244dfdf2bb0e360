"""Output in a pipe, which has 80 columns, as most terminals."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest
from numba import config

from cli.commands import EXAMPLES, make_files

# Variants of the commands that print other texts.
MORE = {
    "solve": ("--rules", "house.toml", "--enemy", "careful", "-o", "a-name-of-thirty-characters.h5"),
    "show": ("agent.h5",),
    "show ": ("strategy.h5", "101010200220000001"),
    "show  ": ("agent.h5", "101010200220000001", "--why"),
    "show   ": ("judge.h5", "--hand", "rs", "--discard", "d"),
    "enemy show": ("agent.h5",),
    "arena": ("random", "careful", "strategy.h5", "agent.h5", "--rules", "tiny"),
    "balance": ("--base", "tiny", "--set", "hp=1", "--set", "healing=0", "--restore", "--time", "20"),
    "games show": ("tapnswap:limit=3",),
    # Without a file, the decks are one long argument of the command that plays with them.
    "games decks": (*EXAMPLES["games decks"], "-o", "decks.json"),
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
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: PTH123, SIM115 - closed with the process
    wide = []
    examples = {name: arguments for name, arguments in EXAMPLES.items() if name != "games decks"}
    for name, arguments in (*examples.items(), *MORE.items()):
        done = run(*name.split(), *arguments)
        wide += [f"{name}: {line}" for line in (done.out + done.err).splitlines() if len(line) > 80]
        assert done.code == 0, f"{name}: {done.err}"
    assert wide == []

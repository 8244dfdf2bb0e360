"""Databases of recorded games that are damaged in any way."""

from __future__ import annotations

import numpy as np
import pytest
from cli.conftest import folder, run
from cli.records.test_commands import house
from playing import some_games
from records.conftest import ORIGINAL, run_sql

from fuzz.sqlite_mutations import mutate
from fuzz.trial import Trials, contents, nothing_found, restore
from punish_fast.records.logs import write_log

__all__ = ["folder", "house", "run"]

_RULES = ["--rules", "house.toml"]
# Commands, and the files that they write.
_COMMANDS = (
    (["records", "summary", "--db", "bad.db", *_RULES], []),
    (["records", "summary", "--db", "bad.db", "--player", "Ann", "--json", *_RULES], []),
    (["records", "import", "more.json", "--db", "bad.db", *_RULES], ["bad.db"]),
    (["records", "player", "Ann", "--db", "bad.db", "--export", "-o", "out.json"], ["out.json"]),
    (["records", "player", "Ann", "--db", "bad.db", "--anonymise"], ["bad.db"]),
    (["records", "player", "Ben", "--db", "bad.db", "--delete", "--yes"], ["bad.db"]),
    (["enemy", "parless", "--db", "bad.db", "-o", "parless.h5", "--quiet", *_RULES], ["parless.h5"]),
)


@pytest.fixture
def databases(run, house):
    """The current folder, with a database of ours and one of the original."""
    (house / "more.json").write_text(write_log(some_games(8, seed=50)))
    run("records", "import", "saves.json", "--db", "x.db", *_RULES)
    run_sql(house / "original.db", ORIGINAL)
    return house


@pytest.mark.slow
def test_damaged_databases(run, databases, pytestconfig):
    n_files = pytestconfig.getoption("fuzz_files")
    generator = np.random.default_rng(pytestconfig.getoption("fuzz_seed"))
    files = contents(databases)
    trials = Trials(run, databases)
    for number in range(n_files):
        restore(databases, files)
        (databases / "bad.db").write_bytes(files["x.db" if generator.random() < 0.8 else "original.db"])
        mutate(databases / "bad.db", generator)
        command, writes = _COMMANDS[generator.integers(len(_COMMANDS))]
        done = trials.attempt(number, command, writes, ignored=_is_of_wal)
        if done.code == 0 and "--export" in command:
            back = ["records", "import", "out.json", "--db", "new.db", *_RULES]
            done = trials.attempt(number, back, ["new.db"], codes=(0, 1))
            # Unreachable states of a damaged database are rejected.
            assert done.code == 0 or "rejected" in done.out, f"{number}: {command}: {done.err}"
    nothing_found(trials.wrong)
    assert trials.ended[0] > n_files / 10
    assert trials.ended[2] > n_files / 10


def _is_of_wal(name: str) -> bool:
    """Whether SQLite keeps a file beside a database with a write-ahead log."""
    return name.endswith(("-wal", "-shm"))

"""Processes that record games of the same two players into one database, are killed, or fill the disk."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from playing import RULES

from punish_fast.punish.rules import to_json
from punish_fast.records.database import open_to_read
from punish_fast.records.games import Selection, read_games
from punish_fast.records.summary import list_games
from records.conftest import query

# Print the id of each game that is kept, or the error that ends it.
RECORD = """
import json, resource, sys, time
from dataclasses import replace
from playing import some_games
from punish_fast.punish.rules import from_mapping
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.importing import record_games
from punish_fast.records.schema import new_id
rules, database, n = sys.argv[1:]
space, games = StateSpace(from_mapping(json.loads(rules))), some_games(20)
named = lambda side, name: replace(side, name=name, is_bot=False, temperature=None)
games = [replace(each, winner=named(each.winner, "you"), loser=named(each.loser, "me")) for each in games]
record_games(space, games[:1], "warm-up.db")
print("ready", flush=True)
if limit := int(sys.stdin.readline()):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
for k in range(int(n)):
    game = replace(games[k % len(games)], id=new_id(), played=int(time.time()))
    try:
        record_games(space, [game], database)
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {error}")
    print(game.id, flush=True)
"""


def start(folder: Path, n_games: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RECORD, to_json(RULES), "games.db", str(n_games)],
        cwd=folder,
        env={"PYTHONPATH": ":".join(path for path in sys.path if path), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def go(child: subprocess.Popen[str], limit: int = 0) -> None:
    """Let a process record as soon as it can, into files of at most ``limit`` bytes."""
    assert child.stdout.readline() == "ready\n"
    child.stdin.write(f"{limit}\n")
    child.stdin.flush()


def stored(folder: Path) -> list[int]:
    """The ids of all games, each of which has its breaths."""
    with open_to_read(folder / "games.db") as connection:
        found = dict(read_games(connection))
    assert query(folder / "games.db", "SELECT count(*) FROM games") == [(len(found),)]
    assert len(list_games(folder / "games.db", Selection(), 10**6)) == len(found)
    return sorted(found)


@pytest.mark.slow
def test_games_that_processes_record_at_once_are_kept_each_once(tmp_path):
    children = [start(tmp_path, 100) for _ in range(4)]
    begun = time.time()
    for child in children:
        go(child)
    told = [int(line) for child in children for line in child.communicate(timeout=300)[0].split()]
    assert stored(tmp_path) == sorted(set(told))
    assert len(told) == 400
    ((first, last),) = query(tmp_path / "games.db", "SELECT min(played), max(played) FROM games")
    assert begun - 1 <= first <= last <= time.time()


@pytest.mark.slow
@pytest.mark.parametrize("fills_the_disk", [False, True])
def test_a_process_that_ends_early_loses_no_game_that_was_kept(tmp_path, fills_the_disk):
    generator, path = np.random.default_rng(1), tmp_path / "games.db"
    told: set[int] = set()
    for _ in range(7):
        child = start(tmp_path, 10**6)
        if fills_the_disk:
            size = path.stat().st_size if path.exists() else 50_000
            go(child, size + int(generator.integers(100, 50_000)))
        else:
            go(child)
            time.sleep(generator.uniform(0, 0.5))
            child.kill()
        out, err = child.communicate(timeout=60)
        assert ("WriteError: games.db: " in err) == fills_the_disk
        told |= {int(line) for line in out.splitlines(keepends=True) if line.endswith("\n")}
        assert told <= set(stored(tmp_path))
    assert told

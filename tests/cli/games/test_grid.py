"""``punish-fast games grid``, ``tournament`` and ``retrain``."""

from __future__ import annotations

import signal
import subprocess
import time
from importlib.util import find_spec

import pytest
from numba import config

from cli.conftest import COMMAND, clean_environment
from punish_fast.learn.league import League

GRID = ("--schemes", "negamax,author", "--epsilons", "0.3", "--against", "random,self-random", "--games", "200")


def command(verb, *options):
    return ("games", verb, "tapnswap", "agents", *options, "--processes", "1", "--quiet")


@pytest.mark.slow
def test_a_league_goes_through_its_rounds(run, folder):
    grid = run(*command("grid", *GRID), "--json").report
    assert len(grid["agents"]) == 4
    assert {agent["games"] for agent in grid["agents"]} == {200, 400}
    assert run(*command("grid", *GRID), "--json").report["agents"] == grid["agents"]
    first = run(*command("tournament"), "--json").report
    assert (first["round"], len(first["ranking"])) == (0, 4)
    again = command("retrain", "--best", "0", "--against", "same,other", "--games", "50")
    later = run(*again, "--json").report
    assert (later["round"], len(later["agents"])) == (1, 8)
    assert run(*again, "--json").report["agents"] == later["agents"]
    run(*command("retrain")).refused("round 1 was started with")
    assert run(*command("tournament"), "--json").report["round"] == 1
    assert run(*command("retrain", "--games", "50"), "--json").report["round"] == 2
    assert League(folder / "agents").last_round == 2


def test_a_league_prints_tables(run, monkeypatch):
    done = run(*command("grid", *GRID))
    assert (done.code, done.err) == (0, "")
    assert "round 0 in agents: 4 agents" in done.out
    assert "negamax-e0.3-self-random" in done.out
    monkeypatch.setenv("COLUMNS", "80")
    done = run(*command("tournament"))
    assert "score: mean points against all others" in done.out
    assert "points of row" in done.out
    assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.slow
@pytest.mark.skipif(config.DISABLE_JIT, reason="processes run with the JIT on")
def test_a_killed_grid_resumes_to_the_same_end(run, folder):
    many = (*GRID[:2], "--epsilons", "0.1,0.5", *GRID[4:6], "--games", "30000", "--quiet")
    line = [*COMMAND, "games", "grid", "tapnswap", "killed", *many, "--processes", "2"]
    child = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_environment())
    deadline = time.monotonic() + 60
    while not list((folder / "killed").glob("round-0/*.h5")) and time.monotonic() < deadline:
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert list((folder / "killed").glob("round-0/*.h5"))
    run("games", "grid", "tapnswap", "killed", *many, "--processes", "1")
    run("games", "grid", "tapnswap", "whole", *many, "--processes", "1")
    killed, whole = League(folder / "killed"), League(folder / "whole")
    for plan in whole.plans(0):
        assert killed.learner(0, plan.name).digest == whole.learner(0, plan.name).digest


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs the extra plot")
def test_curves_are_drawn(run, folder):
    done = run(*command("grid", *GRID, "--plot", "grid.svg"))
    assert "wrote grid.svg" in done.out
    text = (folder / "grid.svg").read_text()
    assert "author-e0.3-random" in text
    assert "negamax-e0.3-random" in text


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["grid", "--epsilons", "a"], ["--epsilons is 'a', allowed: numbers with commas between"]),
        (["grid", "--against", "me"], ["opponents: 'me' is not allowed"]),
        (["grid", "--schemes", "me"], ["scheme: 'me' is not allowed"]),
        (["grid", "--games", "0"], ["--games", "0 is not allowed, it must be from 1"]),
        (["grid", "--limit", "1"], ["limit: 1 is not allowed"]),
        (["tournament"], ["holds no league"]),
        (["tournament", "--processes", "0"], ["--processes", "0 is not allowed, it must be from 1"]),
        (["retrain"], ["holds no league"]),
    ],
)
def test_wrong_options_are_refused_in_one_line(run, folder, arguments, texts):
    run("games", arguments[0], "tapnswap", "x", *arguments[1:]).refused(*texts)
    assert list(folder.iterdir()) == []


def test_the_name_of_the_folder_is_printed_escaped(run):
    odd = "le\x1b[31m\nague"
    for verb in (["grid", *GRID[:-1], "5"], ["tournament"]):
        done = run("games", verb[0], "tapnswap", odd, *verb[1:], "--processes", "1")
        assert done.out.startswith("round 0 in le\\x1b[31m\\nague: ")


def test_a_file_is_no_folder_of_a_league(run, folder):
    (folder / "x").touch()
    run("games", "grid", "tapnswap", "x").refused("x: is a file, not a folder")


def test_a_league_of_another_game_is_refused(run, monkeypatch):
    from punish_fast.games import registry

    run(*command("grid", *GRID[:-1], "5"))
    entry = registry.GAMES["tapnswap"]._replace(name="other")
    monkeypatch.setitem(registry.GAMES, "other", entry)
    run("games", "tournament", "other", "agents").refused("agents: its game is tapnswap, not other")

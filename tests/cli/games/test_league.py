from __future__ import annotations

from pathlib import Path

import pytest

from punish_fast.cli.games import league

LEAGUE = ("games", "league", "tapnswap", "agents", "--quiet")
GRID = ("--set", "scheme=negamax,author", "--set", "epsilon=0.3", "--games", "50")


@pytest.fixture(autouse=True)
def _one_process(monkeypatch):
    monkeypatch.setattr(league, "usable_cores", lambda: 1)


@pytest.mark.slow
def test_a_league_goes_through_its_rounds_and_resumes(run):
    report = run(*LEAGUE, *GRID, "--json").report
    first, second = report["rounds"]
    assert (len(first["agents"]), first["round"], second["round"]) == (8, 0, 1)
    assert {agent["games"] for agent in first["agents"]} == {50, 100}
    more = run(*LEAGUE, *GRID, "--rounds", "2", "--json").report
    assert more["rounds"][:2] == report["rounds"]
    assert len(more["rounds"]) == 3
    run(*LEAGUE, *GRID[:-1], "60").refused("was trained differently; choose another folder")


def test_a_league_prints_tables(run):
    done = run(*LEAGUE, "--set", "epsilon=0.3", "--games", "20")
    assert (done.code, done.err) == (0, "")
    shown = run(*LEAGUE[:-1], "--set", "epsilon=0.3", "--games", "20").then
    *_, path = shown.split()
    assert shown.startswith("punish-fast games play tapnswap --agent agents/round-1/")
    assert Path(path).exists()
    assert done.out.startswith("round 0\n  name ")
    assert "negamax-e0.3-self-random" in done.out


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--set", "beta=1"], "--set beta=1: unknown name; the names are scheme"),
        (["--set", "rate=0.1,0.2"], "--set: only scheme and epsilon may have several different values"),
    ],
)
def test_wrong_options_are_refused_in_one_line(run, folder, options, text):
    run(*LEAGUE, *options).refused(text)
    assert list(folder.iterdir()) == []


def test_a_file_is_no_folder_of_a_league(run, folder):
    (folder / "agents").touch()
    run(*LEAGUE).refused("agents: cannot be created")

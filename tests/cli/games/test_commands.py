"""``punish-fast tapnswap``: what it finds, what it trains, and games through a pipe."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from importlib.util import find_spec

import pytest
from numba import config

from cli.conftest import COMMAND, clean_environment
from punish_fast.learn.files import fetch
from punish_fast.learn.league import Championship

WITH_JIT = pytest.mark.skipif(config.DISABLE_JIT, reason="processes of their own are tried with the JIT on")
NEEDS_PLOT = pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs the extra plot")
GRID = ("--schemes", "negamax,author", "--epsilons", "0.3", "--against", "random,self-random", "--games", "200")


@pytest.fixture
def say(monkeypatch):
    def answers(*lines):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))

    return answers


def test_solve_tells_all_numbers(run):
    report = run("tapnswap", "solve", "--json").report
    wanted = {
        "states": 191,
        "wins": 120,
        "losses": 47,
        "draws": 10,
        "raw_states": 540,
        "start": "loss",
        "plies": 26,
        "certified": True,
    }
    assert {name: report[name] for name in wanted} == wanted
    best = report["best_response_vs_random"]
    assert (best["first"], best["second"]) == pytest.approx((0.999997275072857, 1.0), abs=1e-12)
    assert best["error_bound"] < 1e-12
    assert report["random_vs_random"] == pytest.approx(0.398413794960370, abs=1e-12)
    assert len(report["line"]) == 26


@pytest.mark.parametrize(
    ("options", "start", "plies"),
    [
        (["--roll-over"], "draw", None),
        (["--no-emptying"], "draw", None),
        (["--taps-only"], "loss", 8),
        (["--limit", "4"], "win", 17),
        (["--limit", "3", "--taps-only"], "win", 5),
    ],
)
def test_variants_are_solved(run, options, start, plies):
    report = run("tapnswap", "solve", *options, "--json").report
    assert (report["start"], report["plies"]) == (start, plies)


def test_solve_is_told_in_words(run):
    done = run("tapnswap", "solve")
    assert (done.code, done.err) == (0, "")
    assert "from 1-1 against 1-1, who starts loses, in 26 moves (certified)" in done.out
    assert "0.999997275073" in done.out
    assert "nobody can force a win (certified)" in run("tapnswap", "solve", "--roll-over").out


def test_show_tells_what_every_move_leads_to(run):
    report = run("tapnswap", "show", "3-1/2-4", "--json").report
    assert (report["value"], report["plies"]) == ("draw", None)
    assert {move["move"]: (move["outcome"], move["plies"]) for move in report["moves"]} == {
        "tap 1 on 2": ("loss", 18),
        "tap 1 on 4": ("loss", 18),
        "tap 3 on 2": ("draw", None),
        "tap 3 on 4": ("loss", 18),
        "swap to 4-0": ("loss", 2),
        "swap to 2-2": ("draw", None),
    }
    assert [move["move"] for move in report["moves"] if move["best"]] == ["tap 3 on 2"]
    done = run("tapnswap", "show", "1-1/1-1")
    assert "loss in 26 for who is to move" in done.out
    assert "tap 1 on 1   loss in 26  <- best" in done.out


def test_show_knows_hands_that_cannot_come_up(run):
    assert run("tapnswap", "show", "4444", "--json").report["value"] == "win"
    ended = run("tapnswap", "show", "0-0/1-1", "--json").report
    assert (ended["value"], ended["plies"], ended["moves"], ended["line"]) == ("loss", 0, [], [])
    assert run("tapnswap", "show", "0-0/1-1").code == 0


def test_an_agent_learns_and_goes_on(run, folder):
    options = ("--games", "3000", "--epsilon", "0.6", "--seed", "5", "--quiet")
    report = run("tapnswap", "train", *options, "--json").report
    assert (report["games"], report["output"]) == (3000, "tapnswap.h5")
    assert report["curve"][-1]["games"] == 3000
    assert fetch(folder / "tapnswap.h5")[1].digest == report["digest"]
    again = run("tapnswap", "train", *options, "-o", "again.h5", "--json").report
    assert again["digest"] == report["digest"]
    more = run(
        *("tapnswap", "train", "--from", "again.h5", "--against", "random", "--games", "50"),
        *("-o", "more.h5", "--json", "--quiet"),
    ).report
    assert [session["opponent"] for session in more["sessions"]] == ["self", "random"]
    assert more["games"] == 3050
    assert run("tapnswap", "train", *options, "--resume", "--json").report["played"] == 0
    refused = run("tapnswap", "train", "--epsilon", "0.1", "--resume", "--quiet")
    refused.refused("tapnswap.h5: was begun with Method(", "epsilon=0.6", "epsilon=0.1")
    assert fetch(folder / "tapnswap.h5")[1].digest == report["digest"]


def test_training_that_was_stopped_goes_on_to_the_same_end(run, monkeypatch, folder):
    options = ("tapnswap", "train", "--games", "400", "--against", "random,self", "--scheme", "author", "--quiet")
    whole = run(*options, "-o", "whole.h5", "--json").report
    from punish_fast.cli.games import train

    keep, kept = train.keep, []

    def keep_three(path, game, learner):
        keep(path, game, learner)
        kept.append(learner.games)
        if len(kept) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(train, "keep", keep_three)
    stopped = run(*options, "-o", "x.h5")
    assert stopped.code == 130
    assert "x.h5 holds what was learned so far; the same command with --resume goes on" in stopped.err
    monkeypatch.setattr(train, "keep", keep)
    assert 0 < fetch(folder / "x.h5")[1].games < 800
    resumed = run(*options, "-o", "x.h5", "--resume", "--json").report
    assert (resumed["digest"], resumed["curve"]) == (whole["digest"], whole["curve"])
    assert resumed["played"] < 800


def test_the_learner_can_be_played_while_it_learns(run, say):
    say("1", "q", "q")
    done = run("tapnswap", "train", "--games", "300", "--play-every", "150", "--quiet")
    assert done.code == 0
    assert done.out.count("your move (1 to 2, q leaves)") == 2
    assert done.out.count("The game was left.") == 2
    assert "after 150 games\nafter 300 games\n" in done.err


def test_people_play_through_a_pipe(run, say):
    say(*["1"] * 20)
    done = run("tapnswap", "play", "--level", "perfect")
    assert done.code == 0
    assert "A hand that reaches 5 fingers or more dies." in done.out
    assert "you, your move (1 to 2, q leaves): 1\nyou: tap 1 on 1\n" in done.out
    assert "perfect won after" in done.out
    say(*["1"] * 30)
    report = run("tapnswap", "play", "--level", "random", "--seed", "1", "--second", "--json")
    result = json.loads(report.out)
    assert result["players"] == ["random", "you"]
    assert result["ended"]
    assert result["winner"] in result["players"]
    assert "Both players have two hands" in report.err


def test_two_people_play_each_other(run, say):
    say("1", "2", "q")
    done = run("tapnswap", "play", "--players", "2")
    assert (done.code, done.err) == (0, "")
    assert "player 1: tap 1 on 1" in done.out
    assert "player 2: swap to" in done.out or "player 2: tap" in done.out
    assert done.out.endswith("The game was left.\n")


def test_the_trained_one_plays(run, say):
    run("tapnswap", "train", "--games", "3000", "--quiet")
    for options in ((), ("--agent", "tapnswap.h5")):
        say("1", "q")
        done = run("tapnswap", "play", "--level", "trained", *options)
        assert done.code == 0
        assert "trained: " in done.out


def test_a_search_goes_through_its_rounds(run, folder):
    one = ("--processes", "1", "--quiet", "--json")
    grid = run("tapnswap", "grid", "agents", *GRID, *one).report
    assert len(grid["agents"]) == 4
    assert {agent["games"] for agent in grid["agents"]} == {200, 400}
    assert run("tapnswap", "grid", "agents", *GRID, *one).report["agents"] == grid["agents"]
    cup = run("tapnswap", "tournament", "agents", *one).report
    assert (cup["round"], len(cup["ranking"])) == (0, 4)
    later = run("tapnswap", "retrain", "agents", "--best", "0", "--against", "same,other", "--games", "50", *one).report
    assert (later["round"], len(later["agents"])) == (1, 8)
    again = ("tapnswap", "retrain", "agents", "--best", "0", "--against", "same,other", "--games", "50")
    assert run(*again, *one).report["agents"] == later["agents"]
    run("tapnswap", "retrain", "agents", "--quiet").refused("round 1 was begun with")
    assert run("tapnswap", "tournament", "agents", *one).report["round"] == 1
    assert run("tapnswap", "retrain", "agents", "--games", "50", *one).report["round"] == 2
    assert Championship(folder / "agents").last_round == 2


def test_a_search_is_told_in_words(run):
    done = run("tapnswap", "grid", "agents", *GRID, "--processes", "1", "--quiet")
    assert (done.code, done.err) == (0, "")
    assert "round 0 in agents: 4 agents" in done.out
    assert "negamax-e0.3-self-random" in done.out
    done = run("tapnswap", "tournament", "agents", "--processes", "1", "--quiet")
    assert "ranking" in done.out
    assert "points of row" in done.out


@WITH_JIT
def test_a_grid_that_is_killed_goes_on_to_the_same_end(run, folder):
    many = (*GRID[:2], "--epsilons", "0.1,0.5", *GRID[4:6], "--games", "30000", "--quiet")
    command = [*COMMAND, "tapnswap", "grid", "killed", *many, "--processes", "2"]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_environment())
    deadline = time.monotonic() + 60
    while not list((folder / "killed").glob("round-0/*.h5")) and time.monotonic() < deadline:
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert list((folder / "killed").glob("round-0/*.h5"))
    run("tapnswap", "grid", "killed", *many, "--processes", "1")
    run("tapnswap", "grid", "whole", *many, "--processes", "1")
    killed, whole = Championship(folder / "killed"), Championship(folder / "whole")
    for entry in whole.entries(0):
        assert killed.learner(0, entry.name).digest == whole.learner(0, entry.name).digest


@NEEDS_PLOT
def test_curves_are_drawn(run, folder):
    assert run("tapnswap", "train", "--games", "300", "--plot", "one.svg", "--quiet").code == 0
    assert "negamax-e0.5-self" in (folder / "one.svg").read_text()
    done = run("tapnswap", "grid", "agents", *GRID, "--processes", "1", "--plot", "grid.svg", "--quiet")
    assert "wrote grid.svg" in done.out
    text = (folder / "grid.svg").read_text()
    assert "author-e0.3-random" in text
    assert "negamax-e0.3-random" in text


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["solve", "--limit", "1"], ["limit: 1 is not allowed, it must be from 2 to 16"]),
        (["show", "5-0/1-1"], ["state: '5-0/1-1' is none", 'such as "3-1 2-4"']),
        (["show", "1-1"], ["state: '1-1' is none"]),
        (["play", "--level", "hard"], ["--level is 'hard', allowed are random, trained, perfect"]),
        (["play", "--players", "3"], ["--players is 3, allowed are 1 and 2"]),
        (["play", "--agent", "no.h5"], ["no.h5: there is no such file"]),
        (["play", "--agent", "x.h5", "--level", "random"], ["--agent goes with --level trained only"]),
        (["train", "--games", "0"], ["games: 0, allowed are 1 to"]),
        (["train", "--against", "me"], ["opponent: 'me' is not allowed, it must be one of random, self"]),
        (["train", "--scheme", "x"], ["scheme: 'x' is not allowed"]),
        (["train", "--rate", "x"], ["--rate is 'x', allowed are a number and visits"]),
        (["train", "--epsilon", "2"], ["epsilon: 2.0 is not allowed"]),
        (["train", "--seed", "-1"], ["seed: -1 is not allowed"]),
        (["train", "--from", "no.h5"], ["no.h5: there is no such file"]),
        (["train", "--from", "tapnswap.h5"], ["tapnswap.h5: is the file to train on and will not be replaced"]),
        (["train", "--from", "a.h5", "--rate", "1"], ["are those of the agent that is trained on"]),
        (["train", "--play-every", "0"], ["--play-every is 0, allowed are 1 and more"]),
        (["train", "-o", "no/x.h5"], ["there is no folder no"]),
        (["grid", "x", "--epsilons", "a"], ["--epsilons is 'a', allowed are numbers with commas between them"]),
        (["grid", "x", "--against", "me"], ["opponents: ['me'] are not allowed"]),
        (["grid", "x", "--schemes", "me"], ["scheme: 'me' is not allowed"]),
        (["grid", "x", "--games", "0"], ["--games is 0, allowed are 1 and more"]),
        (["grid", "x", "--processes", "0"], ["--processes is 0, allowed are 1 and more"]),
        (["tournament", "x"], ["round-0.json: cannot be read"]),
        (["retrain", "x"], ["round-0.json: cannot be read"]),
    ],
)
def test_wrong_wishes_are_refused_in_one_line(run, folder, arguments, texts):
    run("tapnswap", *arguments).refused(*texts)
    assert list(folder.iterdir()) == []


def test_agents_of_other_rules_are_refused(run):
    run("tapnswap", "train", "--games", "10", "--limit", "4", "--quiet")
    run("tapnswap", "play", "--agent", "tapnswap.h5").refused("tapnswap.h5: belongs to", "'limit': 4")

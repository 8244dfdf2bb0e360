"""``arena`` and ``exploit``: who wins, as text, as JSON, as a picture, and in a file to go on with."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from cli.conftest import run_apart
from punish_fast.arena import batch, tournament
from punish_fast.arena.duel import head_to_head
from punish_fast.arena.exploiter import best_response
from punish_fast.arena.opponents import opponent, true_rules
from punish_fast.punish.graph import Graph
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace

TINY = ("--rules", "tiny", "--quiet")


@pytest.fixture(scope="module")
def graph():
    return Graph(StateSpace(true_rules(PRESETS["tiny"])))


def test_everybody_meets_everybody(run, graph):
    report = run("arena", "random", "careful", "punisher", *TINY, "--json").report
    names = ["random", "careful", "punisher"]
    assert (report["agents"], report["exact"], report["games"], report["seed"]) == (names, True, None, None)
    policies = [opponent(graph.space, name).policy for name in names]
    for i, own in enumerate(policies):
        for j, enemy in enumerate(policies):
            duel = head_to_head(graph, own, enemy)
            assert report["win"][i][j] == pytest.approx(duel.win_probability, abs=1e-10)
            assert report["breaths"][i][j] == pytest.approx(duel.length, abs=1e-9)
    assert report["standard_error"] == [[0.0] * 3] * 3
    ratings = [standing["rating"] for standing in report["ranking"]]
    assert ratings == sorted(ratings, reverse=True)
    assert {standing["agent"] for standing in report["ranking"]} == set(names)
    assert set(report["seconds"]) == {"graph", "agents", "matches", "total"}
    assert (report["rules_digest"], report["resume"], report["plot"]) == (graph.space.rules.digest, None, None)


@pytest.mark.usefixtures("files")
def test_agents_from_files_bring_their_rules(run, graph):
    report = run("arena", "agent.h5", "other-agent.h5", "strategy.h5", "agent.h5@0.5", "-q", "--json").report
    assert report["agents"] == ["agent", "other-agent", "strategy", "agent@0.5"]
    assert report["rules_digest"] == graph.space.rules.digest
    assert report["temperature"] is None
    soft = run("arena", "agent.h5", "strategy.h5", "--temperature", "0.5", "-q", "--json").report
    assert soft["temperature"] == 0.5
    assert soft["win"][0][1] == pytest.approx(report["win"][3][2], abs=1e-10)


def test_games_are_the_same_for_a_seed(run):
    one, other = (
        run("arena", "random", "careful", *TINY, "--games", "400", "--seed", "7", "--threads", threads, "--json").report
        for threads in ("1", "2")
    )
    assert (one["games"], one["seed"], one["exact"]) == (400, 7, False)
    assert one["win"] == other["win"]
    assert 0 < one["standard_error"][0][1] < 0.05
    assert all(standing["rating_margin"] > 0 for standing in one["ranking"])


def test_a_seed_that_was_drawn_is_told(run):
    report = run("arena", "random", "careful", *TINY, "--games", "400", "--json").report
    again = run("arena", "random", "careful", *TINY, "--games", "400", "--seed", report["seed"], "--json").report
    assert again["win"] == report["win"]


@pytest.mark.parametrize("games", [[], ["--games", "100", "--seed", "1"]])
def test_what_was_found_is_told(run, folder, games):
    done = run("arena", "random", "careful", *TINY, *games, "--resume", "x.json", "--plot", "x.png")
    assert (done.code, done.err) == (0, "")
    for text in ("wins of row", "breaths", "ranking", "wrote x.json", "wrote x.png"):
        assert text in done.out
    assert ("100 games a pair, seed 1" if games else "exact") in done.out
    assert (" +- " in done.out) == bool(games)
    assert (folder / "x.png").stat().st_size > 1000
    assert not list(folder.glob(".*"))


def test_an_arena_goes_on_where_it_was_interrupted(run, folder, monkeypatch):
    command = ("arena", "random", "careful", "punisher", *TINY, "--games", "400", "--seed", "3", "--json")
    expected = run(*command).report
    calls = []

    def interrupt(*args, **options):
        calls.append(args)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return batch.simulate(*args, **options)

    monkeypatch.setattr(tournament, "simulate", interrupt)
    done = run(*command, "--resume", "x.json")
    assert (done.code, done.out) == (130, "")
    assert "x.json holds all matches so far" in done.err
    assert len(json.loads((folder / "x.json").read_text())["sampled"]) == 3
    report = run(*command, "--resume", "x.json").report
    assert len(calls) == 7
    for key in ("win", "standard_error", "breaths", "ranking"):
        assert report[key] == expected[key]


def test_an_interrupt_before_the_first_match_keeps_nothing(run, folder, monkeypatch):
    def interrupt(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(tournament, "head_to_head", interrupt)
    done = run("arena", "random", "careful", *TINY)
    assert (done.code, done.out) == (130, "")
    assert "holds" not in done.err
    assert not list(folder.iterdir())


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        ([], ["AGENT"]),
        (["random"], ["agents: 1 cannot hold a tournament"]),
        (["random", "random"], ["random: stands twice"]),
        (["random", "nobody"], ["nobody: there is no such file"]),
        (["random", "."], ["there is no such file"]),
        (["random", "tensor.h5"], ["tensor.h5: is a tensor"]),
        (["random", "strategy.h5@1"], ["strategy.h5@1: has no values"]),
        (["random", "agent.h5@0"], ["temperature: 0.0"]),
        (["random", "agent.h5", "--temperature", "-1"], ["temperature: -1.0"]),
        (["random", "agent.h5", "--temperature", "nan"], ["temperature: nan"]),
        (["random", "strategy.h5", "--temperature", "1"], ["--temperature goes with agent files and naive only"]),
        (["random", "agent.h5", "--rules", "notebook"], ["agent.h5: made for rules", "may differ in redeal only"]),
        (["random", "careful", "--rules", "chess"], ["'chess' is neither a preset"]),
        (["random", "careful", "--exact", "--games", "10"], ["--exact and --games exclude each other"]),
        (["random", "careful", "--seed", "1"], ["--seed goes with --games only"]),
        (["random", "careful", "--games", "0"], ["games: 0, allowed are even numbers"]),
        (["random", "careful", "--games", "7"], ["games: 7, allowed are even numbers"]),
        (["random", "careful", "--games", "many"], ["--games"]),
        (["random", "agent.h5", "--games", "10", "--seed", "-1"], ["seed: -1"]),
        (["random", "agent.h5", "--games", "10", "--seed", str(1 << 64)], ["seed: "]),
        (["random", "careful", "--plot", "x.pdf"], ["suffix is '.pdf', allowed are .png and .svg"]),
        (["random", "careful", "--plot", "no/x.png"], ["there is no folder no"]),
        (["random", "careful", "--resume", "."], ["is a folder"]),
        (["random", "agent.h5", "--resume", "agent.h5"], ["agent.h5: is no file of an arena's results"]),
        (["random", "careful", "--threads", "0"], ["threads"]),
        (["random", "careful", "--record", "x.db"], ["--record goes with --games only"]),
        (["random", "careful", "--games", "100002", "--record", "x.db"], ["100,002 in all are too many to record"]),
        (["random", "careful", "--games", "10", "--record", "no/x.db"], ["there is no folder no"]),
    ],
)
def test_what_cannot_meet_is_refused(run, folder, arguments, texts):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    run("arena", *arguments, "-q").refused(*texts)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_games_are_recorded(run, folder):
    command = ("arena", "naive@0.5", "careful", "punisher", *TINY, "--games", "20", "--seed", "2", "--record", "x.db")
    report = run(*command, "--json").report
    assert report["record"] == "x.db"
    summary = run("games", "summary", "--db", "x.db", "--rules", "tiny", "--json").report
    assert summary["games"] == 60
    wins = {player["name"]: player["wins"] for player in summary["players"]}
    expected = {standing["agent"]: 40 * standing["win_rate"] for standing in report["ranking"]}
    assert wins == pytest.approx(expected)
    # What is no database stays as it is.
    (folder / "y.db").write_text("no database", encoding="utf-8")
    run(*command[:-1], "y.db").refused("y.db")
    assert (folder / "y.db").read_text(encoding="utf-8") == "no database"


def test_results_of_another_game_are_refused(run, folder):
    assert run("arena", "random", "careful", *TINY, "--resume", "x.json").code == 0
    before = (folder / "x.json").read_bytes()
    run("arena", "random", "careful", "--resume", "x.json").refused("x.json: made by rules")
    assert (folder / "x.json").read_bytes() == before


def test_a_game_that_never_ends_is_refused(run, folder):
    (folder / "peace.toml").write_text(
        "damage = [0, 0, 0, 0, 0]\nhand_size = 1\nhp = 1\nbreaths = 1\ncopies = [1, 1, 1, 1, 3]\n"
    )
    run("arena", "random", "careful", "--rules", "peace.toml", "-q").refused("may never end a game")


def test_without_matplotlib_nothing_is_begun(run, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = run("arena", "random", "careful", *TINY, "--plot", "x.png", "--resume", "x.json")
    done.refused('install with: pip install "punish-fast[plot]"')
    assert not list(folder.iterdir())


@pytest.mark.usefixtures("files")
def test_an_agent_is_exploited(run, graph):
    report = run("exploit", "agent.h5", "-q", "--json").report
    policy = opponent(graph.space, "agent.h5").policy
    expected = {beliefs: best_response(graph, policy, beliefs).win_probability for beliefs in ("uniform", "true")}
    assert report["exploiters"] == expected
    assert 0.5 < expected["uniform"] <= expected["true"]
    assert report["agent"] == "agent"
    assert max(report["rounds"]["true"]) == expected["true"]
    soft = run("exploit", "agent.h5", "--temperature", "5", "-q", "--json").report
    assert soft["exploiters"]["uniform"] != expected["uniform"]


def test_an_exploit_is_told(run):
    done = run("exploit", "random", *TINY)
    assert (done.code, done.err) == (0, "")
    assert "against random" in done.out
    chances = [float(line.split()[1]) for line in done.out.splitlines() if line.startswith(("uniform", "true"))]
    assert len(chances) == 2
    assert np.all(np.array(chances) > 0.7)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        ([], ["AGENT.h5"]),
        (["nobody"], ["nobody: there is no such file"]),
        (["tensor.h5"], ["tensor.h5: is a tensor"]),
        (["random", "--temperature", "1"], ["--temperature goes with agent files and naive only"]),
        (["agent.h5", "--rules", "tabletop"], ["agent.h5: made for rules"]),
    ],
)
def test_what_cannot_be_exploited_is_refused(run, arguments, texts):
    run("exploit", *arguments, "-q").refused(*texts)


@pytest.mark.usefixtures("files")
def test_both_commands_work_in_processes_of_their_own(folder):
    done = run_apart("arena", "agent.h5", "random", "--games", "100", "--json", cwd=folder)
    assert done.report["agents"] == ["agent", "random"]
    assert run_apart("exploit", "agent.h5", "--json", "-q", cwd=folder).report["exploiters"]["true"] > 0.5

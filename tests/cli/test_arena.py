"""``arena`` and ``exploit``: results as text and JSON, and refused arguments."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from punish_fast.arena import simulated_records
from punish_fast.arena.players import Player
from punish_fast.cli.frame import progress as reporting
from punish_fast.duel.exact_evaluation import head_to_head
from punish_fast.duel.graph import Graph
from punish_fast.equilibrium.exploitation.best_response import best_response
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.space import StateSpace

TINY = ("--rules", "tiny", "--quiet")


@pytest.fixture(scope="module")
def graph():
    return Graph(StateSpace(true_rules(PRESETS["tiny"])))


def test_every_stage_is_told_on_stderr(run, folder, monkeypatch):  # noqa: ARG001
    monkeypatch.setattr(reporting, "_SECONDS_BETWEEN_LINES", 0.0)
    command = ("arena", "random", "careful", "--rules", "tiny", "--games", "8", "--record", "new.db", "--json")
    told = [line for line in run(*command).err.splitlines() if not line.endswith(" s")]
    stages = [line for line in told if line.startswith(("game: ", "arena: ")) and " of 3" not in line]
    assert stages == [
        "game: agents",
        "game: graph",
        "arena: matches",
        "arena: lengths of games",
        "arena: recording games",
    ]


def test_a_tournament_is_a_round_robin_of_exact_duels(run, graph):
    report = run("arena", "random", "careful", "punisher", *TINY, "--json").report
    names = ["random", "careful", "punisher"]
    assert (report["agents"], report["exact"], report["games"], report["seed"]) == (names, True, None, None)
    policies = [Player(name).policy(graph.space) for name in names]
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
    assert (report["rules_digest"], report["record"]) == (graph.space.rules.digest, None)


@pytest.mark.usefixtures("files")
def test_agents_from_files_bring_their_rules(run, graph):
    report = run("arena", "agent.h5", "other-agent.h5", "strategy.h5", "agent.h5@0.5", "-q", "--json").report
    assert report["agents"] == ["agent", "other-agent", "strategy", "agent@0.5"]
    assert report["rules_digest"] == graph.space.rules.digest
    assert report["win"][0][2] != report["win"][3][2]


def test_games_are_the_same_for_a_seed(run):
    one, other = (
        run("arena", "random", "careful", *TINY, "--games", "400", "--seed", "7", "--threads", threads, "--json").report
        for threads in ("1", "2")
    )
    assert (one["games"], one["seed"], one["exact"]) == (400, 7, False)
    assert one["win"] == other["win"]
    assert 0 < one["standard_error"][0][1] < 0.05
    assert all(standing["rating_margin"] > 0 for standing in one["ranking"])


@pytest.mark.parametrize("games", [[], ["--games", "100", "--seed", "1"]])
def test_results_are_printed(run, folder, games):
    done = run("arena", "random", "careful", *TINY, *games)
    assert (done.code, done.err) == (0, "")
    for text in ("wins of row", "breaths", "ranking"):
        assert text in done.out
    assert ("100 games of each pair, seed 1" if games else "exact") in done.out
    assert (" +- " in done.out) == bool(games)
    assert not list(folder.iterdir())


def test_two_agents_get_the_lengths_of_their_games(run):
    report = run("arena", "naive", "careful", *TINY, "--json").report
    course = report["game_lengths"]
    wins = np.array([entry["wins"] for entry in course]).sum(axis=0)
    assert wins == pytest.approx([report["win"][0][1], report["win"][1][0]], abs=2e-9)
    ended = np.array([entry["ended"] for entry in course]).ravel()
    assert ended @ np.arange(1, len(ended) + 1) == pytest.approx(report["breaths"][0][1], abs=1e-6)
    assert set(report["seconds"]) == {"graph", "agents", "matches", "lengths", "total"}
    played = run("arena", "naive", "careful", *TINY, "--games", "4000", "--seed", "1", "--json").report["game_lengths"]
    assert np.array([entry["ended"] for entry in played]).ravel()[:2] == pytest.approx(ended[:2], abs=0.05)
    assert run("arena", "random", "naive", "careful", *TINY, "--json").report["game_lengths"] is None


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["random"], ["agents: a tournament needs at least 2, not 1"]),
        (["random", "random"], ["random: is named twice"]),
        (["random", "nobody"], ["'nobody': no such file; the built-in players are random"]),
        (["random", "tensor.h5"], ["tensor.h5: is a tensor"]),
        (["random", "agent.h5@0"], ["agent.h5@0: temperature 0 is not allowed"]),
        (["random", "agent.h5", "--rules", "notebook"], ["agent.h5: made for rules", "only the redeal may differ"]),
        (["random", "careful", "--seed", "1"], ["--seed requires --games"]),
        (["random", "careful", "--games", "7"], ["games: 7 is not an even number"]),
        (["random", "agent.h5", "--games", "10", "--record", "strategy.h5"], ["strategy.h5: "]),
        (["random", "careful", "--record", "x.db"], ["--record requires --games"]),
        (["random", "careful", "--games", "100002", "--record", "x.db"], ["100,002 are too many to record"]),
        (["random", "careful", "--games", "10", "--record", "no/x.db"], ["there is no folder no"]),
    ],
)
def test_wrong_input_is_refused(run, folder, arguments, texts):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    run("arena", *arguments, "-q").refused(*texts)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_games_are_recorded(run, folder):
    command = ("arena", "naive@0.5", "careful", "punisher", *TINY, "--games", "20", "--seed", "2", "--record", "x.db")
    report = run(*command, "--json").report
    assert report["record"] == "x.db"
    summary = run("records", "summary", "--db", "x.db", "--rules", "tiny", "--json").report
    assert summary["games"] == 60
    wins = {player["name"]: player["wins"] for player in summary["players"]}
    expected = {standing["agent"]: 40 * standing["win_rate"] for standing in report["ranking"]}
    assert wins == pytest.approx(expected)
    # What is no database stays as it is.
    (folder / "y.db").write_text("no database", encoding="utf-8")
    run(*command[:-1], "y.db").refused("y.db")
    assert (folder / "y.db").read_text(encoding="utf-8") == "no database"


def test_a_tournament_recorded_twice_within_a_second_is_stored_twice(run, monkeypatch):
    monkeypatch.setattr(simulated_records.time, "time", lambda: 1e9)
    for n in (10, 20):
        assert run("arena", "random", "careful", *TINY, "--games", "10", "--seed", "2", "--record", "x.db").code == 0
        assert len(json.loads(run("records", "list", "-n", "50", "--db", "x.db", "--json").out)["games"]) == n


def test_a_game_that_never_ends_is_refused(run, folder):
    (folder / "peace.toml").write_text(
        "damage = [0, 0, 0, 0, 0]\nhand_size = 1\nhp = 1\nbreaths = 1\ncopies = [1, 1, 1, 1, 3]\n"
    )
    run("arena", "random", "careful", "--rules", "peace.toml", "-q").refused("games may never end")


@pytest.mark.usefixtures("files")
def test_an_agent_is_exploited(run, graph):
    report = run("exploit", "agent.h5", "--exploiter", "uniform", "--exploiter", "true", "-q", "--json").report
    policy = Player("agent.h5").policy(graph.space)
    expected = {beliefs: best_response(graph, policy, beliefs).win_probability for beliefs in ("uniform", "true")}
    assert report["exploiters"] == expected
    assert 0.5 < expected["uniform"] <= expected["true"] == max(report["rounds"]["true"])
    assert report["agent"] == "agent"
    assert [report[name] for name in ("off_policy_weight", "games", "seed", "depth")] == [0.01, None, None, None]


def test_exploiters_are_printed(run):
    done = run("exploit", "random", *TINY)
    assert (done.code, done.err) == (0, "")
    assert re.search(r"^games +20,000$", done.out, re.MULTILINE)
    [chances] = [line.split()[2::2] for line in done.out.splitlines() if line.startswith("exploiters ")]
    assert len(chances) == 4
    assert all(float(chance.rstrip(",")) > 0.7 for chance in chances)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["random@1"], ["random@1: has no values"]),
        (["agent.h5", "--rules", "tabletop"], ["agent.h5: made for rules"]),
    ],
)
def test_wrong_input_to_exploit_is_refused(run, arguments, texts):
    run("exploit", *arguments, "-q").refused(*texts)

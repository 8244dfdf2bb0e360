from __future__ import annotations

import json
import re
import shlex
import struct
from functools import partialmethod
from pathlib import Path

import numpy as np
import pytest

from punish_fast.arena.players import Player
from punish_fast.arena.tournament import lengths_of_duel, lengths_of_games
from punish_fast.cli.strategies.arena import print_lengths
from punish_fast.duel.evaluation import head_to_head
from punish_fast.duel.graph import GameGraph
from punish_fast.equilibrium.exploitation import exploiters
from punish_fast.equilibrium.exploitation.best_response import best_response
from punish_fast.equilibrium.exploitation.bracket import BracketSearch, bracket
from punish_fast.equilibrium.exploitation.stored_bounds import LAYOUT
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.runtime.deadline import TimeLimitError
from punish_fast.store.bundles import load_bundle, save_bundle

TINY = ("--rules", "tiny", "--quiet")


@pytest.fixture(scope="module")
def graph():
    return GameGraph(StateSpace(true_rules(PRESETS["tiny"])))


def test_a_tournament_is_a_round_robin_of_exact_duels(run, graph):
    size = ("--plot", "a.png", "--width", "4", "--dpi", "50")
    report = run("arena", "random", "careful", "punisher", *TINY, "--json", *size).report
    assert struct.unpack(">I", Path("a.png").read_bytes()[16:20]) == (200,)
    assert report["plot"] == "a.png"
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
    assert (report["rules_digest"], report["database"]) == (graph.space.rules.digest, None)


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
    assert ("95% interval" in done.out) == bool(games)
    report = run("arena", "random", "careful", *TINY, *games, "--json").report
    best, other = (report["agents"].index(standing["agent"]) for standing in report["ranking"])
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    name, win, breaths = (report[key][best] for key in ("agents", "win", "breaths"))
    assert f"{name} - {win[other]:.1%}" in lines
    assert f"{name} {breaths[best]:.2f} {breaths[other]:.2f}" in lines
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
        (["arena", "random"], ["agents: a tournament needs at least 2, not 1"]),
        (["arena", "random", "random"], ["random: is named twice"]),
        (["arena", "random", "agent.h5", "--rules", "notebook"], ["made for rules", "only the redeal may differ"]),
        (["arena", "random", "careful", "--seed", "1"], ["--seed requires --games"]),
        (["arena", "random", "careful", "--games", "7"], ["games: 7 is not an even number"]),
        (["arena", "random", "agent.h5", "--games", "10", "--db", "strategy.h5"], ["strategy.h5: "]),
        (["arena", "random", "careful", "--db", "x.db"], ["--db requires --games"]),
        (["arena", "random", "careful", "--games", "100002", "--db", "x.db"], ["100,002 are too many to record"]),
        (["exploit", "agent.h5", "--rules", "tabletop"], ["agent.h5: made for rules"]),
    ],
)
def test_wrong_input_is_refused(run, folder, arguments, texts):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    run(*arguments, "-q").refused(*texts)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_games_are_recorded(run):
    command = ("arena", "naive@0.5", "careful", "punisher", *TINY, "--games", "20", "--seed", "2", "--db", "x.db")
    report = run(*command, "--json").report
    assert report["database"] == "x.db"
    summary = run("records", "summary", "--db", "x.db", "--rules", "tiny", "--json").report
    assert summary["games"] == 60
    wins = {player["name"]: player["wins"] for player in summary["players"]}
    expected = {standing["agent"]: 40 * standing["win_rate"] for standing in report["ranking"]}
    assert wins == pytest.approx(expected)


def test_a_game_that_never_ends_is_refused(run, folder):
    (folder / "peace.toml").write_text(
        "damage = [0, 0, 0, 0, 0]\nhand_size = 1\nhp = 1\nbreaths = 1\ncopies = [1, 1, 1, 1, 3]\n"
    )
    run("arena", "random", "careful", "--rules", "peace.toml", "-q").refused("games may never end")


@pytest.mark.usefixtures("files")
def test_an_agent_is_exploited(run, graph):
    report = run("exploit", "agent.h5", "--exploiter", "uniform-belief", "--exploiter", "belief", "-q", "--json").report
    policy = Player("agent.h5").policy(graph.space)
    expected = {name: best_response(graph, policy, name).win_probability for name in ("uniform-belief", "belief")}
    assert report["exploiters"] == expected
    assert 0.5 < expected["uniform-belief"] <= expected["belief"] == max(report["rounds"]["belief"])
    assert report["agent"] == "agent"
    assert [report[name] for name in ("off_policy_weight", "lower_bound", "first_actions")] == [0.01, None, {}]


def test_exploiters_are_printed(run):
    done = run("exploit", "random", *TINY)
    assert (done.code, done.err) == (0, "")
    chances = re.findall(r"^  ([\w-]+) +([\d.]+)%  \w", done.out, re.MULTILINE)
    assert [name for name, _ in chances] == ["uniform-belief", "belief", "memory"]
    assert all(float(chance) > 70 for _, chance in chances)


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_results_that_are_finished_are_printed_if_the_rest_is_interrupted(run, monkeypatch, as_json):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(exploiters._Series, "_remember", interrupted)
    done = run("exploit", "random", "--rules", "tiny", *as_json)
    assert done.code == 130
    assert re.search(r"^exploit: belief [\d.]+%, infers the hand from the agent's play$", done.err, re.MULTILINE)
    assert (done.err + done.suggestion).endswith("interrupted: only finished results are shown\n")
    finished = (
        json.loads(done.out)["exploiters"] if as_json else re.findall(r"^  ([\w-]+) +[\d.]+%", done.out, re.MULTILINE)
    )
    assert list(finished) == ["uniform-belief", "belief"]


BRACKET = ("exploit", "random", *TINY, "--bracket")


def test_the_win_rate_of_the_best_opponent_is_bracketed(run, graph):
    report = run(*BRACKET, "--gap", "0.1", "--json").report
    found = bracket(graph, Player("random").policy(graph.space), width=0.001)
    assert (report["lower_bound"], report["upper_bound"]) == (found.lower, found.upper)
    assert report["width"] == pytest.approx(100 * found.width)
    assert report["width"] <= 0.1
    assert (report["iterations"], report["first_actions"]) == (found.iterations, found.first_actions)
    assert (report["exploiters"], report["resume"], report["gap"], report["stopped_by_time"]) == ({}, None, 0.1, False)
    done = run(*BRACKET, "--gap", "0.1")
    printed = re.findall(r"^  (\w+) bound +([\d.]+)%  \w", done.out, re.MULTILINE)
    low, high = (float(dict(printed)[name]) / 100 for name in ("lower", "upper"))
    # Printed bounds are rounded outwards, so they hold too.
    assert found.lower - 1e-4 < low <= found.lower
    assert found.upper <= high < found.upper + 1e-4
    likeliest = max(found.first_actions, key=lambda name: found.first_actions[name])
    assert f"First action of this opponent: {likeliest} " in " ".join(done.out.split())
    wins = f"{dict(printed)['lower']}% to {dict(printed)['upper']}%"
    assert f"The best opponent wins {wins} of games against random: exploitability " in " ".join(done.out.split())


def test_bounds_are_resumed_from_a_file(run, folder):
    first = run(*BRACKET, "--gap", "20", "--resume", "bounds.h5", "--json").report
    assert first["resume"] == "bounds.h5"
    whole = run(*BRACKET, "--gap", "0.01", "--json").report
    resumed = run(*BRACKET, "--gap", "0.01", "--resume", "bounds.h5", "--json").report
    assert first["width"] > 0.01 >= resumed["width"]
    names = ("lower_bound", "upper_bound", "iterations", "first_actions")
    assert [resumed[name] for name in names] == [whole[name] for name in names]
    other = run("exploit", "careful", *TINY, "--bracket", "--resume", "bounds.h5")
    other.refused("bounds.h5: contains bounds for another policy or other rules")
    (folder / "text.h5").write_text("no bounds")
    run(*BRACKET, "--resume", "text.h5").refused("text.h5")


def test_a_file_of_bounds_is_checked_before_exploiters_run(run, folder, monkeypatch):
    def unexpected(*_):
        raise AssertionError("an exploiter has run")

    run(*BRACKET, "--gap", "20", "--resume", "bounds.h5", "-q")
    bundle = load_bundle(folder / "bounds.h5", {"bounds": LAYOUT})
    bundle.arrays["first_actions"][0, 0] = 1e9
    save_bundle(folder / "bounds.h5", "bounds", {"digest": bundle.header["digest"]}, bundle.arrays)
    monkeypatch.setattr(exploiters._Series, "run", unexpected)
    run(*BRACKET, "--exploiter", "belief", "--resume", "bounds.h5").refused(
        "bounds.h5: first_actions: must contain actions of the game"
    )
    (folder / "text.h5").write_text("no bounds")
    run(*BRACKET, "--exploiter", "belief", "--resume", "text.h5").refused("text.h5")


def test_a_time_limit_leaves_valid_bounds(run):
    words = (*BRACKET, "--gap", "0", "--time", "0", "--resume", "bounds.h5")
    report = run(*words, "--json").report
    assert 0 < report["lower_bound"] <= report["upper_bound"] < 1
    assert (report["iterations"], report["first_actions"], report["stopped_by_time"]) == (0, {}, True)
    assert "These are initial bounds, because no iteration has finished." in run(*words).out


def test_time_that_ends_an_exploiter_leaves_the_bounds(run, monkeypatch):
    def end(*_):
        raise TimeLimitError("no time is left")

    monkeypatch.setattr(exploiters._Series, "run", end)
    report = run(*BRACKET, "--exploiter", "belief", "--gap", "20", "--time", "600", "--json").report
    assert report["exploiters"] == {}
    assert 0 < report["lower_bound"] <= report["upper_bound"] < 1


def test_a_search_says_that_time_stopped_it_and_how_to_continue(run, monkeypatch):
    monkeypatch.setattr("punish_fast.cli.strategies.exploit.seconds_left", lambda: 0.0)
    monkeypatch.setattr(BracketSearch, "run", partialmethod(BracketSearch.run, max_iterations=1))
    told = "points instead of 0, because --time stopped the search"
    for words, then in ((("--resume", "bounds.h5"), "; repeat the command to continue. First"), ((), ". First")):
        done = run(*BRACKET, "--gap", "0", "--time", "600", *words)
        assert told + then in " ".join(done.out.split())
    monkeypatch.setattr(BracketSearch, "run", lambda *_, **__: None)
    done = run(*BRACKET, "--gap", "0", "--time", "600", "--resume", "bounds.h5")
    assert "because --time stopped the search before an iteration finished" in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--gap", "1"), "--gap requires --bracket"),
        (("--resume", "x.h5"), "--resume requires --bracket"),
        (("--bracket", "--gap", "-1"), "gap: -1 is not allowed; it must be at least 0"),
        (("--bracket", "--gap", "nan"), "gap: nan is not allowed"),
        (("--bracket", "--time", "-2"), "time: -2 is not allowed; it must be at least 0"),
    ],
)
def test_invalid_options_of_a_bracket_are_refused(run, words, said):
    run("exploit", "random", *TINY, *words).refused(said)


def test_chances_add_up_measure_by_measure():
    law = np.random.default_rng(1).random((5, 4, 2))
    law /= law.sum()
    lengths = lengths_of_duel(law)
    assert [entry["measure"] for entry in lengths] == [1, 2, 3, 4, 5]
    left = 1.0
    for entry, expected in zip(lengths, law, strict=True):
        assert entry["wins"] == pytest.approx(expected.sum(axis=0).tolist())
        assert sum(entry["wins"]) == pytest.approx(sum(entry["ended"]))
        left -= sum(entry["ended"])
        assert entry["going_on"] == pytest.approx(left, abs=1e-15)


@pytest.mark.parametrize("n", range(9))
def test_games_are_those_of_their_lengths(n):
    counts = np.array([0, *range(1, n + 2)])
    lengths = lengths_of_games(counts, 4)
    ended = [chance for entry in lengths for chance in entry["ended"]]
    assert len(lengths) == -(-(n + 1) // 4)
    assert ended[: n + 1] == pytest.approx((counts[1:] / counts.sum()).tolist())
    assert not any(ended[n + 1 :])
    assert all(entry["wins"] is None for entry in lengths)


def test_measures_that_no_game_reaches_are_not_printed(capsys):
    law = np.zeros((4, 2, 2))
    law[0, 1], law[1, 0], law[3, 0, 0] = (0.5, 0.25), (0.25 - 1e-9, 0), 1e-9
    print_lengths(lengths_of_duel(law), ["ann", "bob"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["measure", "ann", "wins", "bob", "wins", "continue", "breath", "1", "breath", "2"]
    assert [line.split() for line in lines[1:]] == [
        ["1", "50.0%", "25.0%", "25.0%", "0.0%", "75.0%"],
        ["2", "25.0%", "0.0%", "0.0%", "25.0%", "0.0%"],
    ]


@pytest.mark.usefixtures("files")
def test_the_users_file_is_examined_next(run):
    players = ("naive", "strategy.h5")
    assert run("arena", *players).then == "punish-fast exploit strategy.h5"
    assert run("arena", "naive", "random", *TINY, "--threads", "1").out.count(", 1 thread\n") == 1
    then = run("arena", *players, "--rules", "tiny", "--games", "40", "--db", "arena.db").then
    assert then == "punish-fast improve --player strategy --db arena.db --rules tiny"
    assert run(*shlex.split(then)[1:], "--json").report["games"] == 40


def test_players_that_solve_measures_again_play_simulated_games(run):
    names = ("naive@resolve", "naive", "random")
    reports = [run("arena", *names, *TINY, "--games", "20", "--seed", "3", "--json").report for _ in range(2)]
    assert reports[0]["win"] == reports[1]["win"]
    assert [standing["agent"] for standing in reports[0]["ranking"]][-1] == "random"
    assert reports[0]["breaths"][0][0] is None
    shown = run("arena", *names[:2], *TINY, "--games", "4", "--seed", "3")
    assert "wins of row" in shown.out
    # `exploit` rejects these players.
    assert names[0] not in shown.then
    for command in (("arena", *names), ("exploit", names[0]), ("arena", *names, "--games", "4", "--db", "a.db")):
        run(*command, *TINY).refused("naive@resolve: solves each measure again, so it has no table of probabilities")

from __future__ import annotations

import pytest


@pytest.mark.slow
@pytest.mark.compiled
def test_solve_reports_the_first_round(run):
    report = run("games", "solve", "incan-gold", "--json").report
    assert report["variant"] == {"artifact_value": "drawn"}
    assert report["solo"] == pytest.approx(15.647246, abs=1e-6)
    assert report["against_stayers"] == pytest.approx(7.186730, abs=1e-6)
    assert report["equilibrium"] == report["worst_equilibrium"] == pytest.approx(5.712599, abs=1e-6)
    assert report["all_stay"] == pytest.approx(0.3115, abs=1e-4)
    assert report["thresholds"]["solo"] == [None, 38, 23, 16, 13, 11]
    assert report["thresholds"]["against_stayers"] == [None, 18, 11, 8, 6, 5]
    first, surely = (report["thresholds"]["equilibrium"][name] for name in ("from", "surely"))
    assert first == [8, 6, 5, 4, 3, 3]
    assert surely == [None, 44, 35, 30, 26, 22]
    for name in ("solo", "against_stayers"):
        assert report["single_thresholds"][name]["points"] < report[name]
    assert set(report["seconds"]) == {"solo", "single_threshold", "equilibrium", "total"}


@pytest.mark.slow
@pytest.mark.compiled
def test_players_are_judged_by_games(run):
    report = run("games", "evaluate", "incan-gold", "leave-at-12", "equilibrium", "--games", "31", "--json").report
    first, second = report["agents"]
    assert (first["agent"], first["play"], first["temperature"]) == ("leave-at-12", "built-in", None)
    assert list(first["matches"]) == ["random", "leave-at-12", "rule-of-thumb", "equilibrium"]
    same = first["matches"]["leave-at-12"]
    assert (same["games"], same["win"], same["tie"], same["loss"], same["tie_error"]) == (33, 0, 1, 0, 0)
    for agent in (first, second):
        for match in (*agent["matches"].values(), agent["responder"]["match"]):
            assert match["win"] + match["tie"] + match["loss"] == pytest.approx(1)
        tried = agent["responder"]["tried"]
        assert len(tried) == 40
        assert tried[agent["responder"]["leave_at"] - 1] == max(tried)
    assert second["matches"]["random"]["win"] > first["matches"]["equilibrium"]["win"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("evaluate incan-gold leave-at-0", "leave-at-0: unknown agent; use random, leave-at-N, "),
        ("evaluate tictactoe --games 9", "tictactoe: --games and --seed apply only to incan-gold and gwent"),
        ("evaluate connect4 --seed 9", "connect4: --games and --seed apply only to"),
        ("solve incan-gold 4455", "incan-gold: POSITION applies only to connect4"),
        ("solve incan-gold:artifact_value=found", "'found' is not allowed; it must be drawn or taken"),
        ("show incan-gold 99", "position: word 1, '99', is wrong"),
    ],
)
def test_what_makes_no_sense_is_refused(run, line, problem):
    run("games", *line.split()).refused(problem)

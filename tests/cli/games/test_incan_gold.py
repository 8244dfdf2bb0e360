"""``punish-fast games solve incan-gold``."""

from __future__ import annotations

import pytest


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


@pytest.mark.compiled
def test_solve_prints_words(run):
    done = run("games", "solve", "incan-gold", "--artifact-value", "taken")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Incan Gold, artifacts valued when taken\n")
    assert "alone                         15.647246  14.435369 (leave with 23)\n" in done.out
    assert "alone                           never  38  23  16  13  11\n" in done.out


def test_what_is_not_for_incan_gold_is_refused(run):
    run("games", "solve", "incan-gold", "4455").refused(
        "incan-gold: is solved whole; POSITION, --value-only and --memory are for connect4"
    )
    run("games", "solve", "incan-gold", "--limit", "4").refused(
        "incan-gold: has no option 'limit', only artifact_value"
    )
    run("games", "solve", "incan-gold", "--artifact-value", "found").refused(
        "--artifact-value: 'found' is not allowed, it must be drawn or taken"
    )
    run("games", "play", "incan-gold").refused("incan-gold: does not offer 'play', only solve")

"""``punish-fast games solve``."""

from __future__ import annotations

import pytest


def test_solve_reports_all_numbers(run):
    report = run("games", "solve", "tapnswap", "--json").report
    wanted = {
        "game": "tapnswap",
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
    report = run("games", "solve", "tapnswap", *options, "--json").report
    assert (report["start"], report["plies"]) == (start, plies)


def test_solve_prints_words_and_folds_the_line(run, monkeypatch):
    done = run("games", "solve", "tapnswap")
    assert (done.code, done.err) == (0, "")
    assert "the first player: loss in 26 (certified)" in done.out
    assert "0.999997275073" in done.out
    assert "the first player: draw (certified)" in run("games", "solve", "tapnswap", "--roll-over").out
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("games", "solve", "tapnswap").out.splitlines()
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("limit", ["0", "1", "17"])
def test_impossible_variants_are_refused(run, limit):
    run("games", "solve", "tapnswap", "--limit", limit).refused(f"limit: {limit} is not allowed")

"""``punish-fast games solve``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "games.md"
# Options, positions, the first player's outcome, and both win probabilities of the best response.
VARIANTS = re.findall(
    r"^\| [^|]+ \|([^|]*)\| ([\d,]+) \| ([^|]+) \| ([\d.]+) \| ([\d.]+) \|$", PAGE.read_text("utf-8"), re.MULTILINE
)


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


def test_solve_reports_tic_tac_toe(run):
    report = run("games", "solve", "tictactoe", "--json").report
    counts = {"states": 5478, "canonical_states": 765, "wins": 390, "losses": 89, "draws": 148, "terminals": 138}
    assert {name: report[name] for name in counts} == counts
    assert (report["value"], report["plies"], report["certified"]) == ("draw", None, True)
    assert report["start"] == report["value"]
    best, safe = report["best_response_vs_random"], report["safe_best_response_vs_random"]
    assert (best["first"], best["second"]) == pytest.approx((191 / 192, 887 / 945), abs=1e-12)
    assert (safe["first"], safe["second"]) == pytest.approx((191 / 192, 866 / 945), abs=1e-12)
    assert max(best["error_bound"], safe["error_bound"]) < 1e-12


def test_a_player_who_loses_has_no_safe_response(run):
    safe = run("games", "solve", "tapnswap", "--json").report["safe_best_response_vs_random"]
    assert safe["first"] is None
    assert safe["second"] == pytest.approx(1, abs=1e-12)
    assert safe["error_bound"] < 1e-12
    taps = run("games", "solve", "tapnswap:taps_only=true", "--json").report["safe_best_response_vs_random"]
    assert (taps["first"], taps["second"]) == (None, pytest.approx(1, abs=1e-12))


@pytest.mark.parametrize("row", VARIANTS, ids=lambda row: row[0].strip(" `") or "standard")
def test_variants_are_solved_as_the_page_shows(run, row):
    options, positions, outcome, *probabilities = row
    report = run("games", "solve", f"tapnswap:{options.strip(' `')}", "--json").report
    assert report["states"] == int(positions.replace(",", ""))
    plies = "" if report["plies"] is None else f" in {report['plies']}"
    assert outcome == report["start"] + plies
    best = report["best_response_vs_random"]
    assert probabilities == [f"{best['first']:.6f}", f"{best['second']:.6f}"]


def test_the_page_shows_all_variants():
    assert len(VARIANTS) == 9


def test_solve_prints_words_and_folds_the_line(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    done = run("games", "solve", "tapnswap")
    assert (done.code, done.err) == (0, "")
    assert re.search(r"^value +loss$", done.out, re.MULTILINE)
    assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.parametrize("verb", [["solve", "tapnswap"], ["show", "tapnswap", "1-1/1-1"], ["list"]])
def test_progress_is_taken_off_the_terminal_before_results(run, monkeypatch, verb):
    cleared = []
    monkeypatch.setattr("punish_fast.cli.frame.options.clear_progress", lambda: cleared.append(verb))
    assert run("games", *verb).code == 0
    assert cleared == [verb]


@pytest.mark.parametrize("limit", ["0", "1", "17"])
def test_impossible_variants_are_refused(run, limit):
    run("games", "solve", f"tapnswap:limit={limit}").refused(f"limit: {limit} is not allowed")

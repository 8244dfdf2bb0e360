from __future__ import annotations

import re
from pathlib import Path

import pytest

from punish_fast.games.registry import GAMES, VERBS

PAGE = Path(__file__).parents[3] / "docs" / "games" / "tapnswap.md"
# Options, positions, the first player's outcome, and both win probabilities of the best response.
VARIANTS = re.findall(
    r"^\| [^|]+ \|([^|]*)\| ([\d,]+) \| ([^|]+) \| ([\d.]+) \| ([\d.]+) \|$", PAGE.read_text("utf-8"), re.MULTILINE
)


def test_solve_reports_all_numbers(run):
    report = run("games", "solve", "tapnswap", "--json").report
    counts = {"states": 191, "wins": 120, "losses": 47, "draws": 10, "raw_states": 540, "plies": 26}
    assert {name: report[name] for name in counts} == counts
    assert (report["game"], report["start"], report["certified"]) == ("tapnswap", "loss", True)
    assert report["random_vs_random"] == pytest.approx(0.398413794960370, abs=1e-12)
    assert len(report["line"]) == 26
    # The first player loses, so no response is safe.
    safe = report["safe_best_response_vs_random"]
    assert (safe["first"], safe["second"]) == (None, pytest.approx(1, abs=1e-12))
    assert safe["error_bound"] < 1e-12


def test_solve_reports_tic_tac_toe(run):
    report = run("games", "solve", "tictactoe", "--json").report
    assert (report["states"], report["canonical_states"], report["terminals"]) == (5478, 765, 138)
    assert (report["value"], report["plies"], report["certified"]) == ("draw", None, True)
    assert report["start"] == report["value"]
    best, safe = report["best_response_vs_random"], report["safe_best_response_vs_random"]
    assert (best["first"], best["second"]) == pytest.approx((191 / 192, 887 / 945), abs=1e-12)
    assert (safe["first"], safe["second"]) == pytest.approx((191 / 192, 866 / 945), abs=1e-12)


@pytest.mark.parametrize(
    "rows", [VARIANTS[:5], pytest.param(VARIANTS[5:], marks=pytest.mark.slow)], ids=["first", "others"]
)
def test_variants_are_solved_as_the_page_shows(run, rows):
    assert len(VARIANTS) == 9
    for options, positions, outcome, *probabilities in rows:
        report = run("games", "solve", f"tapnswap:{options.strip(' `')}", "--json").report
        assert report["states"] == int(positions.replace(",", ""))
        plies = "" if report["plies"] is None else f" in {report['plies']}"
        assert outcome == report["start"] + plies
        best = report["best_response_vs_random"]
        assert probabilities == [f"{best['first']:.6f}", f"{best['second']:.6f}"]


def test_solve_prints_words_and_folds_the_line(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    done = run("games", "solve", "tapnswap")
    assert (done.code, done.err) == (0, "")
    assert re.search(r"^value +loss$", done.out, re.MULTILINE)
    assert max(map(len, done.out.splitlines())) <= 80


def test_progress_is_taken_off_the_terminal_before_results(run, monkeypatch):
    cleared = []
    monkeypatch.setattr("punish_fast.cli.frame.options.clear_progress", lambda: cleared.append(1))
    assert run("games", "list").code == 0
    assert cleared == [1]


def test_games_are_listed_with_verbs_and_options(run):
    games = {game["name"]: game for game in run("games", "list", "--json").report["games"]}
    assert list(games) == list(GAMES)
    assert games["tapnswap"]["verbs"] == games["tictactoe"]["verbs"] == [verb for verb in VERBS if verb != "decks"]
    assert games["gwent"]["verbs"][-1] == "decks"
    assert games["tictactoe"]["options"] == []
    assert games["gwent"]["options"] == ["decks"]
    assert games["tapnswap"]["options"] == ["limit", "roll_over", "no_emptying", "taps_only"]
    done = run("games", "list")
    assert (done.code, done.err) == (0, "")
    assert "tapnswap" in done.out
    assert "taps_only" in done.out

"""``punish-fast games decks``."""

from __future__ import annotations

import pytest

from punish_fast.games.gwent import deck_search
from punish_fast.games.gwent.decks import checked_deck

DECKS = ("games", "decks", "gwent", "--quiet")
SMALL = ("--set", "pool=6", "--set", "games=2", "--set", "survivors=2", "--set", "newcomers=1")


@pytest.fixture(autouse=True)
def _few_games(monkeypatch):
    monkeypatch.setattr(deck_search, "FRESH_GAMES", 200)


def test_decks_are_bred_and_told(run):
    report = run(*DECKS, *SMALL, "--generations", "3", "--json").report
    assert (report["game"], report["generations"], report["pool_games"], report["fresh_games"]) == ("gwent", 3, 90, 600)
    assert report["method"] == {
        **{"pool": 6, "games": 2, "survivors": 2, "newcomers": 1},
        **{"deviation": 0.7, "player": "rule-of-thumb"},
    }
    assert [point["generation"] for point in report["curve"]] == [0, 1, 2]
    assert len(report["best"]) == 3
    for best in report["best"]:
        assert list(checked_deck(best["deck"])) == best["deck"]
        assert best["fresh_games"] == 200


@pytest.mark.compiled
def test_a_search_of_many_games_beats_its_noise_and_one_of_few_does_not(run):
    for games, beats_noise, error in (("2", False, 0.3399), ("1000", True, 0.0141)):
        small = [f"games={games}" if each == "games=2" else each for each in SMALL]
        report = run(*DECKS, *small, "--generations", "3", "--json").report
        assert report["beats_noise"] is beats_noise
        assert report["error"] == pytest.approx(error, abs=1e-4)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--set", "games=3"], "games: 3 is not allowed; it must be even"),
        (["--set", "pool=12"], "pool: 10 survivors and 5 newcomers do not fit into a pool of 12"),
        (["--set", "player=me"], "player: 'me' is not allowed; it must be one of rule-of-thumb, random"),
        (["--generations", "0"], "--generations: 0 is not allowed"),
    ],
)
def test_wrong_options_are_refused_in_one_line(run, options, text):
    run(*DECKS, *options).refused(text)


def test_only_gwent_has_decks(run):
    run("games", "decks", "tapnswap").refused("tapnswap: does not offer 'decks', only solve, show")

"""``punish-fast games decks``."""

from __future__ import annotations

import pytest

from punish_fast.games.gwent_decks import checked_deck
from punish_fast.learn import deck_file, deck_search
from punish_fast.learn.deck_file import load_search
from punish_fast.learn.deck_search import PRESETS

DECKS = ("games", "decks", "gwent")
SMALL = ("--pool", "6", "--games", "2", "--survivors", "2", "--newcomers", "1")


@pytest.fixture(autouse=True)
def _few_games(monkeypatch):
    monkeypatch.setattr(deck_search, "FRESH_GAMES", 200)


def found(report):
    """What a report says that does not depend on the time, the place or the command before."""
    return {name: report[name] for name in ("method", "seed", "generations", "curve", "best", "spread", "error")}


def test_decks_are_bred_and_told(run, folder):
    report = run(*DECKS, *SMALL, "--generations", "3", "--json", "--quiet").report
    assert (report["game"], report["output"]) == ("gwent", "gwent-decks.h5")
    assert (report["generations"], report["bred"], report["pool_games"], report["fresh_games"]) == (3, 3, 90, 600)
    assert report["method"] == {
        **{"pool": 6, "games": 2, "survivors": 2, "newcomers": 1},
        **{"deviation": 0.7, "player": "rule-of-thumb"},
    }
    assert [point["generation"] for point in report["curve"]] == [0, 1, 2]
    assert len(report["best"]) == 3
    last = load_search(folder / "gwent-decks.h5").history[-1].decks.tolist()
    for best in report["best"]:
        assert list(checked_deck(best["deck"])) == best["deck"]
        assert best["deck"] in last
        assert best["fresh_games"] == 200
    # The same again; other settings replace it only if -o names it.
    assert found(run(*DECKS, *SMALL, "--generations", "3", "--json", "--quiet").report) == found(report)
    run(*DECKS, *SMALL, "--generations", "2", "--quiet").refused(
        "gwent-decks.h5: exists and was made with other settings; name an output with -o"
    )
    assert run(*DECKS, *SMALL, "--generations", "2", "--quiet", "-o", "gwent-decks.h5").code == 0


@pytest.mark.compiled
def test_a_search_of_many_games_beats_its_noise_and_one_of_few_does_not(run):
    for games, beats_noise, error in (("2", False, 0.3399), ("1000", True, 0.0141)):
        report = run(*DECKS, *SMALL, "--games", games, "--generations", "3", "-o", "x.h5", "--json", "--quiet").report
        assert report["beats_noise"] is beats_noise
        assert report["error"] == pytest.approx(error, abs=1e-4)


def test_threads_do_not_matter(run):
    reports = [
        run(*DECKS, *SMALL, "--generations", "2", "--threads", n, "-o", f"{n}.h5", "--json", "--quiet").report
        for n in ("1", "2")
    ]
    assert found(reports[0]) == found(reports[1])


def test_a_search_prints_its_noise(run):
    done = run(*DECKS, "--preset", "documents", "--generations", "3", "--quiet")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{PRESETS['documents'].method}\n")
    assert "spread of decks  error of a fitness\n" in done.out
    assert "selection does not beat its noise\n" in done.out
    assert "each in 200 fresh games against random decks\n" in done.out
    assert ": 1,140 games in the pool, 600 against random decks\n" in done.out
    assert done.out.endswith("wrote gwent-decks.h5\n")


def test_a_stopped_search_resumes_to_the_same_end(run, monkeypatch, folder):
    options = (*DECKS, *SMALL, "--generations", "4", "--seed", "5", "--quiet")
    whole = run(*options, "-o", "whole.h5", "--json").report
    save, saved = deck_file.save_search, []

    def save_twice(path, search):
        save(path, search)
        saved.append(len(search.history))
        if saved == [1, 2]:
            raise KeyboardInterrupt

    monkeypatch.setattr(deck_file, "save_search", save_twice)
    stopped = run(*options, "-o", "x.h5")
    monkeypatch.setattr(deck_file, "save_search", save)
    assert stopped.code == 130
    assert "x.h5 is a checkpoint; resume with --resume" in stopped.err
    assert len(load_search(folder / "x.h5").history) == 2
    run(*DECKS, "--pool", "7", "-o", "x.h5", "--resume").refused("x.h5: was made with pool 6, not 7")
    run(*DECKS, "--preset", "documents", "-o", "x.h5", "--resume").refused("x.h5: was made with pool 6, not 20")
    run(*DECKS, "--seed", "9", "-o", "x.h5", "--resume").refused("x.h5: was made with seed 5, not 9")
    run(*DECKS, "--seed", "0", "-o", "x.h5", "--resume").refused("x.h5: was made with seed 5, not 0")
    run(*DECKS, "--generations", "1", "-o", "x.h5", "--resume").refused("--generations: 1 is not allowed, 2 are done")
    resumed = run(*DECKS, "-o", "x.h5", "--resume", "--json", "--quiet").report
    assert found(resumed) == found(whole)
    assert resumed["bred"] == 2
    again = run(*DECKS, "-o", "x.h5", "--resume", "--json", "--quiet")
    assert "x.h5: all of its generations are done (4); for more, name a higher number by --generations" in again.err
    assert (again.code, '"bred": 0' in again.out) == (0, True)
    longer = run(*DECKS, "-o", "x.h5", "--resume", "--seed", "5", "--generations", "5", "--json", "--quiet").report
    assert (longer["bred"], longer["curve"][:4]) == (1, whole["curve"])


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        (["--games", "3"], ["--games: 3 is not allowed, it must be even"]),
        (["--pool", "x"], ["--pool", "'x' is not a whole number"]),
        (["--pool", "12"], ["--pool: 10 survivors and 5 newcomers do not fit into a pool of 12"]),
        (["--player", "me"], ["--player", "'me' is not one of 'rule-of-thumb', 'random'"]),
        (["--preset", "me"], ["--preset", "'me' is not one of 'default', 'documents'"]),
        (["--deviation", "0"], ["--deviation: 0.0 is not allowed, it must be from 0.3 to 100"]),
        (["--generations", "0"], ["--generations: 0 is not allowed"]),
        (["--seed", "-1"], ["--seed: -1 is not allowed"]),
        (["-o", "no/x.h5"], ["there is no folder no"]),
    ],
)
def test_wrong_options_are_refused_in_one_line(run, folder, options, texts):
    run(*DECKS, *options).refused(*texts)
    assert list(folder.iterdir()) == []


def test_only_gwent_has_decks(run):
    run("games", "decks", "tapnswap").refused("tapnswap: does not offer 'decks', only solve, show")
    run("games", "decks", "chess").refused("game: 'chess' is unknown")


def test_other_files_are_refused(run, folder):
    (folder / "text.h5").write_text("a text")
    run(*DECKS, "-o", "text.h5", "--resume").refused("text.h5: not a file of punish-fast")

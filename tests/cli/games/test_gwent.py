from __future__ import annotations

import io
import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from punish_fast.cli.playing.serve import _boards
from punish_fast.games.gwent import deck_search
from punish_fast.games.gwent.decks import DEFAULT_DECK, checked_deck, decks_text
from punish_fast.games.learn.agent_file import save_agent
from punish_fast.games.learn.dqn import DqnLearner, DqnMethod
from punish_fast.games.registry import make_game, vector_game

DECKS = f"{'4 ' * 25}/ {'1 ' * 24}76"
BREED = ("games", "decks", "gwent", "--quiet")
SMALL = ("--set", "pool=6", "--set", "games=2", "--set", "survivors=2", "--set", "newcomers=1")


@pytest.mark.compiled
def test_players_are_judged_by_games_with_both_kinds_of_decks(run):
    report = run("games", "evaluate", "gwent", "--games", "101", "--seed", "3", "--json").report
    assert [variant["decks"] for variant in report["variants"]] == ["default", "random"]
    assert [agent["agent"] for agent in report["agents"]] == ["random", "rule-of-thumb"]
    for agent in report["agents"]:
        assert (agent["play"], agent["temperature"]) == ("built-in", None)
        for matches in agent["matches"].values():
            assert list(matches) == ["random", "rule-of-thumb"]
            for seats in matches.values():
                assert [match["games"] for match in seats.values()] == [51, 51, 102]
                for match in seats.values():
                    assert match["win"] + match["tie"] + match["loss"] == pytest.approx(1)
                    error = (match["win"] * (1 - match["win"]) / match["games"]) ** 0.5
                    assert match["win_error"] == pytest.approx(error)
                assert seats["both"]["win"] == pytest.approx((seats["first"]["win"] + seats["second"]["win"]) / 2)
    rule = report["agents"][1]["matches"]
    assert min(rule[decks]["random"]["both"]["win"] for decks in rule) > 0.9
    assert max(rule[decks]["rule-of-thumb"]["both"]["win"] for decks in rule) < 0.65


@pytest.mark.compiled
def test_matches_with_given_decks_are_a_table_of_shares(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    printed = run("games", "evaluate", f"gwent:decks={DECKS}", "rule-of-thumb", "--games", "4", "-q").out
    assert DECKS not in printed
    assert re.search(r"agent +decks +against +first +second +both +error +games", printed)
    assert re.search(r"rule-of-thumb +given +random( +\d+\.\d%){4} +4$", printed, re.MULTILINE)
    told = "first, second: games won in this seat; the first player has the first deck given"
    assert told in " ".join(printed.split())


@pytest.mark.compiled
def test_players_are_judged_with_given_decks(run):
    (rule,) = run("games", "evaluate", f"gwent:decks={DECKS}", "rule-of-thumb", "--games", "40", "--json").report[
        "agents"
    ]
    assert (rule["agent"], [*map(len, rule["matches"])]) == ("rule-of-thumb", [len(DECKS)])


@pytest.mark.compiled
@pytest.mark.skipif(find_spec("jax") is None, reason="needs the extra learn")
def test_networks_are_judged_with_decks_that_they_were_not_trained_on(run, folder):
    vector = vector_game(make_game("gwent", {"decks": "random"}))
    save_agent(folder / "net.h5", DqnLearner.new(vector, DqnMethod(hidden=(4,)), 1))
    report = run("games", "evaluate", "gwent", "net.h5", "--games", "20", "--json").report
    assert [(each["play"], each["temperature"]) for each in report["agents"]] == [("greedy", None), ("mixed", 0.03)]
    assert list(report["agents"][0]["matches"]) == ["default", "random"]
    # The network that comes with the package is stronger than one that has learned nothing.
    report = run("games", "evaluate", "gwent:decks=default", "trained", "net.h5", "--games", "20", "--json").report
    wins = [each["matches"]["default"]["rule-of-thumb"]["both"]["win"] for each in report["agents"]]
    assert min(wins[:2]) > max(wins[2:])


def test_what_is_not_for_gwent_is_refused(run, folder):
    other = DqnLearner.new(vector_game(make_game("tictactoe", {})), DqnMethod(hidden=(4,)), 1)
    save_agent(folder / "other.h5", other)
    for line, problem in (
        ("evaluate gwent perfect", "perfect: unknown agent; use random, rule-of-thumb, trained or an .h5 file"),
        ("evaluate gwent other.h5", "other.h5: its game is tictactoe, not gwent"),
        ("solve gwent", "gwent: does not offer 'solve', only show, train, evaluate"),
        ("train gwent --method q", "to train a network instead of a table, use --method dqn"),
        ("show gwent:decks=random --decks x.json", "--decks cannot be combined with decks=random"),
        ("decks tapnswap", "tapnswap: does not offer 'decks', only solve, show"),
    ):
        run("games", *line.split()).refused(problem)


@pytest.fixture(autouse=True)
def _few_games(monkeypatch):
    monkeypatch.setattr(deck_search, "FRESH_GAMES", 200)


def test_decks_are_bred_and_told(run):
    report = run(*BREED, *SMALL, "--generations", "3", "--json").report
    assert (report["game"], report["generations"], report["pool_games"], report["fresh_games"]) == ("gwent", 3, 90, 600)
    changed = {"pool": 6, "games": 2, "survivors": 2, "newcomers": 1}
    assert report["method"] == changed | {"deviation": 0.7, "player": "rule-of-thumb"}
    assert [point["generation"] for point in report["curve"]] == [0, 1, 2]
    assert len(report["best"]) == 3
    for best in report["best"]:
        assert list(checked_deck(best["deck"])) == best["deck"]
        assert best["fresh_games"] == 200


def test_a_bred_deck_is_shown_played_and_served(run, folder, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    done = run("games", "decks", "gwent", *SMALL, "--generations", "1", "-o", "decks.json")
    assert done.then == "punish-fast games play gwent --decks decks.json"
    assert done.out.split("\n\n")[-1].startswith("The best deck wins ")
    deck = json.loads((folder / "decks.json").read_text(encoding="utf-8"))["best"][0]["deck"]
    decks = decks_text([deck, DEFAULT_DECK])
    for options in (["gwent", "--decks", "decks.json"], ["gwent:decks=decks.json"]):
        shown = run("games", "show", *options, "--json").report
        assert (shown["variant"]["decks"], shown["moves"][0]["move"]) == (decks, "draw 1")
    assert f"pile {decks.partition(' /')[0]}, to draw 10" in run("games", "show", "gwent", "--decks", "decks.json").out
    played = run("games", "play", "gwent", "--decks", "decks.json", "--level", "random", "--json").report
    assert played["variant"]["decks"] == decks
    assert {decks_text(each.game.decks) for each in _boards([], Path("decks.json")) if each.game_name == "gwent"} == {
        decks
    }
    (folder / "wrong.json").write_text('{"best": []}', encoding="utf-8")
    run("games", "play", "gwent", "--decks", "wrong.json").refused("wrong.json: not a file of decks; write one with")
    run("games", "show", "gwent", "--decks", "none.json").refused("none.json: no such file")


@pytest.mark.compiled
def test_a_search_of_many_games_beats_its_noise_and_one_of_few_does_not(run):
    for games, beats_noise, error in (("2", False, 0.3399), ("1000", True, 0.0141)):
        small = [f"games={games}" if each == "games=2" else each for each in SMALL]
        report = run(*BREED, *small, "--generations", "3", "--json").report
        assert report["beats_noise"] is beats_noise
        text = " ".join(run(*BREED, *small, "--generations", "3").out.split())
        assert f"depend more on {'strength' if beats_noise else 'luck'} than on " in text
        assert report["error"] == pytest.approx(error, abs=1e-4)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--set", "games=3"], "games: 3 is not allowed; it must be even"),
        (["--set", "pool=12"], "pool: 10 survivors and 5 newcomers do not fit into a pool of 12"),
        (["--set", "player=me"], "player: 'me' is not allowed; it must be one of rule-of-thumb, random"),
    ],
)
def test_wrong_options_are_refused_in_one_line(run, options, text):
    run(*BREED, *options).refused(text)

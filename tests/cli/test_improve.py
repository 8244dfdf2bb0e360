from __future__ import annotations

import pytest
from playing import some_games

from cli.commands import HOUSE
from punish_fast.arena.players import Player
from punish_fast.arena.ratings import rank_results
from punish_fast.play.explain.review import Judge, review
from punish_fast.play.explain.why import explainer_against
from punish_fast.punish.rules import PRESETS
from punish_fast.records.logs import write_log
from punish_fast.records.summary import read_results

IMPROVE = ("improve", "--player", "Ann", "--db", "games.db", "--against", "strategy.h5", "--quiet")


@pytest.fixture
def games(run, files):
    games = some_games(40)
    (files / "log.json").write_text(write_log(games), encoding="utf-8")
    (files / "house.toml").write_text(HOUSE)
    run("records", "import", "log.json", "--db", "games.db", "--rules", "house.toml")
    return games


def test_all_games_of_a_person_are_reported_and_agree_with_their_reviews(run, games):
    report = run(*IMPROVE, "--json").report
    explainer = explainer_against(Player("strategy.h5"), PRESETS["tiny"])
    judge = Judge(explainer.data.space, explainer.solution)
    sides = [side for game in games for side in review(judge, game) if side.name == "Ann"]
    assert (report["games"], report["reference"]) == (len(sides), "strategy")
    assert report["win_rate"] == pytest.approx(sum(side.won for side in sides) / len(sides))
    assert report["loss"] == pytest.approx(sum(side.loss for side in sides) / len(sides), abs=1e-6)
    results = read_results("games.db")
    (standing,) = [each for each in rank_results(results.winner, results.loser) if each.agent == "Ann"]
    assert (report["rating"], report["rating_margin"]) == pytest.approx((standing.rating, standing.rating_margin))
    for part in ("opponents", "trend"):
        assert sum(each["games"] for each in report[part]) == len(sides)
        assert sum(each["games"] * each["loss"] for each in report[part]) == pytest.approx(len(sides) * report["loss"])
    losses = [position["loss"] for position in report["positions"]]
    assert losses == sorted(losses, reverse=True)
    worst = max(choice.loss or 0 for side in sides for choice in side.choices)
    assert losses[0] == pytest.approx(worst, abs=1e-6)
    assert 1 <= len(report["habits"]) <= 3
    assert report["practice"] == "punish-fast practice strategy.h5 --player Ann --db games.db"


@pytest.mark.usefixtures("games")
def test_the_report_is_printed_in_words(run, monkeypatch):
    report = run(*IMPROVE, "--json").report
    monkeypatch.setenv("COLUMNS", "80")
    text = run(*IMPROVE).out
    assert max(map(len, text.splitlines())) <= 80
    text = " ".join(text.split())
    for habit in report["habits"]:
        words = f"{habit['situation']}: {habit['play']} in {habit['share']:.0%} of all {habit['of']} choices"
        _, found, rest = text.partition(words)
        assert found
        assert f"It costs {100 * habit['loss']:.1f} points each time, judged by strategy;" in rest
        times = "1 time" if habit["choices"] == 1 else f"{habit['choices']} times"
        caution = f"Chosen only {times}: this might be chance."
        assert (caution in rest.partition(" would play ")[2][:120]) == habit["is_uncertain"] == (habit["choices"] < 20)
    assert all(f" {each['first']} to {each['last']} " in text for each in report["trend"])
    assert "points lost per game" in text
    assert "worst positions, judged by strategy" in text
    for position in report["positions"]:
        assert f"Played: {position['played']}, which wins " in text
    assert report["practice"] == run(*(word for word in IMPROVE if word not in ("-q", "--quiet"))).then
    run(*IMPROVE[:1], "--player", "Zoe", *IMPROVE[3:]).refused("there is no player 'Zoe'; players: ")


def test_the_user_of_the_latest_game_is_the_default(run, games):
    latest = max(games, key=lambda game: game.id)
    assert run("improve", *IMPROVE[3:], "--json").report["player"] == latest.winner.name
    run("records", "player", latest.winner.name, "--db", "games.db", "--anonymize")
    assert run("improve", *IMPROVE[3:], "--json").report["player"] != latest.winner.name

"""``punish-fast records review``."""

from __future__ import annotations

import pytest
from playing import FIRST_ID, some_games

from cli.conftest import folder, run
from cli.records.test_commands import IMPORT, house
from punish_fast.punish.rules import PRESETS
from punish_fast.records.logs import write_log

__all__ = ["folder", "house", "run"]

REVIEW = ("records", "review", str(FIRST_ID), "--db", "x.db", "--agent", "agent.h5")


@pytest.fixture
def reviewing(run, house):
    """The current folder, with recorded games and an agent of their rules."""
    run(*IMPORT)
    run("solve", "--rules", "house.toml", "-o", "agent.h5", "-q")
    return house


@pytest.mark.usefixtures("reviewing")
def test_both_players_are_judged(run):
    report = run(*REVIEW, "--json").report
    assert [player["won"] for player in report["players"]] == [True, False]
    for player in report["players"]:
        losses = {choice["breath"]: choice["loss"] for choice in player["choices"]}
        assert player["loss"] == pytest.approx(sum(losses.values()))
        assert all(losses[worst["breath"]] >= 0.01 for worst in player["worst"])
    text = run(*REVIEW).out
    for player in report["players"]:
        assert f"{player['name']} lost {100 * player['loss']:.1f} points of win probability in all." in text
        for worst in player["worst"]:
            choice = next(choice for choice in player["choices"] if choice["breath"] == worst["breath"])
            words = f"In breath {choice['breath']}, {choice['best']} would have won {choice['win_probability']:.1%}"
            assert worst["words"] == choice["words"]
            assert worst["words"].startswith(words)
            assert worst["words"] in text


@pytest.mark.slow
def test_without_a_judge_the_best_choices_are_solved_for(run, folder):
    (folder / "saves.json").write_text(write_log(some_games(1, rules=PRESETS["tabletop"])))
    run("records", "import", "saves.json", "--db", "x.db")
    found = run(*REVIEW[:-2], "--json").report
    assert (found["agent"], found["enemy"]) == (None, "veteran")
    assert all(choice["loss"] is None or choice["loss"] >= -1e-9 for choice in found["players"][0]["choices"])
    assert "; judged by the best choices against veteran\n" in run(*REVIEW[:-2]).out


def test_what_cannot_be_reviewed_is_refused(run, reviewing):
    run("records", "review", "7", *REVIEW[3:]).refused("x.db: has no game 7; punish-fast records list")
    run("solve", "--rules", "house.toml", "--objective", "discounted", "-o", "discounted.h5", "-q")
    run(*REVIEW[:-1], "discounted.h5").refused("instead of win probabilities; see: punish-fast solve --objective")
    rules = (reviewing / "house.toml").read_text().replace("hp = 2", "hp = 1")
    (reviewing / "frail.toml").write_text(rules)
    run("solve", "--rules", "frail.toml", "-o", "other.h5", "-q")
    run(*REVIEW[:-1], "other.h5").refused("is not a position under the rules")


@pytest.mark.usefixtures("reviewing")
def test_without_an_id_the_latest_game_is_judged(run):
    arguments = ("--db", "x.db", "--agent", "agent.h5", "--json")
    latest = run("records", "review", *arguments).report
    assert latest["game"] > FIRST_ID
    assert run("records", "review", str(latest["game"]), *arguments).report == latest
    run("records", "review", str(latest["game"] + 1), *arguments).refused(f"has no game {latest['game'] + 1};")

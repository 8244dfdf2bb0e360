"""``punish-fast games judge gwent``."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from punish_fast.games.learn.agent_file import save_agent
from punish_fast.games.learn.dqn import DqnLearner, DqnMethod
from punish_fast.games.registry import make_game, vectorise

DECKS = f"{'4 ' * 25}/ {'1 ' * 24}76"


@pytest.mark.compiled
def test_players_are_judged_by_games_with_both_kinds_of_decks(run):
    report = run("games", "judge", "gwent", "--games", "101", "--seed", "3", "--json").report
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
                    assert match["win_error"] == pytest.approx(
                        (match["win"] * (1 - match["win"]) / match["games"]) ** 0.5
                    )
                assert seats["both"]["win"] == pytest.approx((seats["first"]["win"] + seats["second"]["win"]) / 2)
    rule = report["agents"][1]["matches"]
    assert min(rule[decks]["random"]["both"]["win"] for decks in rule) > 0.9
    assert max(rule[decks]["rule-of-thumb"]["both"]["win"] for decks in rule) < 0.65


@pytest.mark.compiled
def test_players_are_judged_with_given_decks(run):
    (rule,) = run("games", "judge", f"gwent:decks={DECKS}", "rule-of-thumb", "--games", "40", "--json").report["agents"]
    assert (rule["agent"], [*map(len, rule["matches"])]) == ("rule-of-thumb", [len(DECKS)])


@pytest.mark.compiled
@pytest.mark.skipif(find_spec("jax") is None, reason="needs the extra learn")
def test_networks_are_judged_with_decks_that_they_were_not_trained_on(run, folder):
    vector = vectorise(make_game("gwent", {"decks": "random"}))
    save_agent(folder / "net.h5", DqnLearner.new(vector, DqnMethod(hidden=(4,)), 1))
    report = run("games", "judge", "gwent", "net.h5", "--games", "20", "--json").report
    assert [(each["play"], each["temperature"]) for each in report["agents"]] == [("greedy", None), ("mixed", 0.03)]
    assert list(report["agents"][0]["matches"]) == ["default", "random"]
    # The network that comes with the package is stronger than one that has learned nothing.
    report = run("games", "judge", "gwent:decks=default", "trained", "net.h5", "--games", "20", "--json").report
    wins = [each["matches"]["default"]["rule-of-thumb"]["both"]["win"] for each in report["agents"]]
    assert min(wins[:2]) > max(wins[2:])


def test_what_is_not_for_gwent_is_refused(run, folder):
    run("games", "judge", "gwent", "perfect").refused(
        "perfect: unknown agent; use random, rule-of-thumb, trained or an .h5 file"
    )
    run("games", "judge", "gwent:decks=1 2 / 3").refused("first deck: 2 cards; it must have at least 25")
    run("games", "solve", "gwent").refused("gwent: does not offer 'solve', only train, judge")
    other = DqnLearner.new(vectorise(make_game("tictactoe", {})), DqnMethod(hidden=(4,)), 1)
    save_agent(folder / "other.h5", other)
    run("games", "judge", "gwent", "other.h5").refused("other.h5: its game is tictactoe, not gwent")


def test_no_table_learns_gwent(run):
    done = run("games", "train", "gwent")
    assert done.code == 2
    assert "to train a network instead of a table, use --method dqn" in done.err

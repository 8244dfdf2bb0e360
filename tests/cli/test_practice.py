from __future__ import annotations

import re
import sys

import pytest
from playing import some_games

from cli.commands import HOUSE
from punish_fast.records.logs import write_log

TINY = ("practice", "--rules", "tiny", "--seed", "1", "-n", "2")
# One of these is legal wherever there is a choice.
ANYTHING = ("g", "r", "d", "s", "p") * 2


@pytest.fixture
def database(run, folder):
    (folder / "log.json").write_text(write_log(some_games(40)), encoding="utf-8")
    (folder / "house.toml").write_text(HOUSE)
    run("records", "import", "log.json", "--db", "games.db", "--rules", "house.toml")
    return folder / "games.db"


def test_the_best_answers_are_right(run, say):
    say(*ANYTHING)
    report = run(*TINY, "naive", "--json").report
    best = [question["best_action"] for question in report["questions"]]
    say(*(name.replace("feint with", "f") for name in best))
    report = run(*TINY, "naive", "--json").report
    assert [question["answer"] for question in report["questions"]] == best
    assert (report["right"], report["loss"]) == (2, 0)
    assert (report["judge"], report["rules"], report["database"]) == (
        "best choices against naive",
        "tiny-reshuffle",
        None,
    )


def test_questions_come_from_recorded_games(run, say, database):
    say(*ANYTHING)
    report = run(*TINY, "random", "--db", database, "--json").report
    assert len(report["questions"]) == 2
    for question in report["questions"]:
        assert question["player"] in ("Ann", "Ben", "Cay")
        values = {action["name"]: action["value"] for action in question["actions"]}
        assert question["stake"] == pytest.approx(max(values.values()) - values[question["played"]])
        assert question["loss"] == pytest.approx(max(values.values()) - values[question["answer"]])
    say(*ANYTHING)
    of_ann = run(*TINY, "random", "--db", database, "--player", "Ann", "--json").report["questions"]
    assert {question["player"] for question in of_ann} == {"Ann"}
    say(*ANYTHING)
    text = run(*TINY, "random", "--db", database).out
    assert re.search(r"(Ann|Ben|Cay) played [\w ]+ here in\s+game\s+160000\d{4}", text)
    assert re.search(r"\d of 2 right, [\d.]+ points of win probability lost in all\.\n", text)


def test_a_habit_is_chosen_at_a_terminal(run, say, database, monkeypatch):
    say("2", *ANYTHING)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    done = run(*TINY, "random", "--player", "Ann", "--db", database, "-n", "1")
    (habit,) = re.findall(r"1\. the costliest choices\n +2\. [\w ]+: (\w+)\n", done.out)
    assert re.search(rf"Ann played {habit}( with \w+)? here in", " ".join(done.out.split()))


@pytest.mark.usefixtures("files")
def test_the_values_of_a_file_judge(run, say):
    say(*ANYTHING)
    report = run("practice", "agent.h5", "--seed", "1", "-n", "1", "--json").report
    assert (report["judge"], report["rules"]) == ("values of agent.h5", "tiny")
    assert report["questions"][0]["unit"] == "value"
    say(*ANYTHING)
    named = run("practice", "agent.h5", "--enemy", "random", "--seed", "1", "-n", "1", "--json").report
    assert named == report
    say("q")
    done = run("practice", "strategy.h5", "--seed", "1", "-n", "1")
    assert "best choices against strategy" in done.out
    assert done.out.endswith("You left the quiz.\n")


@pytest.mark.usefixtures("files")
def test_what_cannot_be_practiced_is_refused(run, database):
    (database.parent / "other.toml").write_text(
        "copies = [1, 2, 2, 2, 2]\nhand_size = 2\nreveal_size = 3\nhp = 1\nbreaths = 1\n"
    )
    run("practice", "random", "--rules", "other.toml", "--db", database, "-q").refused(
        "contain no positions under the rules"
    )
    run(*TINY, "naive", "--enemy", "random").refused("--enemy requires an agent file; naive is itself the enemy")

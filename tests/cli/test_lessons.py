from __future__ import annotations

import re
import shutil

import pytest

from cli.made_up_games import random_games, write_games
from punish_fast.cli.frame import progress as reporting
from punish_fast.cli.strategies import lessons_text
from punish_fast.cli.strategies.lessons_text import headlines
from punish_fast.duel.graph import GameGraph
from punish_fast.punish.rules import CARDS, PRESETS, by_card, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.games import read_choices
from punish_fast.store.reader import load
from punish_fast.study.deviations import deviations
from punish_fast.study.frequencies import PLAYS
from punish_fast.study.lessons import lessons
from punish_fast.study.selfplay import self_play

RULES = true_rules(PRESETS["tiny"])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Equilibria of the tiny game, in a folder that is not the current one."""
    from punish_fast.cli.app import run as run_app

    folder = tmp_path_factory.mktemp("equilibria")
    for name in ("memoryless", "memory"):
        arguments = ["--rules", "tiny", "--quiet", "--information", name, "--iterations", "5", "--json"]
        assert run_app(["equilibrium", *arguments, "-o", str(folder / f"{name}.h5")]) == 0
    return folder


@pytest.fixture
def equilibria(made, folder):
    for path in made.iterdir():
        shutil.copy(path, folder)
    write_games(folder / "games.db", random_games(StateSpace(RULES), 1))
    return folder


def test_lessons_are_those_of_the_library(run, equilibria, monkeypatch):
    monkeypatch.setattr(reporting, "_SECONDS_BETWEEN_LINES", 0.0)
    done = run("lessons", "memoryless.h5", "--db", "games.db", "--plot", "x.svg", "--json")
    # Stages that take longer say so every second.
    assert [line for line in done.err.splitlines() if not line.endswith(" s")] == [
        "game: agents",
        "game: graph",
        "lessons: self-play",
        "lessons: values and frequencies",
        "lessons: recorded choices",
    ]
    report = done.report
    space = StateSpace(RULES)
    play = self_play(GameGraph(space), load(equilibria / "memoryless.h5").policy(space))
    found = lessons(play)
    assert (report["agent"], report["information"], report["plot"]) == ("memoryless", "memoryless", "x.svg")
    assert (equilibria / "x.svg").stat().st_size > 1000
    assert report["length"] == found.length
    assert {(each["own"], each["enemy"]): each["win"] for each in report["hp_before_deals"]} == found.dealt
    assert [each["win"] for each in report["hands"]] == sorted(found.hands.value, reverse=True)
    assert report["frequencies"][0]["shares"] == dict(zip(PLAYS, found.frequencies[0].shares, strict=True))
    people, told = deviations(play, space, read_choices(equilibria / "games.db")), report["people"]
    assert told["games"] == 30
    assert told["choices"] == len(people.choices.state) == told["certain"]
    assert told["loss_per_game"] == people.per_game > 0
    assert [each["loss"] for each in told["costs"]] == [cost.loss for cost in people.costs]


@pytest.mark.usefixtures("equilibria")
@pytest.mark.parametrize("name", ["memoryless", "memory"])
def test_lessons_are_printed(run, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    done = run("lessons", "--quiet", f"{name}.h5", "--db", "games.db")
    assert (done.code, done.err) == (0, "")
    report = run("lessons", "--quiet", f"{name}.h5", "--db", "games.db", "--json").report
    assert done.out.startswith(f"{name}, rules tiny-reshuffle, information {name}: ")
    best, people = report["hands"][0], report["people"]
    assert f"{best['win']:.1%}" in done.out
    assert f"{people['choices']:,} choices between legal actions" in done.out
    assert ("the log does not say which side played which card" in done.out) == (people["certain"] < people["choices"])
    assert (name == "memoryless") == (people["certain"] == people["choices"])
    for text in (*CARDS, "breath 2", "2 HP against 1", "the enemy must rest", "too seldom", "than fresh"):
        assert text in done.out


def test_a_file_may_be_called_like_a_built_in_agent(run, equilibria):
    shutil.copy(equilibria / "memoryless.h5", equilibria / "naive")
    reports = [run("lessons", "--quiet", name, "--json").report for name in ("./naive", "memoryless.h5")]
    assert reports[0]["mean"] == reports[1]["mean"]
    assert run("lessons", "--quiet", "naive", "--rules", "tiny", "--json").report["mean"] != reports[0]["mean"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["memoryless.h5", "--db", "bots.db"], "bots.db: 0 games between people selected"),
        (["memoryless.h5", "--db", "bots.db", "--player", "Robot", "--with-bots"], "bots.db: 0 games selected"),
        (["memoryless.h5", "--player", "Anna"], "--player requires --db"),
        (["memoryless.h5", "--with-bots"], "--with-bots requires --db"),
        (
            ["memoryless.h5", "--db", "strange.db"],
            "choices: none of 1 is between two or more legal actions",
        ),
        (["tensor.h5"], "is a tensor"),
    ],
)
def test_wrong_input_is_refused(run, equilibria, files, arguments, text):
    write_games(equilibria / "bots.db", {1000: (1, 3, [(1, 101010200220000001, 20)])})
    write_games(equilibria / "strange.db", {1000: (1, 2, [(1, 5, 20)])})
    before = sorted(files.iterdir())
    run("lessons", "--quiet", *arguments).refused(text)
    assert sorted(files.iterdir()) == before


def test_people_are_chosen_by_name_and_by_their_opponents(run, equilibria):
    games = {1000 + k: (1, 3, [(1, 101010200220000001, 20), (0, 101010200220000001, 20)]) for k in range(2)}
    write_games(equilibria / "bots.db", games)
    people = run("lessons", "--quiet", "memoryless.h5", "--db", "bots.db", "--with-bots", "--json").report["people"]
    assert (people["games"], people["recorded"]) == (2, 2)
    of_anna = run("lessons", "--quiet", "memoryless.h5", "--db", "games.db", "--player", "Anna", "--json").report[
        "people"
    ]
    assert (of_anna["games"], of_anna["recorded"]) == (30, 120)


@pytest.mark.usefixtures("equilibria")
def test_three_headlines_come_last_and_lines_fit_the_terminal(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for arguments in ([], ["--db", "games.db"]):
        lines = run("lessons", "--quiet", "memoryless.h5", *arguments).out.splitlines()
        assert max(map(len, lines)) <= 80
        after_tables = lines[-lines[::-1].index("") :]
        assert sum(line.startswith("* ") for line in after_tables) == 3
        assert any(line.startswith("* People lose") for line in lines) == bool(arguments)


def test_headlines_do_without_what_is_unknown():
    shares = {"guard": 0.25, "feint": 0.75}
    hand = {"hand": by_card([1, 0, 0, 0, 0]), "probability": 1.0, "win": 0.5}
    report = {
        "people": None,
        "hands": [hand],
        "in_hand": {"guard": {"step": None}},
        "kept": {"guard": {"over_fresh": None}},
        "hp_before_deals": [{"own": 3, "enemy": 2, "win": 0.6}, {"own": 2, "enemy": 2, "win": 0.5}],
        "frequencies": [{"shares": shares}],
    }
    assert headlines(report) == [
        "The best opening hand wins 50.0% (guard), the worst 50.0% (guard).",
        "Before the deal, 3 HP against 2 win 60.0% of games.",
        "Share of all choices: feint 75 %, guard 25 %.",
    ]


def test_the_five_best_and_the_five_worst_hands_are_printed(capsys):
    hands = [{"hand": by_card([k, 0, 0, 0, 0]), "probability": 1 / 12, "win": (99 - k) / 100} for k in range(12)]
    in_hand = {card: {"copies": [0], "mean": [0.5], "step": None} for card in CARDS}
    lessons_text._print_hands({"hands": hands, "mean": 0.5, "in_hand": in_hand})
    wins = [99 - k for k in range(12)]
    text = capsys.readouterr().out
    assert re.findall(r"8.33% +(\d+).0%", text) == [str(win) for win in wins[:5] + wins[7:]]
    assert re.search(r"card +0 +one more \(points\)\n +guard +50.0%", text)

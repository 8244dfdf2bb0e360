"""``enemy model`` and ``enemy validate``: habits of people, and who predicts them best."""

from __future__ import annotations

import re
from importlib.util import find_spec

import pytest

from cli.made_up_games import random_games, write_games
from punish_fast.cli.report import Progress
from punish_fast.enemies.choice_model import fit_habit, habit_policy
from punish_fast.enemies.counts import locate_choices
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace
from punish_fast.records.choices import read_choices
from punish_fast.store.reader import load

TINY = ("--rules", "tiny")

needs_jax = pytest.mark.skipif(find_spec("jax") is None or find_spec("optax") is None, reason="needs the extra learn")


@pytest.fixture(scope="module")
def space():
    return StateSpace(PRESETS["tiny"])


@pytest.fixture
def games(folder, space):
    return write_games(folder / "games.db", random_games(space, 1))


def test_the_file_is_that_of_the_library(run, games, space):
    report = run("enemy", "model", "--db", games, *TINY, "--json").report
    found = read_choices(games)
    row, column = locate_choices(space, found.decimal, found.action)
    habit = fit_habit(space, row, column, found.game)
    file = load("habit.h5")
    assert file.covered(space).all()
    assert file.policy(space).tobytes() == habit_policy(space, habit).tobytes()
    assert (report["games"], report["choices"], report["states"]) == (30, 240, 558)
    assert report["origin"]["concentration"] == habit.concentration


@pytest.mark.usefixtures("games")
def test_what_was_done_is_told_and_noted(run):
    done = run(
        "enemy", "model", "--db", "games.db", *TINY, "--winners", "--ridge", "2", "--until", "1020", "-o", "x.h5"
    )
    assert (done.code, done.err) == (0, "")
    assert "21 games, 84 choices" in done.out
    assert re.search(r"wrote champion habit of 558 states to x\.h5", done.out)
    origin = load("x.h5").origin
    assert origin.pop("concentration") > 0
    assert origin == {
        "method": "habit",
        "ridge": 2.0,
        "lapse": 0.01,
        "folds": 5,
        "seed": 0,
        "database": "games.db",
        "winners": True,
        "until": 1020,
    }
    assert run("solve", *TINY, "--enemy", "x.h5", "-o", "y.h5", "--json").report["error_bound"] < 1e-9


@needs_jax
@pytest.mark.usefixtures("games")
def test_all_models_are_compared(run):
    report = run("enemy", "validate", "--db", "games.db", *TINY, "--folds", "2", "--quiet", "--json").report
    assert list(report["models"]) == ["uniform", "parless", "pawnn", "habit"]
    assert (report["games"], report["choices"], report["folds"], report["reference"]) == (30, 240, 2, "habit")
    assert 0 < report["measured"] < 240
    for entry in report["models"].values():
        nats, above = entry["nats"], entry["above_reference"]
        low, high = nats["interval"]
        assert low < nats["mean"] < high
        assert high - low == pytest.approx(2 * 1.96 * nats["error"])
        assert above["mean"] == pytest.approx(nats["mean"] - report["models"]["habit"]["nats"]["mean"], abs=1e-12)


@pytest.mark.usefixtures("games")
def test_the_time_left_is_that_of_one_model(run, monkeypatch):
    calls = []
    monkeypatch.setattr(Progress, "start", lambda _self: calls.append("start"))
    monkeypatch.setattr(Progress, "step", lambda _self, model, done, folds: calls.append((model, done, folds)))
    run("enemy", "validate", "--db", "games.db", *TINY, "--folds", "2", "--models", "uniform,parless", "--json")
    expected = ["start", ("uniform", 1, 2), ("uniform", 2, 2), "start", ("parless", 1, 2), ("parless", 2, 2)]
    assert calls[:6] == expected


@pytest.mark.usefixtures("games")
def test_players_without_habits_are_predicted_best_by_nothing(run):
    """The made-up players play uniformly: whatever is learned from them can only mislead."""
    done = run("enemy", "validate", "--db", "games.db", *TINY, "--models", "habit, parless,uniform", "--quiet")
    assert (done.code, done.err) == (0, "")
    table = [line.split() for line in done.out.splitlines()[2:]]
    assert table[0][:3] == ["model", "nats", "per"]
    nats = {row[0]: float(row[1]) for row in table[1:]}
    assert list(nats) == ["habit", "parless", "uniform"]
    assert nats["uniform"] == min(nats.values())
    assert len(table[-1]) == 5, "the reference is not compared with itself"


@pytest.mark.usefixtures("games")
@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["model", "--ridge", "0"], ["ridge: 0.0 is not allowed"]),
        (["model", "--lapse", "1.5"], ["lapse: 1.5 is not allowed, it must be from 0 to 1"]),
        (["model", "--folds", "1"], ["folds: 1 are not allowed, of 30 groups there can be 2 to 30"]),
        (["model", "--folds", "31"], ["folds: 31 are not allowed"]),
        (["model", "--seed", "-1"], ["seed: -1 is not allowed"]),
        (["model", "--until", "1"], ["games.db: holds no choices of such games"]),
        (["model", "-o", "no/x.h5"], ["there is no folder no"]),
        (["model", "-o", "games.db"], ["games.db: is the file to learn from and will not be replaced"]),
        (["validate", "--folds", "0", "--models", "uniform"], ["folds: 0 are not allowed"]),
        (["validate", "--seed", "-1", "--models", "uniform"], ["seed: -1 is not allowed"]),
        (["validate", "--models", "oracle"], ["--models names 'oracle', allowed are uniform, parless, pawnn, habit"]),
        (["validate", "--models", ""], ["--models names ''"]),
    ],
)
def test_wrong_wishes_are_refused_in_one_line(run, folder, arguments, texts):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    run("enemy", *arguments, "--db", "games.db", *TINY).refused(*texts)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.usefixtures("games")
def test_a_model_that_needs_an_extra_says_so(run, monkeypatch):
    monkeypatch.setattr("punish_fast.runtime.extras.find_spec", lambda _name: None)
    run("enemy", "validate", "--db", "games.db", *TINY).refused('install with: pip install "punish-fast[learn]"')

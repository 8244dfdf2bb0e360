"""``enemy validate``: cross-validation of enemies."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from cli.made_up_games import random_games, write_games
from punish_fast.cli.frame.progress import Progress
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace

TINY = ("--rules", "tiny")

needs_jax = pytest.mark.skipif(find_spec("jax") is None or find_spec("optax") is None, reason="needs the extra learn")


@pytest.fixture
def games(folder):
    return write_games(folder / "games.db", random_games(StateSpace(PRESETS["tiny"]), 1))


@pytest.mark.slow
@needs_jax
@pytest.mark.usefixtures("games")
def test_all_models_are_compared(run):
    report = run("enemy", "validate", "--db", "games.db", *TINY, "--quiet", "--json").report
    assert list(report["models"]) == ["uniform", "parless", "pawnn", "choice-model"]
    assert (report["games"], report["choices"], report["folds"], report["reference"]) == (30, 240, 5, "choice-model")
    assert 0 < report["measured"] < 240
    for entry in report["models"].values():
        nats, above = entry["nats"], entry["above_reference"]
        low, high = nats["interval"]
        assert low < nats["mean"] < high
        assert high - low == pytest.approx(2 * 1.96 * nats["error"])
        assert above["mean"] == pytest.approx(
            nats["mean"] - report["models"]["choice-model"]["nats"]["mean"], abs=1e-12
        )


@pytest.mark.usefixtures("games")
def test_the_time_left_is_that_of_one_model(run, monkeypatch):
    calls = []
    monkeypatch.setattr(Progress, "start", lambda _self: calls.append("start"))
    monkeypatch.setattr(Progress, "step", lambda _self, model, done, folds: calls.append((model, done, folds)))
    run("enemy", "validate", "--db", "games.db", *TINY, "--models", "uniform,parless", "--json")
    expected = [["start", *((model, done, 5) for done in range(1, 6))] for model in ("uniform", "parless")]
    assert calls[:12] == expected[0] + expected[1]


@pytest.mark.usefixtures("games")
def test_players_at_random_are_predicted_best_by_uniform_play(run):
    """The made-up players play uniformly: whatever is learned from them can only mislead."""
    done = run("enemy", "validate", "--db", "games.db", *TINY, "--models", "choice-model, parless,uniform", "--quiet")
    assert (done.code, done.err) == (0, "")
    table = [line.split() for line in done.out.splitlines()]
    nats = {row[0][:-1]: float(row[2]) for row in table if row[1:2] == ["nats"]}
    assert list(nats) == ["choice-model", "parless", "uniform"]
    assert nats["uniform"] == min(nats.values())


@pytest.mark.usefixtures("games")
@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (
            ["--models", "oracle"],
            ["--models: 'oracle' is unknown; the models are uniform, parless, pawnn, choice-model"],
        ),
        (["--models", ""], ["--models: ''"]),
    ],
)
def test_wrong_options_are_refused_in_one_line(run, arguments, texts):
    run("enemy", "validate", *arguments, "--db", "games.db", *TINY).refused(*texts)


@pytest.mark.usefixtures("games")
def test_a_model_that_needs_an_extra_says_so(run, monkeypatch):
    monkeypatch.setattr("punish_fast.runtime.errors.find_spec", lambda _name: None)
    run("enemy", "validate", "--db", "games.db", *TINY).refused('install with: pip install "punish-fast[learn]"')


def test_every_model_of_the_library_is_offered():
    from punish_fast.cli.enemy.validate import _MODELS
    from punish_fast.enemies.cross_validation import MODELS

    assert tuple(MODELS) == _MODELS

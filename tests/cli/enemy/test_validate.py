from __future__ import annotations

from importlib.util import find_spec

import pytest

from punish_fast.cli.frame.progress import Progress
from punish_fast.enemies.cross_validation import MODELS, GameMean

TINY = ("--rules", "tiny")

needs_jax = pytest.mark.skipif(find_spec("jax") is None or find_spec("optax") is None, reason="needs the extra learn")


@pytest.mark.usefixtures("games")
def test_the_time_left_is_that_of_one_model(run, monkeypatch):
    calls = []
    monkeypatch.setattr(Progress, "start", lambda _self: calls.append("start"))
    monkeypatch.setattr(Progress, "step", lambda _self, model, done, folds: calls.append((model, done, folds)))
    done = run("enemy", "validate", "--db", "games.db", *TINY, "--models", "uniform,parless", "--json")
    expected = [["start", *((model, done, 5) for done in range(1, 6))] for model in ("uniform", "parless")]
    assert calls[:12] == expected[0] + expected[1]
    report = done.report
    assert (report["games"], report["choices"], report["reference"]) == (30, 240, "parless")
    assert 0 < report["measured"] < 240
    uniform, parless = report["models"].values()
    above = uniform["above_reference"]
    assert above["mean"] == pytest.approx(uniform["nats"]["mean"] - parless["nats"]["mean"])
    low, high = above["interval"]
    assert high - low == pytest.approx(2 * 1.96 * above["error"], rel=1e-3)


@pytest.mark.usefixtures("games")
def test_players_at_random_are_predicted_best_by_uniform_play(run):
    """The made-up players play uniformly: whatever is learned from them can only mislead."""
    done = run("enemy", "validate", "--db", "games.db", *TINY, "--models", "logit, parless,uniform", "--quiet")
    assert (done.code, done.err) == (0, "")
    table = [line.split() for line in done.out.splitlines()]
    nats = {row[0][:-1]: float(row[2]) for row in table if row[1:2] == ["nats"]}
    assert list(nats) == ["logit", "parless", "uniform"]
    assert nats["uniform"] == min(nats.values())


@pytest.mark.usefixtures("games")
def test_a_lead_within_its_interval_is_not_announced(run, monkeypatch):
    words = ("enemy", "validate", "--db", "games.db", *TINY, "--models", "parless,uniform")
    done = run(*words, "--with-bots")
    assert "uniform predicts best: " in done.out
    assert done.then == "punish-fast enemy logit --db games.db --with-bots --rules tiny"
    monkeypatch.setattr(GameMean, "interval", (-0.1, 0.5))
    text = " ".join(run(*words).out.split())
    assert "No model is clearly best. uniform has the lowest loss, but the 95% interval of its lead over" in text


@pytest.mark.usefixtures("games")
def test_unknown_models_and_those_that_need_an_extra_are_refused(run, monkeypatch):
    allowed = f"--models: 'oracle' is unknown; the models are {', '.join(MODELS)}"
    run("enemy", "validate", "--models", "oracle", "--db", "games.db", *TINY).refused(allowed)
    monkeypatch.setattr("punish_fast.runtime.errors.find_spec", lambda _name: None)
    run("enemy", "validate", "--db", "games.db", *TINY).refused("Install it with: pip install jax optax")

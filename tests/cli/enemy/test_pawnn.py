from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from punish_fast.cli.enemy.pawnn import PawnnOptions
from punish_fast.enemies.training import PRESETS
from punish_fast.store.reader import load

SMALL = ("--set", "hidden=5,4", "--set", "epochs=2")

needs_jax = pytest.mark.skipif(find_spec("jax") is None or find_spec("optax") is None, reason="needs the extra learn")


def pawnn(run, *arguments):
    return run("enemy", "pawnn", "--from", "strategy.h5", "--quiet", *arguments)


@pytest.mark.slow
@needs_jax
@pytest.mark.usefixtures("files", "fast_compilation")
def test_the_network_plays_every_state_and_the_file_tells_how_it_was_made(run, folder):
    report = pawnn(run, *SMALL, "--seed", "3", "--json").report
    assert report["output"] == "strategy-pawnn.h5"
    assert report["states"] == report["evaluated"] == 558
    origin = load("strategy-pawnn.h5").origin
    assert origin == report["origin"]
    assert origin["method"] == "pawnn"
    assert origin["mse"] == report["mse"] > 0
    assert (origin["seed"], origin["hidden"], origin["dropout"]) == (3, [5, 4], [0.5])
    before = sorted(folder.iterdir())
    found = pawnn(run, *SMALL, "--cross-validate", "3", "--json").report["cross_validation"]
    assert sorted(folder.iterdir()) == before
    assert found["folds"] == 3
    assert found["test_mse"] == pytest.approx(np.mean(found["test_mse_by_fold"]))


def test_presets_are_changed_by_what_is_given():
    def training(**changes):
        return PawnnOptions(source=Path(), **changes).training()

    assert training(preset="one-hot") == PRESETS["one-hot"]
    changed = training(preset="dropouts", set=["hidden=7,8", "softmax=false", "rate = 0.5"])
    assert (changed.hidden, changed.dropout, changed.softmax, changed.rate) == ((7, 8), (0.5, 0.5), False, 0.5)
    assert training(set=["dropout="]).dropout == ()
    assert training(set=["dropout=0,0.25", "rate=none"]).dropout == (0, 0.25)


def test_every_preset_of_the_library_is_offered(run):
    named = " ".join(run("enemy", "pawnn", "--help").out.split()).replace("- ", "-")
    assert f"of a published experiment: {', '.join(PRESETS)}. [default: final]" in named


@needs_jax
@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["--preset", "best"], ["--preset: 'best' is not allowed; it must be one of final, initial"]),
        (["--set", "hidden=5,x"], ["hidden: '5,x' is not allowed; it must be numbers separated by commas"]),
        (["--set", "depth=3"], ["--set depth=3: unknown name; the names are hidden, dropout, encoding"]),
        (["--set", "hidden="], ["hidden: () is not allowed"]),
        (["--seed", "-1"], ["seed: -1 is not allowed"]),
        (["--cross-validate", "1"], ["folds: 1 is not allowed"]),
        (["--from", "agent.h5"], ["agent.h5: is of kind agent; it must be a strategy"]),
    ],
)
def test_wrong_options_are_refused_in_one_line(run, folder, arguments, texts):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    pawnn(run, *arguments).refused(*texts)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.usefixtures("files")
def test_the_missing_extra_is_named(run, monkeypatch):
    monkeypatch.setattr("punish_fast.runtime.errors.find_spec", lambda _name: None)
    pawnn(run).refused("Install it with: pip install jax optax")

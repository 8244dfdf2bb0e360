"""``enemy pawnn``: a network that plays."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from punish_fast.cli.enemy.pawnn import PawnnOptions, Preset
from punish_fast.enemies.training_options import PRESETS
from punish_fast.store.reader import load

SMALL = ("--hidden", "5,4", "--epochs", "2")

needs_jax = pytest.mark.skipif(find_spec("jax") is None or find_spec("optax") is None, reason="needs the extra learn")
needs_matplotlib = pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs the extra plot")


def pawnn(run, *arguments):
    return run("enemy", "pawnn", "--from", "strategy.h5", "--quiet", *arguments)


@pytest.mark.slow
@needs_jax
@pytest.mark.usefixtures("files", "fast_compilation")
def test_the_network_plays_every_state_and_the_file_tells_how_it_was_made(run):
    report = pawnn(run, *SMALL, "--seed", "3", "--json").report
    assert report["output"] == "strategy-pawnn.h5"
    assert report["states"] == report["evaluated"] == 558
    origin = load("strategy-pawnn.h5").origin
    assert origin == report["origin"]
    assert origin["method"] == "pawnn"
    assert origin["mse"] == report["mse"] > 0
    assert (origin["seed"], origin["hidden"], origin["dropout"]) == (3, [5, 4], [0.5])
    solved = run("solve", "--rules", "tiny", "--enemy", "strategy-pawnn.h5", "-o", "counter.h5", "--json").report
    assert solved["error_bound"] < 1e-9


@pytest.mark.slow
@needs_jax
@pytest.mark.usefixtures("files", "fast_compilation")
def test_same_seed_same_strategy(run):
    for name, seed in (("a.h5", "1"), ("b.h5", "1"), ("c.h5", "2")):
        assert pawnn(run, *SMALL, "--seed", seed, "-o", name).code == 0
    a, b, c = (load(name).strategy()[1].tobytes() for name in ("a.h5", "b.h5", "c.h5"))
    assert a == b != c


@needs_jax
@pytest.mark.usefixtures("files", "fast_compilation")
def test_weights_go_out_and_come_back_as_the_same_strategy(run):
    pawnn(run, *SMALL, "--weights", "w.json", "-o", "a.h5")
    done = run("enemy", "import-flux", "w.json", "--rules", "tiny", "-o", "b.h5")
    assert (done.code, done.err) == (0, "")
    assert "a network of 18-5-4-11 units" in done.out
    assert load("a.h5").strategy()[1].tobytes() == load("b.h5").strategy()[1].tobytes()


@pytest.mark.slow
@needs_jax
@needs_matplotlib
@pytest.mark.usefixtures("files", "fast_compilation")
@pytest.mark.parametrize("swapped", [False, True])
def test_cross_validation_leaves_a_log_and_a_picture_and_no_strategy(run, folder, swapped):
    before = {path.name for path in folder.iterdir()}
    extra = ("--cross-validate", "3", "--log", "l.json", "--plot", "p.png", *(("--swapped",) if swapped else ()))
    report = pawnn(run, *SMALL, *extra, "--json").report
    assert {path.name for path in folder.iterdir()} - before == {"l.json", "p.png"}
    found = report["cross_validation"]
    assert (found["folds"], found["swapped"]) == (3, swapped)
    log = json.loads((folder / "l.json").read_text())
    assert [curve["test_mse"][-1] for curve in log["curves"]] == found["test_mse_by_fold"]
    assert found["test_mse"] == pytest.approx(np.mean(found["test_mse_by_fold"]))
    assert {curve["n_train"] for curve in log["curves"]} == ({186} if swapped else {372})
    assert (folder / "p.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
@needs_jax
@needs_matplotlib
@pytest.mark.usefixtures("files", "fast_compilation")
def test_cross_validation_and_a_strategy_together(run, folder):
    done = pawnn(run, *SMALL, "--cross-validate", "2", "--swapped", "--plot", "p.svg", "-o", "x.h5")
    assert (done.code, done.err) == (0, "")
    assert "2 folds, trained on one and tested on all others" in done.out
    assert "to x.h5" in done.out
    assert "<svg" in (folder / "p.svg").read_text()


def test_presets_are_changed_by_what_is_given():
    def training(**changes):
        return PawnnOptions(source=Path(), **changes).training()

    assert training(preset="one-hot") == PRESETS["one-hot"]
    changed = training(preset="dropouts", hidden="7,8", softmax=False, rate=0.5)
    assert (changed.hidden, changed.dropout, changed.softmax, changed.rate) == ((7, 8), (0.5, 0.5), False, 0.5)
    assert training(dropout="").dropout == ()
    assert training(dropout="0,0.25").dropout == (0, 0.25)


def test_every_preset_of_the_library_is_offered():
    assert get_args(Preset) == tuple(PRESETS)


@needs_jax
@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["--preset", "best"], ["--preset", "best"]),
        (["--hidden", "5,x"], ["--hidden is '5,x'", "numbers with commas"]),
        (["--hidden", ""], ["hidden: () is not allowed"]),
        (["--hidden", "0"], ["hidden: (0,) is not allowed"]),
        (["--dropout", "1"], ["dropout: (1.0,) is not allowed"]),
        (["--encoding", "hot"], ["--encoding", "hot"]),
        (["--loss", "hinge"], ["--loss", "hinge"]),
        (["--optimiser", "luck"], ["--optimiser", "luck"]),
        (["--rate", "nan"], ["rate: nan is not allowed"]),
        (["--epochs", "0"], ["epochs: 0 is not allowed"]),
        (["--batch", "0"], ["batch: 0 is not allowed"]),
        (["--seed", "-1"], ["seed: -1 is not allowed"]),
        (["--weights", "w.json", "--encoding", "scaled"], ["--weights goes with raw digits and a softmax only"]),
        (["--weights", "w.json", "--no-softmax"], ["--weights goes with raw digits and a softmax only"]),
        (["--swapped"], ["--swapped goes with --cross-validate only"]),
        (["--log", "l.json"], ["--log goes with --cross-validate only"]),
        (["--plot", "l.png"], ["--plot goes with --cross-validate only"]),
        (["--cross-validate", "3", "--plot", "l.bmp"], ["l.bmp: suffix is", ".png and .svg"]),
        (["--cross-validate", "1"], ["folds: 1 is not allowed"]),
        (["--cross-validate", "3", "--log", "no/l.json"], ["there is no folder no"]),
        (["-o", "strategy.h5"], ["strategy.h5: is the file to learn from"]),
        (["--weights", "strategy.h5"], ["strategy.h5: is the file to learn from"]),
        (["--cross-validate", "3", "--log", "strategy.h5"], ["strategy.h5: is the file to learn from"]),
        (["-o", "x.h5", "--weights", "./x.h5"], ["x.h5: would be written twice"]),
        (["-o", "no/x.h5"], ["there is no folder no"]),
    ],
)
def test_wrong_options_are_refused_in_one_line(run, folder, arguments, texts):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    pawnn(run, *arguments).refused(*texts)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@needs_jax
@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", ["tensor.h5", "agent.h5"])
def test_only_strategies_are_learned(run, name):
    run("enemy", "pawnn", "--from", name).refused(f"{name}: is a file of kind {name[:-3]}, allowed is a strategy")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("extra", "arguments"), [("learn", []), ("plot", ["--cross-validate", "2", "--plot", "p.png"])]
)
def test_missing_extras_are_named(run, monkeypatch, extra, arguments):
    """Even with everything that learns there, a picture needs something that draws."""
    have = {"jax", "optax"} if extra == "plot" else set()
    monkeypatch.setattr("punish_fast.runtime.extras.find_spec", lambda name: name in have or None)
    pawnn(run, *arguments).refused(f'install with: pip install "punish-fast[{extra}]"')

from __future__ import annotations

import json
from importlib.util import find_spec

import numpy as np
import pytest

from enemies.recorded import recorded_counts
from punish_fast.enemies.folds import FoldsError
from punish_fast.enemies.learning_curves import FoldLosses, cross_validate, draw_losses
from punish_fast.enemies.parless import parless
from punish_fast.enemies.training import examples_of
from punish_fast.enemies.training_options import TrainingOptions
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace
from punish_fast.runtime.extras import ExtraError

METHOD = TrainingOptions(hidden=(4,), dropout=(), epochs=2)

needs_jax = pytest.mark.skipif(find_spec("jax") is None or find_spec("optax") is None, reason="needs the extra learn")
needs_matplotlib = pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs the extra plot")


@pytest.fixture(scope="module")
def examples():
    space = StateSpace(PRESETS["tiny"])
    counts = recorded_counts(space, n_games=10)
    return examples_of(space, parless(space, counts), counts.state)


def made_up(n=3, epochs=5):
    generator = np.random.default_rng(0)
    return [FoldLosses(8, 2, generator.random((epochs, 2)), generator.random((epochs, 2))) for _ in range(n)]


@pytest.mark.slow
@needs_jax
@pytest.mark.parametrize("swapped", [False, True])
def test_each_fold_is_held_out_or_trained_on_once(examples, swapped):
    steps = []
    curves = cross_validate(PRESETS["tiny"], examples, METHOD, 5, swapped, lambda *step: steps.append(step))
    assert len(curves) == 5
    assert steps == [(k, 10) for k in range(1, 11)]
    alone = [curve.n_train if swapped else curve.n_test for curve in curves]
    assert sum(alone) == len(examples)
    assert max(alone) - min(alone) <= 1
    for curve in curves:
        assert curve.n_train + curve.n_test == len(examples)
        assert curve.train.shape == curve.test.shape == (2, 2)


@pytest.mark.slow
@needs_jax
def test_a_fold_says_nothing_of_what_it_holds_out(examples):
    """Other targets in the fold held out change its errors there, and nothing else."""
    from punish_fast.enemies.folds import folds_of

    fold = folds_of(np.arange(len(examples)), 3, METHOD.seed)
    changed = examples.p.copy()
    changed[fold == 0] = np.eye(11)[0]
    before = cross_validate(PRESETS["tiny"], examples, METHOD, 3)[0]
    after = cross_validate(PRESETS["tiny"], type(examples)(examples.digits, changed), METHOD, 3)[0]
    assert np.array_equal(before.train, after.train)
    assert not np.array_equal(before.test, after.test)


def test_more_folds_than_examples_are_refused(examples):
    with pytest.raises(FoldsError, match=r"^folds: 5000 is not allowed"):
        cross_validate(PRESETS["tiny"], examples, METHOD, 5000)


def test_a_log_holds_every_loss():
    curve = made_up(1)[0]
    log = json.loads(json.dumps(curve.to_mapping()))
    assert (log["n_train"], log["n_test"]) == (8, 2)
    assert np.array_equal(np.column_stack([log["train_loss"], log["train_mse"]]), curve.train)
    assert np.array_equal(np.column_stack([log["test_loss"], log["test_mse"]]), curve.test)


@needs_matplotlib
def test_plot_shows_both_means_and_is_the_same_every_time(tmp_path):
    for name in ("a.svg", "b.svg"):
        draw_losses(made_up(), "a title", tmp_path / name)
    text = (tmp_path / "a.svg").read_text()
    assert text == (tmp_path / "b.svg").read_text()
    train, test = (np.mean([getattr(each, part)[-1, 1] for each in made_up()]) for part in ("train", "test"))
    for label in ("a title", "epoch", f"training: {train:.5f}", f"held out: {test:.5f}"):
        assert f"<!-- {label} -->" in text


def test_without_matplotlib_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr("punish_fast.runtime.extras.find_spec", lambda _name: None)
    with pytest.raises(ExtraError, match=r'pip install "punish-fast\[plot\]"'):
        draw_losses(made_up(), "", tmp_path / "x.png")

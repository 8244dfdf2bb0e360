"""Deep Q-networks in files."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

from punish_fast.games.registry import vectorise
from punish_fast.games.tapnswap import TapnSwap, Variant
from punish_fast.learn.dqn import DqnMethod, new_dqn
from punish_fast.learn.network_file import load_dqn, save_dqn
from punish_fast.learn.network_training import train
from punish_fast.learn.strength import strength_of
from punish_fast.runtime.files import ReadError
from punish_fast.store.networks import load_network, save_network

needs_jax = pytest.mark.skipif(find_spec("jax") is None or find_spec("optax") is None, reason="needs the extra learn")

METHOD = DqnMethod(hidden=(4,), games=40, memory=2, steps=1, batch=8, max_plies=30)


@pytest.fixture(scope="module")
def learner():
    vector = vectorise(TapnSwap(Variant(limit=3)))
    learner = new_dqn(vector, METHOD, 2**63 - 1)
    if find_spec("jax") and find_spec("optax"):
        learner.plan(120)
        train(learner, strength_of(vector))
    return learner


@pytest.fixture
def path(learner, tmp_path):
    save_dqn(tmp_path / "x.h5", learner)
    return tmp_path / "x.h5"


def test_round_trip(path, learner):
    found = load_dqn(path)
    assert json.dumps(found.to_mapping()) == json.dumps(learner.to_mapping())
    assert found.method == learner.method
    assert found.digest == learner.digest
    for name in ("weights", "target", "momentum", "variance", "snapshots", "memory"):
        assert all(map(np.array_equal, getattr(found, name), getattr(learner, name)))
    for one, other in zip(found._samples, learner._samples, strict=True):
        assert all(map(np.array_equal, one, other))


def test_a_learner_that_has_not_begun_is_written(learner, tmp_path):
    fresh = new_dqn(learner.vector, METHOD)
    save_dqn(tmp_path / "fresh.h5", fresh)
    assert load_dqn(tmp_path / "fresh.h5").digest == fresh.digest


def test_networks_of_other_games_are_refused(path):
    with pytest.raises(ReadError, match=r"x\.h5: its game is .*limit 3.*, not .*limit 5"):
        load_dqn(path, TapnSwap())


def change(path, **changes):
    """Write a file anew with other content; those of ``learner`` replace its entries."""
    file = load_network(path)
    learner = file.learner | changes.pop("learner", {})
    save_network(path, file._replace(learner=learner, **changes))


def of_method(**changes):
    method = json.loads(json.dumps(vars(METHOD)))
    return {"learner": {"method": method | changes}}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"game": {"name": "chess"}}, "game: 'chess' is unknown"),
        ({"learner": {"more": 1}}, "learner: .* is not allowed, it must have method, seed, rounds, wanted, curve"),
        ({"learner": {"method": []}}, r"method: \[\] is not allowed, it must have target, illegal"),
        ({"learner": {"seed": -1}}, "learner: its numbers are impossible"),
        ({"learner": {"rounds": 4}}, "learner: its numbers are impossible"),
        ({"learner": {"rounds": 1.0}}, "learner: its numbers are impossible"),
        ({"learner": {"rounds": 0}}, "(curve: |action: 80 games of .* plies are not those of the latest rounds)"),
        ({"learner": {"curve": [{}]}}, "curve: {} is no point of a learning curve"),
        ({"learner": {"curve": []}}, "curve: it has not a point for each of 1 snapshots"),
        (of_method(hidden=[5]), "learner: it has 82 weights, its method 101"),
        (of_method(hidden=5), "hidden: 5 is not allowed, it must be a list"),
        (of_method(hidden=[True]), "hidden: .* is not allowed, it must be up to 8 numbers"),
        (of_method(filters=[5]), "filters: .* are impossible, the features of tapnswap have no places"),
        (of_method(target=3), "target: 3 is not allowed"),
        (of_method(max_plies=1), "action: 80 games of .* plies are not those of the latest rounds"),
        ({"action": np.zeros((80, 30), np.int16)}, "action: one follows the end of its game"),
        ({"action": np.full((80, 3), 6, np.int16)}, "action: a number is not from -1 to 5"),
        ({"action": np.zeros((79, 1), np.int16)}, "action: 79 games of 1 plies are not those of the latest rounds"),
        ({"variance": np.full(82, -1, np.float32)}, "/network/variance: a number is -1.0, allowed are those from 0"),
        ({"weights": np.full(82, np.nan, np.float32)}, "/network/weights: a number is not finite"),
    ],
)
@needs_jax
def test_what_is_no_learner_is_refused(path, changes, text):
    change(path, **changes)
    with pytest.raises(ReadError, match=rf"x\.h5: {text}"):
        load_dqn(path)


@pytest.mark.parametrize("edit", ["games", "first", "earlier", "perfect", "win_share", "mistakes", "epsilon"])
@needs_jax
def test_impossible_points_are_refused(path, edit):
    (point,) = load_network(path).learner["curve"]
    for value in (None, -1, 2**60, "x", {"win": 2}, [0.5], float("inf")):
        change(path, learner={"curve": [point | {edit: value}]})
        with pytest.raises(ReadError, match=r"x\.h5: (curve: .* is no point of a learning curve|learner: not a JSON)"):
            load_dqn(path)


def test_a_network_is_written_whole_or_not_at_all(path, learner, monkeypatch):
    before = path.read_bytes()
    monkeypatch.setattr("punish_fast.store.writer.seal", lambda _path: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        save_dqn(path, replace(learner, seed=3))
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]

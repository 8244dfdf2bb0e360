"""Training of networks: points, snapshots, interrupts and checkpoints."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from punish_fast.games.registry import vectorise
from punish_fast.games.tapnswap import TapnSwap, Variant
from punish_fast.learn.dqn import DqnMethod, new_dqn
from punish_fast.learn.network_file import load_dqn, save_dqn
from punish_fast.learn.network_training import is_point, train
from punish_fast.learn.strength import strength_of

pytestmark = pytest.mark.skipif(find_spec("jax") is None or find_spec("optax") is None, reason="needs the extra learn")

METHOD = DqnMethod(hidden=(8,), games=300, memory=2, steps=2, batch=16, renewal=2, decay=1000, max_plies=30)


@pytest.fixture(scope="module")
def game():
    vector = vectorise(TapnSwap(Variant(limit=3)))
    return vector, strength_of(vector)


def planned(vector, n_games, method=METHOD):
    learner = new_dqn(vector, method, 7)
    learner.plan(n_games)
    return learner


def test_points_are_doublings_and_the_end(game):
    learner = planned(game[0], 9000)
    points = []
    for learner.rounds in range(31):
        if is_point(learner):
            points.append(learner.games)
    assert points == [1200, 2100, 4200, 8100, 9000]


def test_curves_tell_the_strength_and_snapshots_meet_earlier_ones(game):
    learner, told = planned(game[0], 2400), []
    train(learner, game[1], told.append)
    assert [point["games"] for point in learner.curve] == [1200, 2100, 2400]
    assert told == [False, False, False, True, False, False, True, True]
    assert [len(point["earlier"]) for point in learner.curve] == [0, 1, 2]
    for point, weights in zip(learner.curve, learner.snapshots, strict=True):
        assert point.items() >= game[1].measure(learner.values_of(weights), True).items()
    last, *earlier = (learner.values_of(weights) for weights in (learner.snapshots[2], *learner.snapshots[:2]))
    points = game[1].points(last, earlier)
    assert learner.curve[2]["earlier"] == points
    assert np.array_equal(learner.snapshots[-1], learner.weights)


@pytest.mark.parametrize("target", ["mc", "td"])
def test_training_stopped_at_random_instants_resumes_to_the_same_network(game, tmp_path, monkeypatch, target):
    vector, strength = game
    method = DqnMethod(**{**vars(METHOD), "target": target})
    whole = planned(vector, 2400, method)
    train(whole, strength)
    path, step = tmp_path / "x.h5", type(vector).step
    save_dqn(path, planned(vector, 2400, method))
    left = np.random.default_rng(1).integers(1, 150, 1000).tolist()

    def interrupted(*args):
        left[-1] -= 1
        if left[-1] == 0:
            left.pop()
            raise KeyboardInterrupt
        return step(*args)

    n_interrupts = 0
    while (learner := load_dqn(path)).rounds < learner.wanted:
        with monkeypatch.context() as at_random_instants:
            at_random_instants.setattr(type(vector), "step", interrupted)
            # The second time, training resumes in memory.
            for _ in range(2):
                try:
                    train(learner, strength, lambda _, each=learner: save_dqn(path, each))
                except KeyboardInterrupt:
                    n_interrupts += 1
    assert n_interrupts > 3
    assert learner.digest == whole.digest
    assert learner.curve == whole.curve
    assert np.array_equal(learner.snapshots, whole.snapshots)


def test_further_training_goes_on_where_it_ended(game, tmp_path):
    learner = planned(game[0], 300)
    train(learner, game[1])
    save_dqn(tmp_path / "x.h5", learner)
    again = load_dqn(tmp_path / "x.h5")
    for each in (learner, again):
        each.plan(600)
        train(each, game[1])
    assert [point["games"] for point in again.curve] == [300, 900]
    assert (again.digest, again.curve) == (learner.digest, learner.curve)

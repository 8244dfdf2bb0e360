"""Training: points of learning curves, snapshots, interrupts and checkpoints."""

from importlib.util import find_spec

import numpy as np
import pytest

from punish_fast.games.learn.agent_file import load_agent, save_agent, train
from punish_fast.games.learn.dqn import DqnLearner, DqnMethod
from punish_fast.games.learn.qlearning import Hyperparameters, assess, new_learner, points_of
from punish_fast.games.learn.strength import strength_of
from punish_fast.games.learn.trainer import stream_of
from punish_fast.games.registry import vectorise
from punish_fast.games.solve.positions import enumerate_positions
from punish_fast.games.solve.retrograde import solve_game
from punish_fast.games.tapnswap import TapnSwap, Variant

needs_jax = pytest.mark.skipif(find_spec("jax") is None or find_spec("optax") is None, reason="needs the extra learn")
METHOD = DqnMethod(hidden=(8,), games=300, memory=2, steps=2, batch=16, renewal=2, decay=1000, max_plies=30)


@pytest.fixture(scope="module")
def table():
    positions = enumerate_positions(TapnSwap())
    return positions, solve_game(positions)


@pytest.fixture(scope="module")
def game():
    vector = vectorise(TapnSwap(Variant(limit=3)))
    return vector, strength_of(vector)


def planned(vector, n_games, method=METHOD):
    learner = DqnLearner.new(vector, method, 7)
    learner.plan(n_games)
    return learner


def test_points_ascend_to_the_end_and_streams_differ():
    for n_games in (1, 101, 200_000):
        points = points_of(n_games)
        assert points == sorted(set(points))
        assert points[-1] == n_games
        assert len(points) <= 30
    keys = [(seed, number, stream) for seed in (0, 2**63 - 1) for number in (0, 1, 2**40) for stream in range(4)]
    drawn = {key: stream_of(*key).integers(2**62) for key in keys}
    assert len(set(drawn.values())) == len(keys)
    assert drawn == {key: stream_of(*key).integers(2**62) for key in keys}


def test_perfect_play_makes_no_mistakes_and_random_play_many(table):
    positions, perfect = table
    expert, random = (assess(*table, policy) for policy in (perfect.policy(), positions.uniform()))
    assert (expert["mistakes"], expert["perfect"]) == (0, 1)
    assert expert["win_share"] > 0.99999
    assert random["win_share"] == pytest.approx(0.5)
    assert random["mistakes"] == sum(
        not all(perfect.keeps_value()[list(positions.rows(number))]) for number in range(len(positions))
    )


def test_curves_of_tables_go_through_all_sessions(table):
    learner = new_learner(table[0], Hyperparameters())
    train(learner, table[1])
    assert learner.curve == []
    learner.plan("random", 150)
    learner.plan("self", 250)
    seen = []
    train(learner, table[1], lambda: seen.append(learner.games))
    assert seen == [*points_of(150), *(150 + n for n in points_of(250))]
    assert [point["games"] for point in learner.curve] == seen
    assert learner.curve[-1] == {"games": 400.0} | assess(*table, learner.policy())


@needs_jax
def test_points_of_networks_are_doublings_and_the_end(game):
    learner = planned(game[0], 9000)
    points = []
    for learner.rounds in range(31):
        if learner.is_point:
            points.append(learner.games)
    assert points == [1200, 2100, 4200, 8100, 9000]


@needs_jax
def test_curves_have_the_strength_and_snapshots_meet_earlier_ones(game):
    learner, told = planned(game[0], 2400), []
    train(learner, game[1], lambda: told.append(learner.is_point))
    assert [point["games"] for point in learner.curve] == [1200, 2100, 2400]
    assert told == [False, False, False, True, False, False, True, True]
    assert [len(point["earlier"]) for point in learner.curve] == [0, 1, 2]
    for point, weights in zip(learner.curve, learner.snapshots, strict=True):
        assert point.items() >= game[1].measure(learner.values_of(weights), True).items()
    last, *earlier = (learner.values_of(weights) for weights in (learner.snapshots[2], *learner.snapshots[:2]))
    assert learner.curve[2]["earlier"] == game[1].points(last, earlier)
    assert np.array_equal(learner.snapshots[-1], learner.weights)


@needs_jax
def test_training_stopped_at_random_instants_resumes_to_the_same_network(game, tmp_path, monkeypatch):
    vector, strength = game
    method = DqnMethod(**{**vars(METHOD), "target": "td"})
    whole = planned(vector, 1500, method)
    train(whole, strength)
    path, step = tmp_path / "x.h5", type(vector).step
    save_agent(path, planned(vector, 1500, method))
    left = np.random.default_rng(1).integers(1, 150, 1000).tolist()

    def interrupted(*args):
        left[-1] -= 1
        if left[-1] == 0:
            left.pop()
            raise KeyboardInterrupt
        return step(*args)

    n_interrupts = 0
    while (learner := load_agent(path)).rounds < learner.wanted:
        with monkeypatch.context() as at_random_instants:
            at_random_instants.setattr(type(vector), "step", interrupted)
            # The second time, training resumes in memory.
            for _ in range(2):
                try:
                    train(learner, strength, lambda each=learner: save_agent(path, each))
                except KeyboardInterrupt:
                    n_interrupts += 1
    assert n_interrupts > 3
    assert learner.digest == whole.digest
    assert learner.curve == whole.curve
    assert np.array_equal(learner.snapshots, whole.snapshots)

"""MuZero learners in files: they go on to the same bits, and what is none is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from learn.muzero.test_learner import METHOD, grown
from punish_fast.games.registry import make_game
from punish_fast.learn import agent_file
from punish_fast.learn.agent_file import load_network_learner, load_policies
from punish_fast.learn.muzero.checkpoint import load_muzero, save_muzero
from punish_fast.learn.muzero.learner import new_muzero
from punish_fast.learn.network_training import train
from punish_fast.learn.strength import live_states, network_policy, strength_of
from punish_fast.runtime.files import ReadError
from punish_fast.store.networks import load_muzero_file, save_network

pytestmark = pytest.mark.usefixtures("fast_compilation")


@pytest.mark.slow
def test_a_file_goes_on_to_the_same_bits(tictactoe, tmp_path):
    for rounds in (0, 1, 4):
        learner = grown(tictactoe, rounds=rounds) if rounds else new_muzero(tictactoe, METHOD, 7)
        save_muzero(tmp_path / "x.h5", learner)
        again = load_muzero(tmp_path / "x.h5", tictactoe.game)
        assert again.digest == learner.digest
        for each in (learner, again):
            each.plan(60)
            while each.rounds < each.wanted:
                each.learn()
        assert again.digest == learner.digest


@pytest.mark.slow
def test_training_adds_points_and_agents_can_be_loaded(tictactoe, tmp_path, monkeypatch):
    monkeypatch.setattr(agent_file, "JUDGED_SIMULATIONS", (0, METHOD.simulations))
    learner = new_muzero(tictactoe, replace(METHOD, games=600), 7)
    learner.plan(1800)
    train(learner, strength_of(tictactoe))
    assert [point["games"] for point in learner.curve] == [1200, 1800]
    save_muzero(tmp_path / "x.h5", learner)
    again = load_network_learner(tmp_path / "x.h5", tictactoe.game)
    assert (again.curve, again.digest) == (learner.curve, learner.digest)
    assert np.array_equal(again.snapshots, learner.snapshots)
    positions, policies = load_policies(tmp_path / "x.h5", tictactoe.game)
    assert len(positions) == 5478
    assert list(policies) == [0, METHOD.simulations]
    assert all(policy.sum() == len(positions.live) for policy in policies.values())
    values = again.values_of(again.weights)(live_states(tictactoe, positions))
    assert np.array_equal(policies[METHOD.simulations], network_policy(positions, values)[0])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda file: file.learner.pop("seed"), r"learner: .* it must have method, seed, rounds, wanted, curve"),
        (lambda file: file.learner.update(rounds=5), r"learner: its numbers are impossible"),
        (lambda file: file.learner.update(rounds=1), r"action: 90 games of \d plies are not those of the latest"),
        (lambda file: file.learner["method"].update(width=5), r"learner: it has .* weights, its method "),
        (lambda file: file.learner["method"].update(unroll=99), r"unroll: 99 is not allowed"),
        (lambda file: file.learner["method"].pop("model"), r"method: .* is not allowed, it must have model, search"),
        (lambda file: file.learner["method"].update(filters=3), r"filters: 3 is not allowed, it must be a list"),
        (lambda file: file.game.update(name="gwent"), r"game: gwent has no parameters"),
        (lambda file: file.action.fill(8), r"action: one "),
    ],
)
def test_what_is_no_learner_is_refused(tictactoe, tmp_path, change, text):
    save_muzero(tmp_path / "x.h5", grown(tictactoe))
    file = load_muzero_file(tmp_path / "x.h5")
    change(file)
    save_network(tmp_path / "x.h5", file)
    with pytest.raises(ReadError, match=rf"x\.h5: {text}"):
        load_muzero(tmp_path / "x.h5")


def test_other_games_and_actions_are_refused(tictactoe, tmp_path):
    save_muzero(tmp_path / "x.h5", grown(tictactoe))
    with pytest.raises(ReadError, match=r"x\.h5: its game is tictactoe, not connect4"):
        load_muzero(tmp_path / "x.h5", make_game("connect4", {}))
    file = load_muzero_file(tmp_path / "x.h5")
    save_network(tmp_path / "x.h5", file._replace(policy=file.policy[:, :, :8].copy()))
    with pytest.raises(ReadError, match=r"x\.h5: policy: it has 8 actions, the game 9"):
        load_muzero(tmp_path / "x.h5")

"""Errors of learned models: perfect models have none, and others have those of slow loops."""

import math

import numpy as np
import pytest
from learn.muzero.test_learner import METHOD

from bench import muzero_model
from bench.muzero_model import main, sampled_states, unrolled_errors
from punish_fast.games.learn.agent_file import save_agent
from punish_fast.games.learn.muzero.learner import MuZeroLearner
from punish_fast.games.registry import perfect_play, vector_game
from punish_fast.games.tictactoe import TicTacToe

N_ACTIONS = 7


@pytest.fixture(scope="module")
def learner():
    return MuZeroLearner.new(vector_game(TicTacToe()), METHOD, 1)


@pytest.fixture(scope="module")
def oracle():
    return perfect_play(TicTacToe())


def truth(states, action, oracle):
    """What a perfect model would say: the value and a best move of each state, and each reward."""
    game, n = TicTacToe(), len(states)
    policy, value = np.zeros((action.shape[1] + 1, n, 9)), np.zeros((action.shape[1] + 1, n))
    reward = np.zeros((action.shape[1], n))
    for row, first in enumerate(states):
        state = first
        for k in range(action.shape[1] + 1):
            if game.is_terminal(state):
                policy[k, row] = 1 / 9
                continue
            value[k, row] = max(move.value for move in oracle.move_values(state))
            policy[k, row, oracle.best_action(state)] = 1
            if k < action.shape[1]:
                mover, state = game.player(state), game.apply(state, int(action[row, k]))
                reward[k, row] = game.returns(state)[mover]
    return muzero_model._Predictions(policy, value, reward)


def test_a_perfect_model_has_no_errors(learner, oracle, monkeypatch):
    generator = np.random.default_rng(1)
    states = sampled_states(learner.vector, 60, generator)
    monkeypatch.setattr(muzero_model, "_predicted", lambda _learner, _features, action: truth(states, action, oracle))
    found = unrolled_errors(learner, oracle, states, N_ACTIONS, generator)
    assert [each.actions for each in found] == list(range(N_ACTIONS + 1))
    assert found[0].states == 60 > found[3].states > 0
    for each in found:
        for name, exact in (("value", 0), ("reward", 0), ("keeps_value", 1), ("illegal", 0), ("past_value", 0)):
            assert getattr(each, name) == exact or math.isnan(getattr(each, name))
    assert found[-1].past_reward == 0


def test_wrong_models_have_the_errors_of_what_they_say(learner, oracle, monkeypatch):
    generator, n = np.random.default_rng(1), 40
    states = sampled_states(learner.vector, n, generator)

    def wrong(_learner, _features, action):
        told = truth(states, action, oracle)
        return told._replace(policy=np.full_like(told.policy, 1 / 9), value=told.value + 0.25, reward=told.reward - 0.5)

    monkeypatch.setattr(muzero_model, "_predicted", wrong)
    # This model sees each state as it is.
    monkeypatch.setattr(
        muzero_model, "_seen", lambda _learner, now: truth(now, np.empty((len(now), 0), dtype=np.int32), oracle)
    )
    for each in unrolled_errors(learner, oracle, states, 4, generator):
        assert (each.value_if_seen, each.keeps_value_if_seen) == (0, 1)
        assert each.value == pytest.approx(0.25)
        assert each.illegal == pytest.approx(each.illegal_if_uniform)
        if each.actions:
            assert each.reward == pytest.approx(0.5)
            assert each.past_value == pytest.approx(0.25)


@pytest.mark.slow
@pytest.mark.usefixtures("fast_compilation")
def test_the_table_is_printed(learner, tmp_path, capsys):
    save_agent(tmp_path / "x.h5", learner)
    assert main(["tictactoe", str(tmp_path / "x.h5"), "--states", "20", "--actions", "8"]) == 0
    unrolled = capsys.readouterr().out.splitlines()
    assert len(unrolled) == 2 + 9
    first = unrolled[2].split(" | ")
    assert (first[0], first[1], first[4], first[-1]) == ("| 0", "20", "-", "- |")

"""Errors of learned models: perfect models have none, and others have those of slow loops."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from learn.muzero.test_learner import METHOD

from bench import muzero_model
from bench.muzero_model import (
    ILLEGAL,
    LEGAL,
    PAST,
    SearchedNodes,
    Trees,
    main,
    node_kinds,
    sampled_states,
    searched_nodes,
    table_of,
    unrolled_errors,
)
from punish_fast.games.registry import make_game, oracle_of, vectorise
from punish_fast.games.tictactoe import TicTacToe
from punish_fast.learn.muzero.checkpoint import save_muzero
from punish_fast.learn.muzero.learner import new_muzero
from punish_fast.learn.qlearning import LearnError

N_ACTIONS = 7


@pytest.fixture(scope="module")
def tictactoe():
    return vectorise(TicTacToe())


@pytest.fixture(scope="module")
def learner(tictactoe):
    return new_muzero(tictactoe, METHOD, 1)


@pytest.fixture(scope="module")
def oracle():
    return oracle_of(TicTacToe())


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
    states = sampled_states(learner.board, 60, generator)
    monkeypatch.setattr(muzero_model, "_predicted", lambda _learner, _features, action: truth(states, action, oracle))
    found = unrolled_errors(learner, oracle, states, N_ACTIONS, generator)
    assert [each.actions for each in found] == list(range(N_ACTIONS + 1))
    assert found[0].states == 60 > found[3].states > 0
    for each in found:
        assert each.value == 0 or math.isnan(each.value)
        assert each.reward == 0 or math.isnan(each.reward)
        assert each.keeps_value == 1 or math.isnan(each.keeps_value)
        assert each.illegal == 0 or math.isnan(each.illegal)
        assert each.past_value == 0 or math.isnan(each.past_value)
    assert found[-1].past_reward == 0


def test_wrong_models_have_the_errors_of_what_they_say(learner, oracle, monkeypatch):
    generator, n = np.random.default_rng(1), 40
    states = sampled_states(learner.board, n, generator)

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
def test_what_the_networks_say_is_followed_step_by_step(learner, tictactoe):
    from punish_fast.learn.muzero.network import mean_of, networks_of

    action = np.array([[4, 0, 8], [1, 2, 3]], dtype=np.int32)
    features = tictactoe.features(tictactoe.initial(2))
    said, networks = muzero_model._predicted(learner, features, action), networks_of(learner.shape, learner.weights)
    hidden = networks.represent(features)
    for k in range(4):
        logits, value = networks.predict(hidden)
        weight = np.exp(np.asarray(logits))
        assert said.policy[k] == pytest.approx(weight / weight.sum(axis=1, keepdims=True), abs=1e-5)
        assert said.value[k] == pytest.approx(np.asarray(mean_of(value)), abs=1e-5)
        if k < 3:
            hidden, reward = networks.advance(hidden, action[:, k])
            assert said.reward[k] == pytest.approx(np.asarray(mean_of(reward)), abs=1e-5)


@pytest.mark.slow
@pytest.mark.usefixtures("fast_compilation")
def test_errors_are_those_of_a_slow_loop(learner, tictactoe, oracle):
    from punish_fast.learn.muzero.network import mean_of, networks_of

    states = sampled_states(learner.board, 8, np.random.default_rng(3))
    networks, game = networks_of(learner.shape, learner.weights), TicTacToe()
    found = unrolled_errors(learner, oracle, states, 2, np.random.default_rng(4))
    lines, action = muzero_model._random_lines(game, states, 2, np.random.default_rng(4))
    errors = {name: [[] for _ in range(3)] for name in found[0]._fields}
    for row, line in enumerate(lines):
        hidden = networks.represent(tictactoe.features(tictactoe.pack([line[0]])))
        for k, state in enumerate(line):
            if k:
                hidden, reward = networks.advance(hidden, action[row : row + 1, k - 1])
                was_over = game.is_terminal(line[k - 1])
                true = 0 if was_over else game.returns(state)[game.player(line[k - 1])]
                errors["past_reward" if was_over else "reward"][k].append(abs(float(mean_of(reward)[0]) - true))
            value = float(mean_of(networks.predict(hidden)[1])[0])
            if game.is_terminal(state):
                errors["past_value"][k].append(abs(value))
                continue
            moves = oracle.move_values(state)
            exact = max(move.value for move in moves)
            seen = networks.represent(tictactoe.features(tictactoe.pack([state])))
            for name, each in (("", hidden), ("_if_seen", seen)):
                logits, said = networks.predict(each)
                errors[f"value{name}"][k].append(abs(float(mean_of(said)[0]) - exact))
                best = max(moves, key=lambda move, logits=logits: float(logits[0, move.action]))
                errors[f"keeps_value{name}"][k].append(best.value == exact)
    for name, by_actions in errors.items():
        for k, numbers in enumerate(by_actions):
            if numbers:
                assert getattr(found[k], name) == pytest.approx(np.mean(numbers), abs=1e-5), (name, k)


def test_nodes_are_told_by_the_rules(tictactoe):
    # X wins by 2; a root, then: legal 5, its illegal 5, what follows; the winning 2, past it twice.
    state = TicTacToe().initial()
    for move in (0, 3, 1, 4):
        state = TicTacToe().apply(state, move)
    trees = Trees(np.array([[-1, 0, 1, 2, 0, 4, 5]]), np.array([[-1, 5, 5, 8, 2, 8, 0]]))
    kind, depth = node_kinds(tictactoe, tictactoe.pack([state]), trees)
    assert kind.tolist() == [[LEGAL, LEGAL, ILLEGAL, ILLEGAL, LEGAL, PAST, PAST]]
    assert depth.tolist() == [[0, 1, 2, 3, 1, 2, 3]]


@pytest.mark.slow
@pytest.mark.usefixtures("fast_compilation")
@pytest.mark.parametrize(("model", "kind"), [("learned", "gumbel"), ("rules", "gumbel"), ("rules", "puct")])
def test_every_simulation_adds_a_node_and_the_rules_no_illegal_one(tictactoe, model, kind):
    learner = new_muzero(tictactoe, replace(METHOD, model=model, search=kind, simulations=12), 1)
    # Policies and values so sure of themselves that many legal moves have neither a probability nor a value.
    learner.weights = learner.weights * np.float32(30)
    states = sampled_states(tictactoe, 30, np.random.default_rng(1))
    found = searched_nodes(learner, states)
    assert sum(each.nodes for each in found) == 12 * 30
    assert (found[0].illegal, found[0].past) == (0, 0)
    assert (max(each.illegal for each in found) > 0) == (model == "learned")


def test_random_lines_take_each_legal_action_as_often():
    game, n = TicTacToe(), 3000
    state = game.state_of("XOXO.....")
    _, action = muzero_model._random_lines(game, [state] * n, 1, np.random.default_rng(1))
    legal = list(game.actions(state))
    counts = np.bincount(action[:, 0], minlength=9)
    assert counts[legal].sum() == n
    assert counts[legal] == pytest.approx(n / len(legal), rel=0.15)


def test_exact_values_are_discounted_as_the_learner_discounts(oracle):
    # X wins at once by 2, or in three plies by other moves.
    game = TicTacToe()
    for text, value in (("XX.OO....", 1.0), ("XX..O.O..", 1.0), ("X........", 0.0)):
        assert muzero_model._exact(game, oracle, game.state_of(text), 0.5)[0] == value
    # X has two threats after any answer of O, which can only delay the end.
    lost = game.state_of("XX.XO...O")
    (plies,) = {move.plies for move in oracle.move_values(lost) if move.is_best}
    assert plies > 1
    assert muzero_model._exact(game, oracle, lost, 0.5)[0] == -(0.5 ** (plies - 1))


def test_rules_need_no_judge(tictactoe, oracle):
    learner = new_muzero(tictactoe, replace(METHOD, model="rules"), 1)
    with pytest.raises(LearnError, match=r"^model: it plans in the rules of the game, so there is no model to judge$"):
        unrolled_errors(learner, oracle, [], 3, np.random.default_rng(1))


def test_states_are_different_and_late_in_connect_four():
    vector = vectorise(make_game("connect4", {}))
    states = sampled_states(vector, 20, np.random.default_rng(1))
    assert len(set(states)) == 20
    assert min(state.n_stones for state in states) > 20


@pytest.mark.slow
@pytest.mark.usefixtures("fast_compilation")
def test_both_tables_are_printed(learner, tmp_path, capsys):
    save_muzero(tmp_path / "x.h5", learner)
    assert main(["tictactoe", str(tmp_path / "x.h5"), "--states", "20", "--actions", "8"]) == 0
    unrolled, nodes = (table.splitlines() for table in capsys.readouterr().out.split("\n\n")[:2])
    assert (len(unrolled), len(nodes) > 2) == (2 + 9, True)
    first = unrolled[2].split(" | ")
    assert (first[0], first[1], first[4], first[-1]) == ("| 0", "20", "-", "- |")


def test_numbers_that_are_unknown_are_dashes():
    rows = table_of([SearchedNodes(1, 1234, 0.25, math.nan)])
    assert rows == [["depth", "nodes", "illegal", "past"], ["1", "1,234", "0.250", "-"]]

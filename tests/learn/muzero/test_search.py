"""Searches and self-play: legal, repeatable, and right where the rules are known."""

import numpy as np
import pytest

from punish_fast.games.episodes import NONE, random_mover, retrace
from punish_fast.games.learn.hyperparameters import MuZeroMethod
from punish_fast.games.learn.muzero.learner import MuZeroLearner, play_searched, without_ends
from punish_fast.games.learn.muzero.search import after_actions, plan_of, policy_logits, search
from punish_fast.games.learn.networks import random_weights
from punish_fast.games.learn.trainer import stream_of
from punish_fast.games.registry import make_game, vector_game
from punish_fast.games.tictactoe import TicTacToe

pytestmark = pytest.mark.usefixtures("fast_compilation")


def weights_of(vector, method):
    return random_weights(method.shape_for(vector).shapes, stream_of(1, 0, 0))


def random_states(vector, n, plies):
    generator, states = np.random.default_rng(5), vector.initial(n)
    for _ in range(plies):
        legal = vector.legal(states)
        states = vector.step(states, (generator.random(legal.shape) * legal).argmax(axis=1))[0]
    return states


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gumbel", "puct"])
def test_searches_are_legal_and_do_not_depend_on_others(tictactoe, kind):
    method = MuZeroMethod(search=kind, simulations=8, width=8)
    plan, weights, states = plan_of(tictactoe, method), weights_of(tictactoe, method), random_states(tictactoe, 150, 3)
    found = search(plan, tictactoe, weights, states)
    legal = tictactoe.legal(states)
    assert legal[np.arange(150), found.action].all()
    assert found.policy.sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert not found.policy[~legal].any()
    assert (np.abs(found.value) <= 1).all()
    for part in (slice(0, 1), slice(120, 150), slice(None, None, -1)):
        alone = search(plan, tictactoe, weights, states[part], seed=9)
        assert np.array_equal(alone.action, found.action[part])
        assert alone.policy == pytest.approx(found.policy[part], abs=1e-5)
    assert search(plan, tictactoe, weights, states[:0]).policy.shape == (0, 9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gumbel", "puct"])
def test_searches_in_the_rules_win_and_block(tictactoe, kind):
    method, game = MuZeroMethod(model="rules", search=kind, simulations=200, width=8), TicTacToe()
    # X has two of a row; O has two of a row as well, and moves; X must block; O must block.
    states = [game.state_of(text) for text in ("XX.OO....", "XX.OO...X", "XO..O...X", "XX..O....")]
    found = search(plan_of(tictactoe, method), tictactoe, weights_of(tictactoe, method), tictactoe.pack(states))
    assert found.action.tolist() == found.policy.argmax(axis=1).tolist() == [2, 5, 7, 2]
    # A Gumbel search shares its visits among good and bad actions, and its value with them.
    if kind == "puct":
        assert (found.value[:2] > 0.6).all()
        assert (np.abs(found.value[2:]) < 0.8).all()


def test_the_prediction_alone_is_that_of_the_networks(tictactoe):
    method, states = MuZeroMethod(width=8), random_states(tictactoe, 5, 3)
    shape, weights = method.shape_for(tictactoe), weights_of(tictactoe, method)
    logits = policy_logits(shape, weights, tictactoe.features(states))
    more = policy_logits(shape, weights, tictactoe.features(np.repeat(states, 20, axis=0)))
    assert logits.shape == (5, 9)
    assert more[::20] == pytest.approx(logits, abs=1e-5)


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "tapnswap"])
def test_nodes_follow_the_rules_to_the_end_and_stay_there(name):
    vector, generator = vector_game(make_game(name, {})), np.random.default_rng(1)
    states, over = vector.initial(50), np.zeros(50, dtype=np.bool_)
    n_ended = 0
    for _ in range(30):
        action, before = np.zeros(50, dtype=np.int32), states.copy()
        live = np.flatnonzero(~over)
        action[live] = random_mover(states[live], vector.legal(states[live]), generator)
        words, ends, reward, features, legal = after_actions(vector, states.view(np.uint32), over, action)
        assert np.array_equal(states, before)
        after, returns, ended = vector.step(states[live], action[live])
        mover = vector.player(states[live])
        assert np.array_equal(words.view(np.uint64)[live], after)
        assert np.array_equal(words.view(np.uint64)[over], states[over])
        assert np.array_equal(ends[live], ended)
        assert ends[over].all()
        assert np.array_equal(reward[live], returns[np.arange(len(live)), mover])
        assert not reward[over].any()
        assert np.array_equal(features, vector.features(words.view(np.uint64)))
        assert np.array_equal(legal, vector.legal(words.view(np.uint64)))
        states, over, n_ended = words.view(np.uint64), ends, n_ended + int(ended.sum())
    assert n_ended > 10 or name == "tapnswap"


def test_an_illegal_action_loses():
    vector = vector_game(make_game("tictactoe", {}))
    states = vector.step(vector.initial(2), np.array([4, 0]))[0]
    words, over, reward, _, _ = after_actions(vector, states.view(np.uint32), np.zeros(2, np.bool_), np.array([4, 4]))
    assert (over.tolist(), reward.tolist()) == ([True, False], [-1, 0])
    assert np.array_equal(words.view(np.uint64)[0], states[0])


METHOD = {"simulations": 4, "width": 4, "games": 30, "max_plies": 12}


def played(vector, is_noisy=True, **given):
    method = MuZeroMethod(**METHOD | given)
    weights = MuZeroLearner.new(vector, method, 3).weights
    plan = plan_of(vector, method, is_noisy=is_noisy)
    return play_searched(plan, vector, weights, method, np.random.default_rng(1)), plan, weights


def test_games_are_those_of_the_rules(tictactoe):
    games, _, _ = played(tictactoe)
    found = retrace(tictactoe, games.action)
    assert found.is_over.all()
    assert found.is_legal[games.action != NONE].all()
    assert not games.policy[games.action == NONE].any()
    assert games.policy[games.action != NONE].sum(axis=1) == pytest.approx(1, abs=0.01)


def test_each_state_has_what_its_search_found(tictactoe):
    games, plan, weights = played(tictactoe, is_noisy=False, epsilon=0.3)
    states = retrace(tictactoe, games.action).state
    # All in one batch, as in self-play.
    rows, plies = (each[:32] for each in np.nonzero(games.action != NONE))
    found = search(plan, tictactoe, weights, states[rows, plies])
    assert games.policy[rows, plies] == pytest.approx(found.policy, abs=1e-3)
    assert games.value[rows, plies] == pytest.approx(found.value, abs=1e-4)
    assert np.array_equal(games.is_random[rows, plies], games.action[rows, plies] != found.action)


def test_random_actions_are_as_many_as_asked_for(tictactoe):
    assert not played(tictactoe, epsilon=0.0)[0].is_random.any()
    assert played(tictactoe, epsilon=1.0)[0].is_random.mean() > 0.4
    opening = played(tictactoe, epsilon=0.0, opening=4)[0].is_random
    assert opening[:, :4].any(axis=0).all()
    assert not opening[:, 4:].any()
    # As many games have a random first move as have not, but for those that chance upon the move found.
    assert 0.4 < opening[:, 0].mean() < 0.95
    assert played(tictactoe, max_plies=3)[0].action.shape == (30, 3)


def test_random_beginnings_end_no_game_while_another_move_is_left(tictactoe):
    # X has two in the middle row; O has two in the top row.
    state = tictactoe.initial(1)
    for action in (4, 0, 3, 1):
        state, _, _ = tictactoe.step(state, np.array([action]))
    assert np.flatnonzero(without_ends(tictactoe, state)[0]).tolist() == [2, 6, 7, 8]
    for action in (2, 6, 8, 5):
        state, _, _ = tictactoe.step(state, np.array([action]))
    assert np.flatnonzero(without_ends(tictactoe, state)[0]).tolist() == [7], "the last move ends the game"
    games, _, _ = played(tictactoe, epsilon=0.0, opening=9, games=32)
    length = (games.action != NONE).sum(axis=1)
    assert (length == 9).mean() > 0.4

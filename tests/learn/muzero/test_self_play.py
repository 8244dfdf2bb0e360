"""Self-play: games of the rules, with what each search found."""

import numpy as np
import pytest

from punish_fast.games.learn.episodes import NONE, retrace
from punish_fast.games.learn.muzero.learner import MuZeroLearner, play_searched, without_ends
from punish_fast.games.learn.muzero.method import MuZeroMethod
from punish_fast.games.learn.muzero.search import plan_of, search

pytestmark = pytest.mark.usefixtures("fast_compilation")
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

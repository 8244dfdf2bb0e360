"""What games teach: targets, unrolled states and priorities, against slow loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.games.episodes import NONE, random_mover
from punish_fast.games.learn.hyperparameters import LearnError, MuZeroMethod
from punish_fast.games.learn.muzero.replay import LEAST_ERROR, draw, empty_games, remember
from punish_fast.games.registry import make_game, vector_game

VECTOR = vector_game(make_game("tictactoe", {}))


def random_games(n, seed, max_plies=9, random_share=0.0):
    """Games at random, with searches that found anything."""
    games, generator = empty_games(n, max_plies, 9), np.random.default_rng(seed)
    states, live = VECTOR.initial(n), np.arange(n)
    for ply in range(max_plies):
        games.action[live, ply] = random_mover(states, VECTOR.legal(states), generator)
        games.is_random[live, ply] = generator.random(len(live)) < random_share
        games.value[live, ply] = generator.uniform(-1, 1, len(live))
        games.policy[live, ply] = generator.dirichlet(np.ones(9), len(live))
        states, _, ended = VECTOR.step(states, games.action[live, ply])
        live, states = live[~ended], states[~ended]
    return games


def target_by_hand(part, row, ply, method):
    if ply >= part.length[row]:
        return 0.0
    value = part.games.value[row]
    is_last = ply == part.length[row] - 1
    if part.games.is_random[row, ply] or (is_last and not part.is_over[row]):
        return value[ply]
    if is_last:
        return part.result[row]
    follow = target_by_hand(part, row, ply + 1, method)
    return -method.discount * ((1 - method.trace) * value[ply + 1] + method.trace * follow)


@given(
    seed=st.integers(0, 1000),
    discount=st.floats(0.5, 1),
    trace=st.floats(0, 1),
    share=st.sampled_from([0.0, 0.3]),
    max_plies=st.sampled_from([4, 7, 9]),
)
def test_targets_are_those_of_a_slow_recursion(seed, discount, trace, share, max_plies):
    method = MuZeroMethod(discount=discount, trace=trace)
    part = remember(VECTOR, random_games(5, seed, max_plies, share), method)
    wanted = [[target_by_hand(part, row, ply, method) for ply in range(part.target.shape[1])] for row in range(5)]
    assert part.target == pytest.approx(np.array(wanted), abs=1e-5)


def test_what_followed_is_unrolled_past_the_end():
    method, max_plies = MuZeroMethod(unroll=5), 7
    parts = [remember(VECTOR, random_games(20, seed, max_plies, 0.2), method) for seed in (1, 2, 3)]
    found = draw(parts, 200, method, np.random.default_rng(3))
    n_past = 0
    for k in range(200):
        # States of random games of tic-tac-toe may be met twice, with other futures.
        candidates = [
            (part, row, ply)
            for part in parts
            for row in range(20)
            for ply in range(part.length[row])
            if np.array_equal(part.state[row, ply], found.state[k])
            and part.target[row, ply] == found.value[k, 0]
            and np.array_equal(part.games.policy[row, ply], found.policy[k, 0])
        ]
        (part, row, ply), *others = candidates
        assert not others
        for step in range(6):
            is_played = ply + step < part.length[row]
            assert found.has_policy[k, step] == is_played
            assert found.has_value[k, step] == (is_played or part.is_over[row])
            assert found.value[k, step] == (part.target[row, ply + step] if is_played else 0)
            n_past += not is_played
            if step < 5:
                assert 0 <= found.action[k, step] < 9
                assert not is_played or found.action[k, step] == part.games.action[row, ply + step]
                is_last = ply + step == part.length[row] - 1
                assert found.reward[k, step] == (part.result[row] if is_last else 0)
            if is_played:
                assert np.array_equal(found.policy[k, step], part.games.policy[row, ply + step].astype(np.float32))
            else:
                assert not found.policy[k, step].any()
    assert n_past > 50
    assert (found.weight == 1).all()


def test_priorities_draw_large_errors_more_often_and_weigh_them_less():
    method = MuZeroMethod(priority=1.0)
    part = remember(VECTOR, random_games(3, 1), method)
    places = np.nonzero(part.games.action != NONE)
    error = np.abs(part.games.value[places] - part.target[places]) + LEAST_ERROR
    n = 50_000
    found = draw([part], n, method, np.random.default_rng(2))
    key = {value: k for k, value in enumerate(part.target[places].tolist())}
    number = np.array([key[value] for value in found.value[:, 0].tolist()])
    is_unique = np.bincount([key[value] for value in part.target[places].tolist()], minlength=len(error)) == 1
    counts = np.bincount(number, minlength=len(error))
    expected = n * error / error.sum()
    assert is_unique.sum() > 5
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected))[is_unique].all()
    # Weighted counts are alike, so that the mean gradient is that of a uniform draw.
    weighted = np.bincount(number, found.weight, len(error))[is_unique]
    assert weighted == pytest.approx(weighted.mean(), rel=0.2)
    assert found.weight.max() <= 1


def test_games_that_are_none_are_refused():
    games = random_games(3, 1)
    games.action[0, 1] = games.action[0, 0]
    games.action[0, 2:] = NONE
    with pytest.raises(LearnError, match=r"^action: an action is illegal$"):
        remember(VECTOR, games, MuZeroMethod())

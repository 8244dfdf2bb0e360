from __future__ import annotations

import numpy as np
import pytest

from bench.compiled_play import compiled_play, tables_of
from punish_fast.games.registry import make_game, vectorise
from punish_fast.learn.episodes import NONE
from punish_fast.learn.muzero.method import MuZeroMethod
from punish_fast.learn.muzero.replay import remember
from punish_fast.learn.muzero.search import plan_of, shape_of
from punish_fast.learn.muzero.self_play import play_searched

pytestmark = pytest.mark.usefixtures("fast_compilation")

METHOD = MuZeroMethod(width=8, simulations=4, games=32, epsilon=0.0, max_plies=9)


@pytest.fixture(scope="module")
def vector():
    return vectorise(make_game("tictactoe", {}))


@pytest.fixture(scope="module")
def play(vector, fast_compilation):  # noqa: ARG001
    return compiled_play(plan_of(vector, METHOD), vector.game, 32, 9)


@pytest.fixture(scope="module")
def weights(vector):
    return 3 * shape_of(vector, METHOD).first_weights(np.random.default_rng(1))


def test_tables_are_the_rules_of_all_positions(vector):
    tables = tables_of(vector.game)
    assert tables["after"].shape == (5478, 9)
    assert tables["is_over"].sum() == 958
    assert tables["legal"].sum() == 16167
    assert not tables["legal"][tables["is_over"]].any()


def test_games_without_noise_are_those_of_the_package(vector, play, weights):
    inside = play(weights, 1, 0.0)
    outside = play_searched(plan_of(vector, METHOD), vector, weights, METHOD, np.random.default_rng(1))
    for one, other in zip(inside, outside, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one.astype(float), other.astype(float), atol=1e-3)


def test_games_are_legal_and_differ_by_seed(vector, play, weights):
    one, again, other = (play(weights, seed, 0.7) for seed in (1, 1, 2))
    assert np.array_equal(one.action, again.action)
    assert not np.array_equal(one.action, other.action)
    remembered = remember(vector, one, METHOD)
    assert remembered.is_over.all()
    is_move = one.action != NONE
    assert 0.4 < one.is_random[is_move].mean() < 0.7
    np.testing.assert_allclose(one.policy.sum(axis=2), is_move, atol=5e-3)

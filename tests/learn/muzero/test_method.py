"""Hyperparameters of MuZero, and games that it refuses."""

from __future__ import annotations

import pytest

from punish_fast.games.learn.hyperparameters import LearnError
from punish_fast.games.learn.muzero.method import MuZeroMethod
from punish_fast.games.registry import make_game, vectorise


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"model": "guessed"}, r"model: 'guessed' is not allowed, it must be one of learned, rules"),
        ({"search": "luck"}, r"search: 'luck' is not allowed, it must be one of gumbel, puct"),
        ({"simulations": 0}, r"simulations: 0 is not allowed, it must be a whole number from 1 to 1000"),
        ({"trace": 1.5}, r"trace: 1.5 is not allowed, it must be a number from 0 to 1"),
        ({"filters": (0,)}, r"filters: \(0,\) is not allowed, it must be up to 8 numbers from 1 to 512"),
    ],
)
def test_what_is_out_of_range_is_refused(given, text):
    with pytest.raises(LearnError, match=f"^{text}$"):
        MuZeroMethod(**given)


def test_rules_need_no_unrolled_actions():
    assert (MuZeroMethod(unroll=7).n_unrolled, MuZeroMethod(unroll=7, model="rules").n_unrolled) == (7, 0)
    assert "unrolled 7 actions" in str(MuZeroMethod(unroll=7))
    assert "the rules as model" in str(MuZeroMethod(model="rules"))


def test_large_boards_have_filters_and_games_their_own_defaults():
    methods = {
        name: MuZeroMethod.for_game(vectorise(make_game(name, {}))) for name in ("tictactoe", "connect4", "tapnswap")
    }
    assert [bool(method.filters) for method in methods.values()] == [False, True, False]
    assert methods["connect4"].opening > 0
    assert MuZeroMethod.for_game(vectorise(make_game("connect4", {})), opening=3, filters=()).opening == 3


@pytest.mark.parametrize("name", ["incan-gold", "gwent"])
def test_games_with_chance_are_refused(name):
    with pytest.raises(LearnError, match=rf"^muzero: {name} is not a zero-sum game of two players without chance$"):
        MuZeroMethod().shape_for(vectorise(make_game(name, {})))


def test_filters_need_places():
    with pytest.raises(LearnError, match=r"^filters: \(8,\) are impossible, the features of tapnswap have no places$"):
        MuZeroMethod(filters=(8,)).shape_for(vectorise(make_game("tapnswap", {})))

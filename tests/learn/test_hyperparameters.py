"""Hyperparameters: what is refused, and texts of `--set`."""

import json
from dataclasses import asdict

import pytest

from punish_fast.cli.frame.settings import changes_of
from punish_fast.games.gwent.deck_search import SearchMethod
from punish_fast.games.learn.dqn import DqnMethod
from punish_fast.games.learn.hyperparameters import LearnError
from punish_fast.games.learn.muzero.method import MuZeroMethod
from punish_fast.games.learn.qlearning import Hyperparameters, hyperparameters
from punish_fast.games.registry import make_game, vectorise


@pytest.mark.parametrize("method", [Hyperparameters, DqnMethod, MuZeroMethod, SearchMethod])
def test_a_method_follows_from_its_mapping_and_from_texts(method):
    mapping = json.loads(json.dumps(asdict(method())))
    assert method.of(mapping) == method()
    texts = [f"{name}={','.join(map(str, v)) or 'none' if isinstance(v, list) else v}" for name, v in mapping.items()]
    assert method(**changes_of(method, texts)) == method()
    for wrong in ([], None, mapping | {"more": 1}, {"games": 3}):
        with pytest.raises(LearnError, match=r"^method: .* is not allowed; it must have "):
            method.of(wrong)


def test_wrong_values_are_refused():
    for wrong, text in (
        ({"target": "x"}, "target: 'x' is not allowed; it must be one of mc, td"),
        ({"hidden": (0,)}, r"hidden: \(0,\) is not allowed; it must be up to 8 numbers from 1 to 4096"),
        ({"filters": (1,) * 9}, "filters: .* is not allowed; it must be up to 8 numbers from 1 to 512"),
        ({"epsilon": 1.5}, "epsilon: 1.5 is not allowed; it must be a number from 0 to 1"),
        ({"games": True}, "games: True is not allowed; it must be a whole number from 1 to 16384"),
        ({"steps": 2.5}, "steps: 2.5 is not allowed; it must be a whole number from 0"),
        ({"rate": float("nan")}, "rate: nan is not allowed"),
    ):
        with pytest.raises(LearnError, match=f"^{text}"):
            DqnMethod(**wrong)


def test_defaults_depend_on_the_scheme_the_model_and_the_game():
    assert hyperparameters(scheme="author") == Hyperparameters("author", 0.5, None, 1.0)
    assert hyperparameters(scheme="author", rate=0.5).rate == 0.5
    assert changes_of(Hyperparameters, ["rate=none"]) == {"rate": None}
    assert (MuZeroMethod(unroll=7).n_unrolled, MuZeroMethod(unroll=7, model="rules").n_unrolled) == (7, 0)
    methods = {
        name: MuZeroMethod.for_game(vectorise(make_game(name, {}))) for name in ("tictactoe", "connect4", "tapnswap")
    }
    assert [bool(method.filters) for method in methods.values()] == [False, True, False]
    assert methods["connect4"].opening > 0
    assert MuZeroMethod.for_game(vectorise(make_game("connect4", {})), opening=3, filters=()).opening == 3


def test_games_with_chance_and_filters_without_places_are_refused():
    for name in ("incan-gold", "gwent"):
        message = rf"^muzero: {name} is not a zero-sum game of two players without chance$"
        with pytest.raises(LearnError, match=message):
            MuZeroMethod().shape_for(vectorise(make_game(name, {})))
    with pytest.raises(LearnError, match=r"^filters: \(8,\) are impossible; the features of tapnswap are not planes$"):
        MuZeroMethod(filters=(8,)).shape_for(vectorise(make_game("tapnswap", {})))

"""Hyperparameters: what is refused, and texts of `--set`."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from punish_fast.games.gwent.deck_search import SearchMethod
from punish_fast.games.learn.dqn import DqnMethod
from punish_fast.games.learn.hyperparameters import LearnError
from punish_fast.games.learn.muzero.method import MuZeroMethod
from punish_fast.games.learn.qlearning import Hyperparameters, hyperparameters


@pytest.mark.parametrize("method", [Hyperparameters, DqnMethod, MuZeroMethod, SearchMethod])
def test_a_method_follows_from_its_mapping_and_from_texts(method):
    mapping = json.loads(json.dumps(asdict(method())))
    assert method.of(mapping) == method()
    texts = [f"{name}={','.join(map(str, v)) or 'none' if isinstance(v, list) else v}" for name, v in mapping.items()]
    assert method(**method.parse(texts)) == method()
    for wrong in ([], None, mapping | {"more": 1}, {"games": 3}):
        with pytest.raises(LearnError, match=r"^method: .* is not allowed, it must have "):
            method.of(wrong)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("epsilon=x", "epsilon: 'x' is not allowed, it must be a number from 0 to 1"),
        ("games=1.5", "games: '1.5' is not allowed, it must be a whole number from 1 to 16384"),
        ("hidden=3,x", "hidden: '3,x' is not allowed, it must be up to 8 numbers from 1 to 4096"),
        ("beta=1", "set: 'beta' is unknown, allowed are target, illegal, "),
    ],
)
def test_wrong_texts_are_refused(text, problem):
    with pytest.raises(LearnError, match=f"^{problem}"):
        DqnMethod.parse([text])


def test_the_author_has_defaults_of_his_own():
    assert hyperparameters(scheme="author") == Hyperparameters("author", 0.5, None, 1.0)
    assert hyperparameters(scheme="author", rate=0.5).rate == 0.5
    assert Hyperparameters.parse(["rate=none"]) == {"rate": None}

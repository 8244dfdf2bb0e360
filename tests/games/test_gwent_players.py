"""Players of many games of Gwent Lite at once."""

from __future__ import annotations

import random

import numpy as np
import pytest

from punish_fast.games import _vector_gwent, gwent_rule_of_thumb
from punish_fast.games.contract import CHANCE
from punish_fast.games.gwent import Gwent, GwentVariant
from punish_fast.games.gwent_players import PLAYERS
from punish_fast.games.gwent_rule_of_thumb import rule_of_thumb
from punish_fast.games.vector_gwent import VectorGwent, words_of


@pytest.mark.parametrize(
    "variant", [GwentVariant(), GwentVariant("random"), GwentVariant("1 1 2 5 / 1 2 3 3", 2, 1, 4)], ids=str
)
def test_the_rule_of_thumb_is_that_of_single_states(variant):
    game, generator, states = Gwent(variant), random.Random(4), []
    for _ in range(20):
        state = game.initial()
        while not game.is_terminal(state):
            if game.player(state) != CHANCE:
                states.append(state)
            state = game.apply(state, generator.choice(game.actions(state)))
    words = np.stack([words_of(state) for state in states])
    legal = VectorGwent(game).legal(words)
    actions = PLAYERS["rule-of-thumb"](words, legal, np.random.default_rng(1))
    assert actions.tolist() == [rule_of_thumb(state) for state in states]


def test_the_rule_is_the_same_in_every_place():
    assert _vector_gwent.LARGEST_DEFICIT == gwent_rule_of_thumb.LARGEST_DEFICIT

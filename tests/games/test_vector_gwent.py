"""Many games of Gwent Lite at once against games one by one."""

from __future__ import annotations

import numpy as np
import pytest

from games.gwent_twin import features
from games.laws import check_vector_game
from punish_fast.games.contract import CHANCE
from punish_fast.games.gwent.decks import decks_text
from punish_fast.games.gwent.game import Gwent, GwentVariant
from punish_fast.games.gwent.state import state_of_words, words_of
from punish_fast.games.gwent.vector import VectorGwent
from punish_fast.games.registry import make_game, vectorise

ONES, FEW = (1,) * 100, (*(1,) * 20, 2, 3, 30, 45)
VARIANTS = {
    "default": GwentVariant(),
    "random": GwentVariant("random"),
    "more": GwentVariant("random", hand_size=4, draws=2, min_cards=40),
    "odd": GwentVariant(decks_text([ONES, FEW]), min_cards=24),
    "small": GwentVariant("1 1 2 5 / 1 2 50 47", hand_size=2, draws=1, min_cards=4),
    "without draws": GwentVariant("1 2 3 / 1 2 3", hand_size=3, draws=0, min_cards=3),
    "one": GwentVariant("1 / 1", hand_size=1, draws=1, min_cards=1),
}


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_many_at_once_are_the_same_as_one_by_one(variant):
    assert check_vector_game(VectorGwent(Gwent(variant)), 16) > 16


@pytest.mark.parametrize("name", ["default", "random", "odd"])
def test_words_are_those_of_the_state(name):
    """Games with the probabilities that chance has, so random decks are usual ones."""
    game, generator = Gwent(VARIANTS[name]), np.random.default_rng(3)
    vector = VectorGwent(game)
    for _ in range(4):
        single, states = game.initial(), vector.initial(1)
        while not game.is_terminal(single):
            actions = game.actions(single)
            action = int(generator.choice(actions, p=game.probabilities(single) or None))
            single, states = game.apply(single, action), vector.step(states, np.array([action]))[0]
            words = words_of(single)
            assert np.array_equal(states[0], words)
            assert state_of_words(words) == single
            if game.player(single) != CHANCE:
                assert np.array_equal(game.features(single), np.array(features(single), dtype=np.float32))


def test_nothing_is_done_with_no_states():
    vector = VectorGwent(Gwent())
    after, returns, ended = vector.step(vector.initial(0), np.zeros(0, dtype=np.int64))
    assert (after.shape, returns.shape, ended.shape) == ((0, 13), (0, 2), (0,))
    assert (vector.features(after).shape, vector.probabilities(after).shape) == ((0, 100), (0, 77))


def test_actions_may_have_any_integer_type_and_states_any_order():
    vector = vectorise(make_game("gwent", {}))
    states = np.asfortranarray(vector.initial(2))
    for kind in (np.int8, np.int32, np.uint64):
        after, returns, ended = vector.step(states, np.array([8, 1], dtype=kind))
        assert vector.player(after).tolist() == [CHANCE, CHANCE]
        assert vector.probabilities(after)[:, 8].tolist() == [0, 1 / 24]
        assert not returns.any()
        assert not ended.any()

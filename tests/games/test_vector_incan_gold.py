"""Many games of Incan Gold at once."""

from __future__ import annotations

import numpy as np
import pytest

from games.incan_gold_twin import features
from games.laws import check_vector_game
from punish_fast.games.contract import CHANCE
from punish_fast.games.incan_gold.game import ARTIFACT, CARDS, LEAVE, STAY, IncanGold, IncanGoldVariant, words_of
from punish_fast.games.incan_gold.vector import VectorIncanGold
from punish_fast.games.registry import vectorise

VECTORS = VectorIncanGold(IncanGold())


def states_after(vector, actions):
    """Ten equal games after the same actions, with the last returns and whether the games are over."""
    states, returns, ended = vector.initial(10), None, None
    for action in actions:
        states, returns, ended = vector.step(states, np.full(10, action))
    return states, returns, ended


@pytest.mark.parametrize("value", ["drawn", "taken"])
def test_many_at_once_are_the_same_as_one_by_one(value):
    assert check_vector_game(VectorIncanGold(IncanGold(IncanGoldVariant(value))), 16) > 400


@pytest.mark.parametrize("value", ["drawn", "taken"])
def test_long_rounds_are_the_same_too(value):
    """Rounds that hazards end; the features are those that a list of numbers has."""
    game, generator = IncanGold(IncanGoldVariant(value)), np.random.default_rng(2)
    vector = VectorIncanGold(game)
    for _ in range(12):
        single, states = game.initial(), vector.initial(1)
        while not game.is_terminal(single):
            if game.player(single) != CHANCE:
                assert np.array_equal(game.features(single), np.array(features(game, single), dtype=np.float32))
            shares = game.probabilities(single) or [0.1, 0.9]
            action = int(generator.choice(game.actions(single), p=shares))
            single = game.apply(single, action)
            states, returns, ended = vector.step(states, np.array([action]))
            assert np.array_equal(words_of(single), states[0])
            assert vector.player(states)[0] == game.player(single)
        assert ended.all()
        assert returns.tolist() == [list(game.returns(single))]


@pytest.mark.parametrize("value", ["drawn", "taken"])
def test_artifacts_have_the_value_of_the_variant(value):
    """All five artifacts in one round: four rounds end before one is drawn."""
    game = IncanGold(IncanGoldVariant(value))
    vector = VectorIncanGold(game)
    actions = [0, LEAVE, LEAVE, LEAVE] * 4
    for _ in range(5):
        actions += [ARTIFACT, STAY, STAY, STAY]
    actions += [1, STAY, LEAVE, STAY, 2, LEAVE, LEAVE]
    single, states = game.initial(), vector.initial(10)
    for action in actions:
        single = game.apply(single, action)
        states, returns, _ = vector.step(states, np.full(10, action))
        if single.is_drawing:
            continue
        assert np.array_equal(vector.features(states)[0], game.features(single))
    assert game.is_terminal(single)
    assert returns.tolist() == [list(game.returns(single))] * 10
    # The second player leaves alone with the treasure 2; the others have one coin of the treasure 3.
    assert single.totals == (1, 2 + (25 if value == "drawn" else 35), 1)


def test_answers_of_others_cannot_be_seen():
    generator = np.random.default_rng(4)
    states, n_compared = VECTORS.initial(300), 0
    while len(states):
        player = VECTORS.player(states)
        kinds = VECTORS.probabilities(states).cumsum(axis=1)
        drawn = (kinds > generator.random(len(states))[:, np.newaxis]).argmax(axis=1)
        asked = states[player != CHANCE]
        if len(asked):
            both = [VECTORS.step(asked, np.full(len(asked), answer))[0] for answer in (LEAVE, STAY)]
            # Those who are not the last to be asked.
            waits = (VECTORS.player(both[0]) > VECTORS.player(asked)) & (VECTORS.player(both[1]) != CHANCE)
            assert np.array_equal(*(VECTORS.features(each[waits]) for each in both))
            assert np.array_equal(*(VECTORS.player(each[waits]) for each in both))
            n_compared += int(waits.sum())
        stays = generator.random(len(states)) < 0.8
        states, _, ended = VECTORS.step(states, np.where(player == CHANCE, drawn, stays))
        states = states[~ended]
    assert n_compared > 1000


def test_chance_has_the_shares_of_the_deck_and_players_have_none():
    states, _, _ = states_after(VECTORS, [])
    shares = VECTORS.probabilities(states)
    assert shares.shape == (10, len(CARDS))
    assert shares.sum(axis=1) == pytest.approx(np.ones(10))
    assert not VECTORS.legal(states).any()
    states, _, _ = states_after(VECTORS, [0])
    assert not VECTORS.probabilities(states).any()
    assert VECTORS.legal(states).all()


def test_the_registry_knows_the_kernels():
    assert isinstance(vectorise(IncanGold()), VectorIncanGold)

"""Wrong use of vector games, whose kernels check no index."""

from __future__ import annotations

import numpy as np
import pytest
from numba import config

from punish_fast.games.contract import CHANCE, GameError
from punish_fast.games.enumeration.vector_games import PackedGame, VectorPositions
from punish_fast.games.registry import GAMES, make_game, vector_game

VECTORS = {name: vector_game(make_game(name, {"limit": 3} if name == "tapnswap" else {})) for name in GAMES}
PACKED = [vector for vector in VECTORS.values() if isinstance(vector, PackedGame)]


def legal_in(vector, states):
    """Actions that are legal in each state, bool ``[n, n_actions]``."""
    legal = np.zeros((len(states), vector.game.n_actions), bool)
    legal[:, : vector.n_moves] = vector.legal(states)
    for k in np.flatnonzero(vector.player(states) == CHANCE):
        legal[k] = vector.probabilities(states[k : k + 1])[0] > 0
    return legal


@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
def test_actions_that_are_illegal_are_refused(vector):
    states, over = vector.initial(3), np.zeros(3, bool)
    for _ in range(60):
        legal = legal_in(vector, states)
        actions = legal.argmax(axis=1)
        for action in (-1, -(2**40), 2**40, vector.game.n_actions, *np.flatnonzero(~legal[0])):
            with pytest.raises(GameError, match=f"actions: {action} is illegal in state 0"):
                vector.step(states, np.array([action, *actions[1:]]))
        for wrong in (actions[:-1], actions.astype(float), actions[:, np.newaxis], None):
            with pytest.raises(GameError, match="actions: must be 3 integers"):
                vector.step(states, wrong)
        assert [len(each) for each in vector.step(states[:0], [])] == [0, 0, 0]
        if over[0]:
            break
        states, _, over = vector.step(states, actions)


@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
def test_arrays_that_are_not_states_are_refused(vector):
    states = vector.initial(4)
    for wrong in (states[:, :-1], states[0], states.astype(float), np.hstack([states, states]), None):
        for call in (vector.player, vector.legal, vector.features, lambda wrong: vector.step(wrong, np.zeros(4, int))):
            with pytest.raises((GameError, TypeError), match=r"states: must be an array uint64 \[n, |has no len"):
                call(wrong)


@pytest.mark.parametrize("vector", [each for each in VECTORS.values() if isinstance(each, VectorPositions)])
def test_numbers_of_no_state_are_refused(vector):
    states = vector.initial(2)
    for wrong in (len(vector.positions), 10**9, 2**63):
        states[1] = wrong
        for call in (vector.player, vector.legal, vector.features, lambda wrong: vector.step(wrong, np.zeros(2, int))):
            with pytest.raises(GameError, match=f"states: {wrong} is not from 0 to {len(vector.positions) - 1}"):
                call(states)
    with pytest.raises(GameError, match="states: -1 is not from 0"):
        vector.step(np.array([[-1]]), [0])


@pytest.mark.skipif(config.DISABLE_JIT, reason="NumPy raises OverflowError for such states")
@pytest.mark.parametrize("vector", PACKED)
def test_random_words_as_states_do_not_harm_the_process(vector):
    generator = np.random.default_rng(1)
    for n in (1, 7, 300):
        words = generator.integers(0, 2**63, (n, vector.n_words), dtype=np.uint64)
        found = vector.player(words), vector.legal(words), vector.features(words)
        assert [each.shape for each in found] == [(n,), (n, vector.n_moves), (n, vector.game.n_features)]
        vector.advance(words, legal_in(vector, words).argmax(axis=1))

"""Many states at once over enumerated positions."""

from __future__ import annotations

import numpy as np
import pytest

from games.laws import check_vector_game
from games.small import Corridor, Nim
from punish_fast.games.contract import GameError
from punish_fast.games.learn.movers import random_mover
from punish_fast.games.registry import GAMES, make_game, vectorise
from punish_fast.games.solve.vector_games import vectorise_positions
from punish_fast.games.tapnswap import TapnSwap

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("name", [name for name, entry in GAMES.items() if "train" in entry.verbs])
def test_games_of_the_registry_are_the_same_many_at_once(name):
    vector = vectorise(make_game(name, {}))
    assert vector.game.name == name
    assert check_vector_game(vector, 6) > 6


def test_turns_may_be_kept():
    vector = vectorise_positions(Corridor({5: 1.0}, keeps=True))
    assert check_vector_game(vector, 8) > 8
    after, _, _ = vector.step(vector.initial(1), np.array([0]))
    assert vector.player(after) == 0


def test_states_are_the_numbers_of_positions():
    vector = vectorise_positions(TapnSwap())
    positions = vector.positions
    states = vector.initial(2)
    after, _, _ = vector.step(states, positions.action[[0, positions.rows(0)[-1]]])
    assert states.tolist() == [[0], [0]]
    assert after[:, 0].tolist() == positions.after[[0, positions.rows(0)[-1]]].tolist()
    assert [positions.states[number].player for number in after[:, 0].tolist()] == vector.player(after).tolist()


def test_games_that_cannot_be_enumerated_are_refused():
    with pytest.raises(GameError, match="games with chance states cannot be enumerated"):
        vectorise_positions(Nim(dice=True))


def test_all_legal_actions_are_as_likely():
    legal = np.tile([True, False, True, True], (4000, 1))
    found = random_mover(np.zeros((4000, 1), dtype=np.uint64), legal, np.random.default_rng(5))
    assert np.bincount(found, minlength=4) / 4000 == pytest.approx([1 / 3, 0, 1 / 3, 1 / 3], abs=0.03)

"""The shared data of games."""

from __future__ import annotations

import numpy as np
import pytest
from policies import mixed

from punish_fast.duel.graph import Graph
from punish_fast.duel.simulator import Simulator
from punish_fast.play.punish.game_data import GameData
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace


def test_agents_have_the_thresholds_of_the_simulator():
    space = StateSpace(PRESETS["tiny"]._replace(redeal="reshuffle"))
    policy = mixed(space, 2)
    assert np.array_equal(GameData(space).thresholds(policy), Simulator(Graph(space)).thresholds(policy))


@pytest.mark.parametrize("information", ["view", "memory"])
def test_a_table_knows_its_decks(information):
    table = GameData(StateSpace(PRESETS["tiny"], information))
    n_decks = len(table.draws.copies)
    assert table.until.shape[0] == n_decks
    last = np.take_along_axis(table.until, np.maximum(table.draws.n - 1, 0)[..., None], axis=2)[..., 0]
    assert last[table.draws.n > 0] == pytest.approx(1)

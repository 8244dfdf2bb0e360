from __future__ import annotations

import pytest
from playing import RULES

from punish_fast.play.game_data import GameData
from punish_fast.punish.states.space import StateSpace


@pytest.fixture(scope="session")
def space():
    """The states of the tiny game with the true redeal."""
    return StateSpace(RULES)


@pytest.fixture(scope="session")
def table(space):
    """What sessions of that game share."""
    return GameData(space)

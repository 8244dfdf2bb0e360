from __future__ import annotations

import pytest

from cli.made_up_games import random_games, write_games
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace


@pytest.fixture(scope="session")
def space():
    return StateSpace(PRESETS["tiny"])


@pytest.fixture
def games(folder, space):
    """A database of made-up games of the tiny game."""
    return write_games(folder / "games.db", random_games(space, 1))

"""What is said of the built-in agents."""

from __future__ import annotations

from punish_fast.arena.descriptions import DESCRIPTIONS
from punish_fast.arena.players import NAMES


def test_every_built_in_agent_is_described():
    assert list(DESCRIPTIONS) == list(NAMES)
    assert all(DESCRIPTIONS.values())

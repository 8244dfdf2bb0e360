"""What files note of enemies, in words."""

from __future__ import annotations

from typing import Any


def enemy_text(enemy: dict[str, Any]) -> str:
    """What a file notes of the enemy, in words."""
    temperature = f" at temperature {enemy['temperature']:g}" if "temperature" in enemy else ""
    unknown = "an unknown enemy" if enemy["kind"] == "unknown" else enemy["kind"]
    return f"{enemy.get('file', enemy.get('name', unknown))}{temperature}"

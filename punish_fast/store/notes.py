"""Descriptions of the enemies recorded in files."""

from __future__ import annotations

from typing import Any


def enemy_text(enemy: dict[str, Any]) -> str:
    """Describe the enemy recorded in a file."""
    temperature = f" at temperature {enemy['temperature']:g}" if "temperature" in enemy else ""
    unknown = "an unknown enemy" if enemy["kind"] == "unknown" else enemy["kind"]
    return f"{enemy.get('file', enemy.get('name', unknown))}{temperature}"

"""Checks of untrusted values from JSON files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_MOST_CHARACTERS = 60


def read_object(path: Path) -> dict[str, Any] | None:
    """Return the JSON object in a file, or None if the content is anything else; raise OSError if unreadable."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def is_whole(value: object, low: int, high: int) -> bool:
    """Return True if a value is an integer from ``low`` to ``high``."""
    return type(value) is int and low <= value <= high


def is_number(value: object, low: float, high: float) -> bool:
    """Return True if a value is a number from ``low`` to ``high``, both finite."""
    return type(value) in (int, float) and low <= value <= high  # type: ignore[operator]


def brief(value: object) -> str:
    """Format a value for a message, in ASCII and truncated if long."""
    text = ascii(value)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."

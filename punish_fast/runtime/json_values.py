"""Values of JSON files, which may hold anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_MOST_CHARACTERS = 60


def read_object(path: Path) -> dict[str, Any] | None:
    """The JSON object that a file holds; None if it holds anything else.

    Raises:
        OSError: it cannot be read.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def is_whole(value: object, low: int, high: int) -> bool:
    """Whether a value is a whole number from ``low`` to ``high``."""
    return type(value) is int and low <= value <= high


def is_number(value: object, low: float, high: float) -> bool:
    """Whether a value is a number from ``low`` to ``high``, both finite."""
    return type(value) in (int, float) and low <= value <= high  # type: ignore[operator]


def brief(value: object) -> str:
    """A value in a message, printable and short."""
    text = ascii(value)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."

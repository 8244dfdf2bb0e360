"""Checks of untrusted values from JSON files."""

_MOST_CHARACTERS = 60


def is_whole(value: object, low: int, high: int) -> bool:
    """Return True if a value is an integer from ``low`` to ``high``."""
    return type(value) is int and low <= value <= high


def is_number(value: object, low: float, high: float) -> bool:
    """Return True if a value is a finite number from ``low`` to ``high``."""
    return type(value) in (int, float) and low <= value <= high  # type: ignore[operator]


def brief(value: object) -> str:
    """Format a value in ASCII for a message; texts of more than 60 characters are truncated."""
    text = ascii(value)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."

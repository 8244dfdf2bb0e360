"""Values of the fields of a log, each checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from punish_fast.records.json_entries import EntryError
from punish_fast.records.names import NAMES, PlayerNameError, checked_name, clean_name, is_name
from punish_fast.records.schema import LAST_ID, LAST_SECOND, LAST_STATE, MAX_TEMPERATURE
from punish_fast.runtime.json_values import brief


def require_keys(where: str, entry: Any, keys: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Any]:
    """Return an entry that is an object with these keys, of which some are optional."""
    if isinstance(entry, EntryError):
        raise EntryError(f"{where}: {entry}")
    if not isinstance(entry, dict):
        raise EntryError(f"{where} is {brief(entry)}, allowed is an object of {', '.join(keys)}")
    for key in keys:
        if key not in entry and key not in optional:
            raise EntryError(f"{where} has no {key}")
    for key in entry:
        if key not in keys and key not in optional:
            raise EntryError(f"{where} has an unknown key {brief(key)}")
    return entry


def whole(where: str, value: Any, low: int, high: int) -> int:
    """Return a whole number in a range."""
    if type(value) is not int or not low <= value <= high:
        raise EntryError(f"{where} is {brief(value)}, allowed are whole numbers from {low} to {high}")
    return value


def seconds(where: str, value: Any) -> int:
    """Return a Unix second."""
    if type(value) is int and LAST_SECOND < value <= 1000 * LAST_SECOND:
        raise EntryError(f"{where} is {value}, which is in milliseconds, allowed are seconds")
    return whole(where, value, 0, LAST_SECOND)


def name(where: str, value: Any) -> str:
    """Return the name of a player as it is stored."""
    try:
        return checked_name(value if isinstance(value, str) else "")
    except PlayerNameError:
        raise EntryError(f"{where} is {brief(value)}, allowed are {NAMES}") from None


def state(where: str, value: Any) -> int:
    """Return a decimal code, given as text or as a number."""
    is_text = isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 18
    if not is_text and not (type(value) is int and 0 <= value <= LAST_STATE):
        raise EntryError(f"{where} is {brief(value)}, allowed are 18 digits")
    return int(value)


def flag(where: str, value: Any) -> bool:
    """Return True or False."""
    if type(value) is not bool:
        raise EntryError(f"{where} is {brief(value)}, allowed are true and false")
    return value


def temperature(where: str, parameters: Any) -> float | None:
    """Return the temperature in a bot's parameters; None if it is unknown."""
    value = require_keys(where, parameters, ("temperature",))["temperature"]
    if value is None:
        return None
    if type(value) not in (int, float) or not 0 <= value <= MAX_TEMPERATURE:
        raise EntryError(f"{where}: temperature is {brief(value)}, allowed are numbers from 0, or null")
    return float(value)


def identity(game: Any, *names: Any) -> tuple[int | None, tuple[str, ...]]:
    """Return a game's id, or None if it is invalid, and the valid names of its players."""
    cleaned = [clean_name(each) for each in names if isinstance(each, str)]
    is_valid = type(game) is int and 0 <= game <= LAST_ID
    return game if is_valid else None, tuple(each for each in cleaned if is_name(each))

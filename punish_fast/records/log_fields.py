"""Validation of the fields of a log, and detection of state codes that another program has rounded.

Functions that validate a field raise `EntryError` if the field is invalid. The message begins with ``where``.
"""

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from punish_fast.punish.codes import CodedStates, indices_of
from punish_fast.records.json_entries import EntryError
from punish_fast.records.names import NAMES, PlayerNameError, checked_name, clean_name, is_name
from punish_fast.records.schema import LAST_ID, LAST_SECOND, LAST_STATE, MAX_TEMPERATURE
from punish_fast.runtime.errors import brief


def require_keys(where: str, entry: Any, keys: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Any]:
    """Return ``entry`` if it is an object with exactly these keys. Keys in ``optional`` may be missing."""
    if isinstance(entry, EntryError):
        raise EntryError(f"{where}: {entry}")
    if not isinstance(entry, dict):
        raise EntryError(f"{where} is {brief(entry)}; it must be an object of {', '.join(keys)}")
    for key in keys:
        if key not in entry and key not in optional:
            raise EntryError(f"{where} has no {key}")
    for key in entry:
        if key not in keys and key not in optional:
            raise EntryError(f"{where} has an unknown key {brief(key)}")
    return entry


def whole(where: str, value: Any, low: int, high: int) -> int:
    """Return ``value`` if it is an integer from ``low`` to ``high``."""
    if type(value) is not int or not low <= value <= high:
        raise EntryError(f"{where} is {brief(value)}; it must be a whole number from {low} to {high}")
    return value


def seconds(where: str, value: Any) -> int:
    """Return ``value`` if it is a Unix time in seconds."""
    if type(value) is int and LAST_SECOND < value <= 1000 * LAST_SECOND:
        raise EntryError(f"{where} is {value}, in milliseconds instead of seconds")
    return whole(where, value, 0, LAST_SECOND)


def name(where: str, value: Any) -> str:
    """Return the normalized name of a player."""
    try:
        return checked_name(value if isinstance(value, str) else "")
    except PlayerNameError:
        raise EntryError(f"{where} is {brief(value)}; use {NAMES}") from None


def state(where: str, value: Any) -> int:
    """Return the decimal code of a state, given as text or as a number."""
    is_text = isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 18
    if not is_text and not (type(value) is int and 0 <= value <= LAST_STATE):
        raise EntryError(f"{where} is {brief(value)}; it must be 18 digits")
    return int(value)


def flag(where: str, value: Any) -> bool:
    """Return ``value`` if it is a bool."""
    if type(value) is not bool:
        raise EntryError(f"{where} is {brief(value)}; it must be true or false")
    return value


def temperature(where: str, parameters: Any) -> float | None:
    """Return the temperature in a bot's parameters, or None if unknown."""
    value = require_keys(where, parameters, ("temperature",))["temperature"]
    if value is None:
        return None
    if type(value) not in (int, float) or not 0 <= value <= MAX_TEMPERATURE:
        raise EntryError(f"{where}: temperature is {brief(value)}; it must be a number of at least 0, or null")
    return float(value)


def game_and_names(game: Any, *names: Any) -> tuple[int | None, tuple[str, ...]]:
    """Return a game's id (None if invalid) and the normalized names of its players. Omit invalid names."""
    cleaned = [clean_name(each) for each in names if isinstance(each, str)]
    is_valid = type(game) is int and 0 <= game <= LAST_ID
    return game if is_valid else None, tuple(each for each in cleaned if is_name(each))


# State codes have 18 digits, but the distance between adjacent doubles of this size is 16 to 128.
# Many programs read all numbers in a JSON file as doubles.
# They write doubles in full, with 15 to 17 digits, or with the fewest digits that identify the double.
# A rounded code can be the code of another reachable state, so the game can look valid.
# However, rounding changes most codes. If a rounding leaves all codes of a log unchanged, the log was probably rounded.
class Rounding(NamedTuple):
    """Rounding of state codes by a program that stores codes as doubles."""

    apply: Callable[[int], int]
    reach: int  # maximum change of a code


ROUNDINGS = (
    Rounding(lambda code: int(float(code)), 64),
    Rounding(lambda code: int(Decimal(repr(float(code)))), 128),
    Rounding(lambda code: int(Decimal(f"{float(code):.17g}")), 69),
    Rounding(lambda code: int(Decimal(f"{float(code):.16g}")), 114),
    Rounding(lambda code: int(Decimal(f"{float(code):.15g}")), 564),
)


def roundings_of(codes: Iterable[int]) -> list[Rounding]:
    """Return the roundings that leave all codes unchanged, or an empty list if all codes are too small to round."""
    large = [code for code in codes if code > 2**53]
    return [rounding for rounding in ROUNDINGS if large and all(rounding.apply(code) == code for code in large)]


def explains(rounding: Rounding, space: CodedStates, codes: Sequence[int]) -> bool:
    """Return True if at least one code, and every unreachable code, can result from rounding another reachable code."""
    steps = np.arange(-rounding.reach, rounding.reach + 1, dtype=np.int64)
    near = np.add.outer(np.array(codes, dtype=np.int64), steps)
    reachable = indices_of(space, near.ravel()).reshape(near.shape) >= 0
    is_reachable = reachable[:, rounding.reach].copy()
    reachable[:, rounding.reach] = False
    may_be_rounded = np.array(
        [any(rounding.apply(int(other)) == code for other in near[k, reachable[k]]) for k, code in enumerate(codes)]
    )
    return bool(may_be_rounded.any() and may_be_rounded[~is_reachable].all())

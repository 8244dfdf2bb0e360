"""Reader of JSON files that may be truncated, damaged, or not JSON at all.

A file contains a list, a single object, or one object per line, in UTF-8, UTF-16 or UTF-32. Entries are decoded one by
one, so entries before a fault in the syntax are read. Integers are exact in any notation: ``2.0`` and ``2e0`` are read
as 2.
"""

import json
import re
from collections import Counter
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from punish_fast.runtime.errors import PunishFastError, brief

# Reasons in decoding errors if the input ends within a character.
_CUT_OFF = ("unexpected end of data", "truncated data")
# The rest of a truncated text, from a decoding error on: the beginning of a string, a number or a constant.
_UNFINISHED = re.compile(r'"(?:[^"\\]|\\.)*+\\?|[^\[\]{},:"]*', re.DOTALL)
_SPACE = re.compile(r"[ \t\n\r]*")


class EntryError(PunishFastError):
    """Raised for an invalid entry or a file that is not JSON. The message does not contain the file name."""


class Entries(NamedTuple):
    """Entries of a JSON file."""

    values: list[Any]  # decoded entries, with an `EntryError` in place of each object with a repeated key
    flaw: str  # reason why reading stopped; empty if the whole file was read


def read_entries(content: bytes) -> Entries:
    """Read the entries of a file; raise `EntryError` if there are none."""
    text, is_cut = _decode(content)
    if not text.strip():
        raise EntryError("is empty; it must be a JSON list")
    values: list[Any] = []
    flaw = "is cut off in the middle of a character" if is_cut else ""
    try:
        _read(text, values)
    except RecursionError:
        flaw = "is nested too deeply"
    except json.JSONDecodeError as error:
        flaw = f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        if text.lstrip().startswith(("[", "{")) and _UNFINISHED.fullmatch(text, error.pos):
            flaw = f"is cut off in entry {len(values) + 1} (line {error.lineno})"
    if flaw and not values:
        raise EntryError(flaw)
    return Entries(values, flaw)


def _decode(content: bytes) -> tuple[str, bool]:
    """Return the text of a file, and True if the file ends within a character (else False)."""
    encoding = json.detect_encoding(content)
    try:
        return content.decode(encoding), False
    except UnicodeDecodeError as error:
        if error.start > 0 and error.end == len(content) and error.reason in _CUT_OFF:
            return content[: error.start].decode(encoding), True
        name = "UTF-8" if encoding.startswith("utf-8") else encoding.upper()
        line = content.count(b"\n", 0, error.start) + 1
        raise EntryError(f"is not {name} at byte {error.start}, line {line}") from None


def _read(text: str, values: list[Any]) -> None:
    """Append the entries of a text to ``values``; raise `json.JSONDecodeError` at the first flaw."""
    place = _skip(text, 0)
    if not text.startswith("[", place):
        while place < len(text):
            place = _read_value(text, place, values)
        return
    place, following = _skip(text, place + 1), ","
    if text.startswith("]", place):
        following, place = "]", _skip(text, place + 1)
    while following == ",":
        end = _read_value(text, place, values)
        following, place = text[end : end + 1], _skip(text, end + 1)
        if following not in ("]", ","):
            raise json.JSONDecodeError("Expecting ',' or ']'", text, end)
    if place < len(text):
        raise json.JSONDecodeError("text after the list", text, place)


def _read_value(text: str, place: int, values: list[Any]) -> int:
    """Append the value at ``place`` to ``values``; return the index of the next character that is not a space."""
    value, end = _DECODER.raw_decode(text, place)
    values.append(value)
    return _skip(text, end)


def _skip(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    assert found is not None
    return found.end()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | EntryError:
    entry = dict(pairs)
    if len(entry) == len(pairs):
        return entry
    twice = next(name for name, n in Counter(name for name, _ in pairs).items() if n > 1)
    return EntryError(f"an object has the key {brief(twice)} twice")


def _number(text: str) -> int | float:
    """Parse a number with a decimal point or an exponent; integers below 10**19 are exact."""
    with suppress(InvalidOperation):
        number = Decimal(text)
        if number.adjusted() < 19 and number == number.to_integral_value():
            return int(number)
    return float(text)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=lambda text: int(text) if len(text) <= 20 else float(text),
    parse_float=_number,
)

"""Reader of JSON files that might be truncated, damaged, or not JSON.

A file contains a list, a single object, or one object per line, in UTF-8, UTF-16 or UTF-32. Entries are decoded
separately, so that a fault in one entry does not affect the others. Integers of up to 19 digits are exact in any
notation: ``2.0`` and ``2e0`` are read as 2.
"""

import json
import re
from collections import Counter
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from punish_fast.runtime.errors import PunishFastError, brief

_LONGEST_NUMBER = 4000
# Reasons of decoding errors if the input ends within a character.
_CUT_OFF = ("unexpected end of data", "truncated data")
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}"]', re.DOTALL)
_SPACE = re.compile(r"[ \t\n\r]*")


class EntryError(PunishFastError):
    """Raised for a damaged entry or a file that is not JSON. The message does not contain the file name."""


class Entries(NamedTuple):
    """Entries of a JSON file."""

    values: list[Any]  # decoded entries, with an `EntryError` in place of each damaged entry
    flaw: str  # reason why reading stopped (empty if the whole file was read)


def read_entries(content: bytes) -> Entries:
    """Read the entries of a file. Raise `EntryError` if the file is empty, not text, or damaged in its first entry."""
    text, is_cut = _decode(content)
    if not text.strip():
        raise EntryError("is empty; it must be a JSON list")
    entries = _Reader(text).read()
    if entries.flaw and not entries.values:
        raise EntryError(entries.flaw)
    return entries if entries.flaw or not is_cut else entries._replace(flaw="is cut off in the middle of a character")


def _decode(content: bytes) -> tuple[str, bool]:
    """Return the text of a file, and True if the file ends within a character."""
    encoding = json.detect_encoding(content)
    try:
        return content.decode(encoding), False
    except UnicodeDecodeError as error:
        if error.start > 0 and error.end == len(content) and error.reason in _CUT_OFF:
            return content[: error.start].decode(encoding), True
        name = "UTF-8" if encoding.startswith("utf-8") else encoding.upper()
        line = content.count(b"\n", 0, error.start) + 1
        raise EntryError(f"is not {name} at byte {error.start}, line {line}") from None


class _Reader:
    """Reader of the JSON entries in a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._values: list[Any] = []

    def read(self) -> Entries:
        place = self._skip(0)
        flaw = self._read_list(place + 1) if self._text.startswith("[", place) else self._read_sequence(place)
        return Entries(self._values, flaw)

    def _read_list(self, place: int) -> str:
        """Read a list from ``place``, after its ``[``. Return the flaw that stopped reading, or an empty string."""
        end = self._skip(place)
        following = "]" if self._text.startswith("]", end) else ","
        begin = end
        while following == ",":
            flaw, end = self._read_value(begin)
            if flaw:
                return flaw
            following, begin = self._text[end : end + 1], self._skip(end + 1)
        if following != "]":
            return self._flaw("Expecting ',' or ']'", end)
        rest = self._skip(end + 1)
        return "" if rest == len(self._text) else self._flaw("text after the list", rest)

    def _read_sequence(self, place: int) -> str:
        """Read consecutive values from ``place``. Return the flaw that stopped reading, or an empty string."""
        flaw = ""
        while place < len(self._text) and not flaw:
            flaw, place = self._read_value(place)
        return flaw

    def _read_value(self, place: int) -> tuple[str, int]:
        """Store the value at ``place``. Return the flaw that stopped reading (empty if none) and the next index."""
        try:
            value, end = _DECODER.raw_decode(self._text, place)
        except (json.JSONDecodeError, EntryError, RecursionError) as error:
            end = self._end_of(place)
            if isinstance(error, RecursionError):
                value = EntryError("is nested too deeply")
            elif isinstance(error, EntryError):
                value = error
            else:
                is_cut = end < 0 and self._text.startswith(("{", "["), place)
                value = EntryError(self._flaw(error.msg, error.pos, is_cut))
            if end < 0:
                return str(value), place
        self._values.append(value)
        return "", self._skip(end)

    def _end_of(self, place: int) -> int:
        """Return the end of the object or list at ``place`` by matching brackets, or -1 if the text ends earlier."""
        depth = 0
        if self._text.startswith(("{", "["), place):
            for token in _TOKEN.finditer(self._text, place):
                depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
                if token[0] == '"':
                    break
                if depth == 0:
                    return token.end()
        return -1

    def _skip(self, place: int) -> int:
        found = _SPACE.match(self._text, place)
        assert found is not None
        return found.end()

    def _flaw(self, message: str, place: int, is_cut: bool = False) -> str:
        """Return a description of the flaw at ``place``, including its line."""
        error = json.JSONDecodeError(message, self._text, place)
        if is_cut or place >= len(self._text):
            return f"is cut off in entry {len(self._values) + 1} (line {error.lineno})"
        return f"is not JSON: {message} at line {error.lineno}, column {error.colno}"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entry = dict(pairs)
    if len(entry) < len(pairs):
        twice = next(name for name, n in Counter(name for name, _ in pairs).items() if n > 1)
        raise EntryError(f"an object has the key {brief(twice)} twice")
    return entry


def _refuse_constant(text: str) -> None:
    raise EntryError(f"contains {text}, which is not JSON")


def _whole(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise EntryError("contains a number that is too large")
    return int(text)


def _number(text: str) -> int | float:
    """Parse a number with a decimal point or an exponent. Integers below 10**19 are exact."""
    with suppress(InvalidOperation):
        number = Decimal(text)
        if number.adjusted() < 19 and number == number.to_integral_value():
            return int(number)
    return float(text)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_refuse_constant, parse_int=_whole, parse_float=_number
)

"""Entries of a JSON file that may be cut off, partly damaged, or not JSON at all.

The file is a list, a single object, or one object per line, in UTF-8, UTF-16 or UTF-32. Entries are decoded one by
one, so that a fault in one of them does not affect the others. Numbers are exact in any notation: ``2.0`` and ``2e0``
are the whole number 2.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from punish_fast.runtime.json_values import brief

# First bytes of files that people take for logs.
_SIGNATURES = {
    b"\x1f\x8b": "a gzip file; unpack it first",
    b"PK\x03\x04": "a ZIP archive; unpack it first",
    b"BZh": "a bzip2 file; unpack it first",
    b"\xfd7zXZ": "an xz file; unpack it first",
    b"(\xb5/\xfd": "a Zstandard file; unpack it first",
    b"7z\xbc\xaf'\x1c": "a 7z archive; unpack it first",
    b"SQLite format 3\0": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"%PDF-": "a PDF file",
    b"\x89PNG": "a PNG image",
}
_LONGEST_NUMBER = 4000
# Reasons of decoders for bytes that end within a character.
_CUT_OFF = ("unexpected end of data", "truncated data")
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}"]', re.DOTALL)
_SPACE = re.compile(r"[ \t\n\r]*")


class EntryError(Exception):
    """A file that is not JSON, or a damaged entry; the message has no file name."""


class Entries(NamedTuple):
    """Values of the entries, an `EntryError` for each damaged one, and the reason why the file is not read to its end.

    The reason is empty if all of it is read.
    """

    values: list[Any]
    flaw: str


def read_entries(content: bytes) -> Entries:
    """Return the entries of a file.

    Raises:
        EntryError: If the file is not JSON, or no entry is complete; the message gives its kind.
    """
    text, is_cut = _decode(content)
    if not text.strip():
        raise EntryError("is empty, allowed is a JSON list")
    if text.lstrip().startswith("<"):
        raise EntryError("is HTML or XML, allowed is a JSON list")
    entries = _read_list(text) if text.lstrip().startswith("[") else _read_sequence(text)
    if entries.flaw and not entries.values:
        raise EntryError(entries.flaw)
    return entries if entries.flaw or not is_cut else entries._replace(flaw="is cut off in the middle of a character")


def _decode(content: bytes) -> tuple[str, bool]:
    """Return the text of a file, and True if it ends within a character."""
    for signature, kind in _SIGNATURES.items():
        if content.startswith(signature):
            raise EntryError(f"is {kind}")
    encoding = json.detect_encoding(content)
    try:
        return content.decode(encoding), False
    except UnicodeDecodeError as error:
        if error.start > 0 and error.end == len(content) and error.reason in _CUT_OFF:
            return content[: error.start].decode(encoding), True
        name = "UTF-8" if encoding.startswith("utf-8") else encoding.upper()
        line = content.count(b"\n", 0, error.start) + 1
        raise EntryError(f"is not {name} at byte {error.start}, line {line}") from None


def _read_list(text: str) -> Entries:
    values: list[Any] = []
    end = _skip(text, _skip(text, 0) + 1)
    following = "]" if text.startswith("]", end) else ","
    begin = end
    while following == ",":
        flaw, end = _read_value(text, begin, values)
        if flaw:
            return Entries(values, flaw)
        following, begin = text[end : end + 1], _skip(text, end + 1)
    if following != "]":
        return Entries(values, _flaw("Expecting ',' or ']'", text, end, len(values)))
    rest = _skip(text, end + 1)
    return Entries(values, "" if rest == len(text) else _flaw("text after the list", text, rest, 0))


def _read_sequence(text: str) -> Entries:
    """Read an object, or one object per line."""
    values: list[Any] = []
    place, flaw = _skip(text, 0), ""
    while place < len(text) and not flaw:
        flaw, place = _read_value(text, place, values)
    return Entries(values, flaw)


def _read_value(text: str, place: int, values: list[Any]) -> tuple[str, int]:
    """Append the value at `place`; return the flaw that ends the file, or an empty text, and the next place."""
    try:
        value, end = _DECODER.raw_decode(text, place)
    except (json.JSONDecodeError, EntryError, RecursionError) as error:
        end = _end_of(text, place)
        if isinstance(error, RecursionError):
            value = EntryError("is nested too deeply")
        elif isinstance(error, EntryError):
            value = error
        elif end > 0:
            value = EntryError(_flaw(error.msg, text, error.pos, 0))
        else:
            return _flaw(error.msg, text, error.pos, len(values), is_cut=text[place : place + 1] in ("{", "[")), place
        if end < 0:
            return str(value), place
    values.append(value)
    return "", _skip(text, end)


def _end_of(text: str, place: int) -> int:
    """Return the end of the object or list that begins at `place`, by its brackets; -1 if there is none."""
    depth = 0
    for token in _TOKEN.finditer(text, place):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
        if token[0] == '"' or text[place] not in "{[":
            break
        if depth == 0:
            return token.end()
    return -1


def _skip(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    assert found is not None
    return found.end()


def _flaw(message: str, text: str, place: int, n_read: int, is_cut: bool = False) -> str:
    line = text.count("\n", 0, place) + 1
    if is_cut or place >= len(text):
        return f"is cut off in entry {n_read + 1} (line {line})"
    return f"is not JSON: {message} at line {line}, column {place - text.rfind(chr(10), 0, place)}"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entry = dict(pairs)
    if len(entry) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise EntryError(f"an object names {brief(twice)} twice")
    return entry


def _refuse_constant(text: str) -> None:
    raise EntryError(f"holds {text}, which is not JSON")


def _whole(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise EntryError("a number in it is too large")
    return int(text)


def _number(text: str) -> int | float:
    """Return a number with a point or an exponent; it stays exact if it is whole."""
    with suppress(InvalidOperation):
        number = Decimal(text)
        if number.adjusted() < 19 and number == number.to_integral_value():
            return int(number)
    return float(text)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_refuse_constant, parse_int=_whole, parse_float=_number
)

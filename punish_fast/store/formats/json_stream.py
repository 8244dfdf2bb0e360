"""Read large JSON files (an object of objects) in pieces.

Millions of numbers would take a gigabyte as Python objects. A file can be cut wherever an inner object is followed by a
comma: the pieces, enclosed in braces, are valid JSON if and only if the whole file is. Each piece is decoded by the
JSON decoder of the standard library, so only one piece is in memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from punish_fast.runtime.files import ReadError, fault_of_input

_PIECE = 1 << 18
# Greater than the length of any inner object, however it is formatted.
_TAIL = 1 << 16
_CUT = re.compile(rb"\}\s*,")


def is_object(value: Any) -> bool:
    """Return True if a decoded value is an object, represented by a tuple of pairs of a key and a value."""
    return isinstance(value, tuple)


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def pieces(path: Path) -> Iterator[Any]:
    """Iterate over tuples of members of the outer object, which are pairs of a key and a value."""
    # float() accepts integers with thousands of digits, and tuples of pairs keep duplicate keys.
    decoder = json.JSONDecoder(object_pairs_hook=tuple, parse_int=float, parse_constant=_refuse_constant)
    for offset, piece in _raw_pieces(path):
        try:
            members = decoder.decode(piece.decode("utf-8"))
        except json.JSONDecodeError as error:
            raise ReadError(f"{path}: not JSON, {error.msg} near byte {max(offset + error.pos, 0)}") from None
        except (ValueError, RecursionError) as error:
            raise ReadError(f"{path}: not JSON near byte {max(offset, 0)} ({str(error)[:80]})") from None
        if not is_object(members):
            raise ReadError(f"{path}: allowed is one object of states")
        yield members


def _raw_pieces(path: Path) -> Iterator[tuple[int, bytes]]:
    """Iterate over pieces that are complete objects, with their offsets in the file."""
    try:
        if fault := fault_of_input(path):
            raise ReadError(f"{path}: {fault}")
        with path.open("rb") as file:
            yield from _cut(path, iter(lambda: file.read(_PIECE), b""))
    except ReadError:
        raise
    except (OSError, ValueError) as error:
        raise ReadError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None


def _cut(path: Path, blocks: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    offset, rest = 0, next(blocks, b"")
    is_first = True
    for block in blocks:
        cuts = list(_CUT.finditer(rest, max(0, len(rest) - _TAIL)))
        if not cuts:
            if len(rest) > _TAIL:
                text = f"not JSON of states, none ends in the {_TAIL} bytes before byte {offset + len(rest)}"
                raise ReadError(f"{path}: {text}")
            rest += block
            continue
        yield offset, rest[: cuts[-1].start() + 1] + b"}"
        # The opening brace of the next piece is not in the file.
        offset += cuts[-1].end() - 1
        rest = b"{" + rest[cuts[-1].end() :] + block
        is_first = False
    if not is_first and rest[1:].strip() == b"}":
        # A trailing comma is an error that the added brace would hide.
        offset, rest = offset + 1, rest[1:]
    yield offset, rest

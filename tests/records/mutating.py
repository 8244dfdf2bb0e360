"""Damaged logs: bytes, tokens and whole values of a sound one, changed at random."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

TOKENS = [
    *(b"NaN", b"-Infinity", b"1e999", b"-0", b"0.5", b"null", b"true", b"[]", b"{}", b'""', b'"\\ud800"', b'"\\u0000"'),
    *(
        b"9" * 30,
        b"9" * 5000,
        b"-1",
        b"1E2",
        b"[" * 3000,
        b'{"a":' * 3000,
        b"\xff",
        b"\xf0\x9f\x98\x80",
        b"//",
        b"\x00",
    ),
    *(b'"State":1,', b'"GameID":18446744073709551616,', b"999999999999999999", b"01"),
]
VALUES: list[Any] = [
    *(None, True, False, 0, -1, -2, 1, 5, 9, 10, 1.5, 10**18, 2**63, 10**40, "", "x", "9" * 18, "1" * 18, "\ud800"),
    *("a\nb", "naive", [], {}, [1], {"State": 1}, "101010200220000001", 101010200220000001, float("nan")),
]


def mutated(content: bytes, generator: np.random.Generator) -> bytes:
    """``content`` with one to three mutations."""
    for _ in range(generator.integers(1, 4)):
        mutation = MUTATIONS[generator.integers(len(MUTATIONS))]
        content = mutation(content, generator)
    return content


def _at(content: bytes, generator: np.random.Generator) -> int:
    return int(generator.integers(len(content) + 1))


def _flip(content: bytes, generator: np.random.Generator) -> bytes:
    k = _at(content, generator)
    return content[:k] + bytes([generator.integers(256)]) + content[k + 1 :]


def _cut(content: bytes, generator: np.random.Generator) -> bytes:
    k = _at(content, generator)
    return content[:k] + content[k + generator.integers(1, 80) :]


def _repeat(content: bytes, generator: np.random.Generator) -> bytes:
    k, n = _at(content, generator), int(generator.integers(1, 400))
    return content[: k + n] + content[k:]


def _insert(content: bytes, generator: np.random.Generator) -> bytes:
    k = _at(content, generator)
    return content[:k] + TOKENS[generator.integers(len(TOKENS))] + content[k:]


def _swap_number(content: bytes, generator: np.random.Generator) -> bytes:
    numbers = list(re.finditer(rb"-?\d+", content))
    if not numbers:
        return content
    number = numbers[generator.integers(len(numbers))]
    return content[: number.start()] + TOKENS[generator.integers(len(TOKENS))] + content[number.end() :]


def _truncate(content: bytes, generator: np.random.Generator) -> bytes:
    return content[: _at(content, generator)]


def _entries(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _swap_value(content: bytes, generator: np.random.Generator) -> bytes:
    """Another value, of any type or of another entry, for a key of an entry."""
    entries = _entries(content)
    if not isinstance(entries, list) or not entries:
        return content
    entry, other = (entries[generator.integers(len(entries))] for _ in range(2))
    if not isinstance(entry, dict) or not entry or not isinstance(other, dict):
        return content
    key = list(entry)[generator.integers(len(entry))]
    values = [VALUES[generator.integers(len(VALUES))], other.get(key)]
    entry[key] = values[generator.integers(2)]
    return json.dumps(entries).encode()


def _drop(content: bytes, generator: np.random.Generator) -> bytes:
    """An entry or a key less, or an entry more."""
    entries = _entries(content)
    if not isinstance(entries, list) or not entries:
        return content
    k = int(generator.integers(len(entries)))
    if generator.random() < 0.3 and isinstance(entries[k], dict) and entries[k]:
        entries[k].pop(list(entries[k])[generator.integers(len(entries[k]))])
    elif generator.random() < 0.5:
        entries.pop(k)
    else:
        entries.insert(int(generator.integers(len(entries))), entries[k])
    return json.dumps(entries).encode()


# Those that leave JSON behind get further, so they come more often.
MUTATIONS = (_flip, _cut, _repeat, _insert, _swap_number, _truncate, *[_swap_value] * 4, *[_drop] * 4)

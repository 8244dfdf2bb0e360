"""Damaged JSON: bytes, tokens and whole values of a sound text, changed at random."""

import copy
import json
import re
from typing import Any

import numpy as np

TOKENS = [
    *(b"NaN", b"-Infinity", b"1e999", b"-0", b"0.5", b"null", b"true", b"[]", b"{}", b'""', b'"\\ud800"', b'"\\u0000"'),
    *(b"9" * 30, b"9" * 5000, b"-1", b"1E2", b"[" * 3000, b'{"a":' * 3000, b"\xff", b"\xf0\x9f\x98\x80", b"\x00"),
    *(b'"State":1,', b'"GameID":18446744073709551616,', b"999999999999999999", b"01", b"//"),
]
VALUES: list[Any] = [
    *(None, True, False, 0, -1, -2, 1, 5, 9, 10, 1.5, 10**18, 2**63, 10**40, "", "x", "9" * 18, "1" * 18, "\ud800"),
    *("a\nb", "naive", [], {}, [1], {"State": 1}, "101010200220000001", 101010200220000001, float("nan")),
]


def mutated(content: bytes, generator: np.random.Generator) -> bytes:
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


def _tree(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Every place of a value: its list or object, and its index or key."""
    found: list[tuple[Any, Any]] = []
    open_nodes = [tree]
    while open_nodes:
        node = open_nodes.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        found += [(node, key) for key in keys]
        open_nodes += [node[key] for key in keys]
    return found


def _place(tree: Any, generator: np.random.Generator, at_root: float = 0.5) -> tuple[Any, Any] | None:
    """A place: one at the root in the share ``at_root`` of all cases."""
    places = _places(tree)
    if not places:
        return None
    n = len(tree) if generator.random() < at_root else len(places)
    return places[generator.integers(n)]


def _swap_value(content: bytes, generator: np.random.Generator) -> bytes:
    """Another value, of any type or from a place of the same name."""
    tree = _tree(content)
    place = _place(tree, generator)
    if place is None:
        return content
    node, key = place
    alike = [other[name] for other, name in _places(tree) if name == key]
    values = [VALUES[generator.integers(len(VALUES))], copy.deepcopy(alike[generator.integers(len(alike))])]
    node[key] = values[generator.integers(2)]
    return json.dumps(tree).encode()


def _scale_number(content: bytes, generator: np.random.Generator) -> bytes:
    """A number that is a little or much larger or smaller."""
    tree = _tree(content)
    numbers = [(node, key) for node, key in _places(tree) if type(node[key]) in (int, float)]
    if not numbers:
        return content
    node, key = numbers[generator.integers(len(numbers))]
    node[key] = [node[key] + 1, node[key] - 1, -node[key], 10 * node[key], node[key] / 3][generator.integers(5)]
    return json.dumps(tree).encode()


def _drop(content: bytes, generator: np.random.Generator) -> bytes:
    """A value less, or an entry more: most often at the root, which a reader may well take."""
    tree = _tree(content)
    place = _place(tree, generator, at_root=0.8)
    if place is None:
        return content
    node, key = place
    if isinstance(node, list) and generator.random() < 0.5:
        node.insert(key, node[key])
    elif isinstance(node, dict) and generator.random() < 0.3:
        node["more"] = node[key]
    else:
        del node[key]
    return json.dumps(tree).encode()


# Those that leave JSON behind get further, so they come more often.
MUTATIONS = (_flip, _cut, _repeat, _insert, _swap_number, _truncate, *[_swap_value] * 4, _scale_number, *[_drop] * 4)

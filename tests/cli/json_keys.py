"""Comparison of printed JSON objects with the keys that docstrings document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from bench.make.key_pages import Key, sections

TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
    "list": list,
    "object": dict,
}
# JSON integers above this are rounded by many programs.
GREATEST = 2**53


@lru_cache
def documented() -> dict[str, list[Key]]:
    return sections()


def candidates(arguments: Sequence[str]) -> dict[str, list[Key]]:
    """Return the sections on a command; ``arguments`` begin with its verbs."""
    words = [str(argument).partition(":")[0] for argument in arguments]
    found = {}
    for title, keys in documented().items():
        command = [word for word in title.split() if word.islower() and not word.startswith("-")]
        if words[: len(command)] == command:
            found[title] = keys
    return found


def faults_of(report: Any, arguments: Sequence[str], seen: set[str] | None = None) -> list[str]:
    """Return the disagreements between a report and the section on its command with which it agrees best.

    Paths of the keys in the report are added to ``seen``, with the title of the section.
    """
    found = []
    for title, keys in candidates(arguments).items():
        paths: set[str] = set()
        found.append((list(_object_faults(report, keys, "", paths)), title, paths))
    faults, title, paths = min(found, key=lambda each: (len(each[0]), -len(each[1])))
    if seen is not None:
        seen |= {f"{title}: {path}" for path in paths}
    return faults


def paths_in(keys: Sequence[Key], prefix: str = "") -> Iterator[str]:
    """Yield the paths of all documented keys."""
    for key in keys:
        yield prefix + key.name
        yield from paths_in(key.inner, f"{prefix}{key.name}.")


def _object_faults(value: dict[str, Any], keys: Sequence[Key], prefix: str, paths: set[str]) -> Iterator[str]:
    by_name = {key.name: key for key in keys}
    assert len(by_name) == len(keys), f"{prefix}: a key is documented twice"
    for name, each in value.items():
        path = prefix + name
        if name not in by_name:
            yield f"{path}: not documented"
            continue
        paths.add(path)
        key = by_name[name]
        if not fits(each, key.type):
            yield f"{path}: {str(each)[:40]} is not of the type {key.type}"
        elif key.inner:
            for inner in _objects_in(each, key.type):
                yield from _object_faults(inner, key.inner, f"{path}.", paths)


def _objects_in(value: Any, kind: str) -> Iterator[dict[str, Any]]:
    """Yield the innermost objects of a value, which have the documented keys."""
    if isinstance(value, list):
        for each in value:
            yield from _objects_in(each, kind)
    elif " by " in kind:
        for each in value.values():
            yield from _objects_in(each, kind.rpartition(" by ")[0])
    elif value is not None:
        yield value


def fits(value: Any, kind: str) -> bool:
    """Return True if a value is of a documented type."""
    if " or " in kind:
        return any(fits(value, each) for each in kind.split(" or "))
    if kind.startswith("optional "):
        return value is None or fits(value, kind.removeprefix("optional "))
    if mapping := re.fullmatch(r"objects? of (.*) by [\w-]+", kind):
        return isinstance(value, dict) and all(fits(each, mapping[1]) for each in value.values())
    if kind.startswith(("list of ", "lists of ")):
        return isinstance(value, list) and all(fits(each, kind.partition(" of ")[2]) for each in value)
    is_rounded = isinstance(value, int | float) and abs(value) > GREATEST
    is_other = isinstance(value, bool) and not kind.startswith("boolean")
    return isinstance(value, TYPES[kind.removesuffix("s")]) and not (is_rounded or is_other)

"""Attributes of HDF5 files: read by the types of the schema, and checked against its ranges."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from math import inf, isnan
from typing import Any

import numpy as np
from h5py import h5a, h5g, h5s, h5t

from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.printable import printable
from punish_fast.store import schema
from punish_fast.store.schema import Attribute

_MOST_CHARACTERS = 80
_LARGEST = 1 << 20
# The HDF5 classes of each type, and what a value must be.
_CLASSES = {
    "text": ((h5t.STRING,), "a text"),
    "json": ((h5t.STRING,), "a text"),
    "int": ((h5t.INTEGER,), "a whole number"),
    "float": ((h5t.FLOAT, h5t.INTEGER), "a number"),
    "ints": ((h5t.INTEGER,), "a list of whole numbers"),
    "floats": ((h5t.FLOAT,), "a list of float64"),
}
_TYPES = {attribute.name: attribute.type for attribute in (*schema.ATTRIBUTES, *schema.MATRIX_ATTRIBUTES)}
_KIND = next(attribute for attribute in schema.ATTRIBUTES if attribute.name == "kind")


class FieldError(PunishFastError):
    """Something that is not as in the schema; the message names the field."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{shorten(field)}: {problem}")


class _Other:
    """A value of another type than the schema says."""

    def __init__(self, text: str) -> None:
        self.text = text


def shorten(text: str) -> str:
    """A text for an error message."""
    return printable(text, _MOST_CHARACTERS)


def brief(value: object) -> str:
    """A value for an error message."""
    return shorten(repr(value))


def first_line(error: Exception) -> str:
    """The first line of an error's text, shortened."""
    lines = str(error).splitlines()
    return shorten(lines[0] if lines else type(error).__name__)


def json_object(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is; None if it is something else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def flaw_of_enemy(enemy: dict[str, Any]) -> str | None:
    """What is wrong with the enemy that a tensor or an agent notes; None if nothing is."""
    if "kind" not in enemy or not all(isinstance(enemy.get(key, ""), str) for key in ("kind", "name", "file")):
        return "not a JSON object with a kind in words"
    temperature = enemy.get("temperature", 1.0)
    if not isinstance(temperature, int | float) or not 0 < temperature < inf:
        return f"the temperature {brief(temperature)} is not a number above 0"
    return None


def read_attributes(item: h5g.GroupID, known: tuple[Attribute, ...], of: str = "") -> dict[str, Any]:
    """All attributes of a group, by name.

    Raises:
        FieldError: one is not known, or too large.
    """
    names = {attribute.name for attribute in known}
    number = h5a.get_num_attrs(item)
    if number > len(names):
        raise FieldError(of or "/", f"{number} attributes, allowed are {len(names)}")
    values = {}
    for index in range(number):
        attribute = h5a.open(item, index=index)
        name = attribute.name.decode(errors="backslashreplace")
        if name not in names:
            raise FieldError(_field(of, name), "is not known, a file of this kind has no such attribute")
        values[name] = _value(attribute, _TYPES[name], _field(of, name))
    return values


def _field(of: str, name: str) -> str:
    return f"{of}: {name}" if of else name


def _value(attribute: h5a.AttrID, kind: str, field: str) -> Any:
    """The value of an attribute; `_Other` if it is of another type."""
    space, stored = attribute.get_space(), attribute.get_type()
    shape = tuple(space.get_simple_extent_dims()) if space.get_simple_extent_type() == h5s.SIMPLE else ()
    if space.get_simple_extent_type() == h5s.NULL:
        return _Other("nothing")
    is_text, n_dimensions = kind in ("text", "json"), int(kind.endswith("s"))
    fits = stored.get_class() in _CLASSES[kind][0] and len(shape) == n_dimensions
    if not fits or not (is_text or stored.get_size() <= 8) or attribute.get_storage_size() > _LARGEST:
        return _Other(shorten(f"{attribute.dtype} {shape or ''}".strip()))
    array = np.empty(shape, attribute.dtype)
    attribute.read(array)
    if not is_text:
        # A whole number is a number, too.
        return float(array[()]) if kind == "float" else array.tolist()
    try:
        text = bytes(array[()]).decode()
    except UnicodeDecodeError:
        raise FieldError(field, "is not UTF-8") from None
    if len(text) > _LARGEST:
        raise FieldError(field, f"has {len(text)} characters, allowed are {_LARGEST}")
    return text


def check_format(attributes: dict[str, Any]) -> str:
    """Check that a file is one of ours, and return its kind.

    Raises:
        FieldError: it is not, or of another version.
    """
    if attributes.get("format") != schema.FORMAT:
        raise FieldError("format", f"not a file of {schema.FORMAT}")
    version = attributes.get("format_version")
    if isinstance(version, int) and version != schema.FORMAT_VERSION:
        raise FieldError("format_version", f"{version} is not known, allowed is {schema.FORMAT_VERSION}")
    check_attributes({"kind": attributes.get("kind")}, (_KIND,), schema.LEARNER)
    # Older files name total rewards apart.
    if (attributes.get("objective"), attributes.get("discount")) == ("undiscounted", 1):
        attributes["objective"] = "discounted"
    return str(attributes["kind"])


def check_attributes(values: dict[str, Any], known: Iterable[Attribute], kind: str, of: str = "") -> None:
    """Check that the attributes of a file of a ``kind`` are there, of their types and in their ranges, and no others.

    Raises:
        FieldError: they are not.
    """
    expected = {attribute.name: attribute for attribute in known if kind in attribute.kinds}
    for name, attribute in expected.items():
        value, field = values.get(name), _field(of, name)
        if isinstance(value, _Other):
            raise FieldError(field, f"is of type {value.text}, it must be {_CLASSES[attribute.type][1]}")
        if value is not None:
            _check_value(attribute, value, field)
        elif kind not in attribute.optional:
            raise FieldError(field, "missing")
    unknown = [name for name in values if name not in expected]
    if unknown:
        raise FieldError(_field(of, unknown[0]), f"is not allowed in a file of the kind {kind}")


def _check_value(attribute: Attribute, value: Any, field: str) -> None:
    if attribute.allowed and value not in attribute.allowed:
        raise FieldError(field, f"{brief(value)} is not known, allowed are {', '.join(attribute.allowed)}")
    if attribute.pattern and not re.fullmatch(attribute.pattern, value):
        raise FieldError(field, f"{brief(value)} is not allowed, it must be like {attribute.pattern}")
    if attribute.type == "json" and json_object(value) is None:
        raise FieldError(field, "not a JSON object")
    if attribute.type in ("ints", "floats") and len(value) != attribute.length:
        raise FieldError(field, f"{brief(value)} is not allowed, it must be {attribute.length} numbers")
    if attribute.type in ("text", "json"):
        return
    for number in value if isinstance(value, list) else [value]:
        is_missing = attribute.may_be_nan and isnan(number)
        if not is_missing and not attribute.low <= number <= attribute.high:
            allowed = schema.range_text(attribute.low, attribute.high)
            raise FieldError(field, f"{brief(number)} is not allowed, it must be {allowed}")

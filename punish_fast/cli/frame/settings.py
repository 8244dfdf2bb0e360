"""Parse hyperparameters given as ``--set NAME=VALUE``, according to the fields of a method's dataclass."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, get_args, get_origin, get_type_hints

from punish_fast.cli.frame.report import UsageError
from punish_fast.runtime.errors import closest, printable

_NAMES: dict[Any, str] = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
_NAMES[tuple] = "numbers separated by commas"


def changes_of(settings: type[Any], texts: Sequence[str], excluded: Sequence[str] = ()) -> dict[str, Any]:
    """Parse changes to the fields of a dataclass. Return the new values by field name.

    Args:
        settings: Dataclass that checks the new values.
        texts: Changes as ``NAME=VALUE``. Commas separate the numbers of a tuple. ``none`` is None or an empty tuple.
        excluded: Fields that cannot be changed because they have their own option.
    """
    hints = get_type_hints(settings)
    kinds = {each.name: hints[each.name] for each in fields(settings) if each.name not in excluded}
    changes: dict[str, Any] = {}
    for text in texts:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not sign or name not in kinds:
            fault, hint = ("unknown name", closest(name, kinds)) if sign else ("must be NAME=VALUE", "")
            raise UsageError(f"--set {printable(text)}: {fault}; the names are {', '.join(kinds)}{hint}")
        if name in changes:
            raise UsageError(f"--set: {name} is set twice")
        changes[name] = parsed(name, value, kinds[name])
    return changes


def parsed(name: str, text: str, kind: Any) -> Any:
    """Parse the value of a setting according to the type ``kind``."""
    parts, base = get_args(kind), get_origin(kind) or kind
    # For example, int | None.
    if type(None) in parts:
        if text == "none":
            return None
        (base,) = {*parts} - {type(None)}
    try:
        if base is tuple:
            return () if text == "none" else tuple(parts[0](part) for part in text.split(",") if part.strip())
        return {"true": True, "false": False}[text.lower()] if base is bool else base(text)
    except (KeyError, ValueError):
        raise UsageError(f"{name}: {printable(text)!r} is not allowed; it must be {_NAMES[base]}") from None

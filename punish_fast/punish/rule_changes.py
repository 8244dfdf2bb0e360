"""Differences between two sets of rules. The name of a difference is a field (``hp``) or a card (``damage.strike``)."""

import tomllib
from contextlib import suppress
from typing import Any

from punish_fast.punish.rules import BY_CARD, CARDS, FIELDS, Rules, RulesError, from_mapping, to_mapping

_MOST_CHARACTERS = 500


def changes_of(rules: Rules, base: Rules) -> dict[str, Any]:
    """Return the values of ``rules`` that differ from ``base``, by name, in the same form as in TOML files."""
    own, other = to_mapping(rules), to_mapping(base)
    found: dict[str, Any] = {}
    for field, value in own.items():
        if FIELDS[field].form == BY_CARD:
            pairs = zip(CARDS, value, other[field], strict=True)
            found |= {f"{field}.{card}": number for card, number, before in pairs if number != before}
        elif value != other[field]:
            found[field] = value
    return found


def value_of(rules: Rules, name: str) -> Any:
    """Return the value of a field or card in ``rules``, given a name from `changes_of`."""
    field, _, card = name.partition(".")
    value = to_mapping(rules)[field]
    return value[CARDS.index(card)] if card else value


def change_text(name: str, value: Any) -> str:
    """Format a change, such as ``damage.strike=3``."""
    return f"{name}={value_text(value)}"


def value_text(value: Any) -> str:
    """Format the value of a field, with commas between the items of a list."""
    return ", ".join(map(str, value)) or "none" if isinstance(value, list | tuple) else str(value)


def changed(base: Rules, *changes: str) -> Rules:
    """Return ``base`` with changes such as ``damage.strike=3`` or ``redeal=discard``.

    Quotes are optional, except in lists. The rules are checked after all changes.
    """
    lines = [_line(text) for text in changes]
    try:
        fields = tomllib.loads("\n".join(lines))
    except ValueError:
        raise RulesError(f"rules: a field is set twice in {', '.join(lines)[:60]!r}") from None
    return from_mapping(fields, base)


def _line(text: str) -> str:
    """Return a change as a line of TOML. Raise `RulesError` if it is invalid."""
    if len(text) <= _MOST_CHARACTERS and "\n" not in text and "=" in text:
        name, _, value = text.partition("=")
        # If the text is not valid TOML, retry with the value in quotes.
        for line in (text, f'{name}="{value.strip()}"'):
            with suppress(ValueError, RecursionError):
                tomllib.loads(line)
                return line
    raise RulesError(f"rules: {text[:60]!r} is not a change; write it like hp=4 or damage.strike=3")

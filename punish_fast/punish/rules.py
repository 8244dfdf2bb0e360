"""The rules of a game of Punish, as data.

All sizes, radices, tables and counts are computed from a `Rules` tuple. There are three presets, and a TOML file
changes any field of the ``notebook`` preset::

    hp = 4
    copies = { strike = 2, punish = 2 }
    dodge_stops = ["strike"]
    redeal = "reshuffle"
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.files import fault_of_input

CARDS = ("guard", "rush", "dodge", "strike", "punish")
RESOLVED = ("rest", *CARDS)
REDEALS = ("discard", "reshuffle")

Five = tuple[int, int, int, int, int]
Six = tuple[int, int, int, int, int, int]


class RulesError(PunishFastError, ValueError):
    """Invalid rules; the message names the field, its value and the allowed values."""


class Rules(NamedTuple):
    """The rules of one game. Tuples of five follow the order guard, rush, dodge, strike, punish."""

    copies: Five = (3, 3, 3, 3, 3)  # copies of each card in play
    hand_size: int = 5  # cards in a full hand
    reveal_size: int = 3  # cards revealed at the start of a measure; they begin the discard pile
    hp: int = 3  # HP of both players at the start, and the most that healing restores
    healing: int = 1  # HP each survivor regains after a measure
    breaths: int = 4  # breaths per measure
    feints: int = 1  # feints each player has per measure
    damage: Five = (0, 1, 0, 2, 3)  # base damage of each card
    guard_reduction: int = 1  # damage that a guard takes off each attack
    dodge_stops: Five = (0, 0, 0, 1, 1)  # 1 for each card that does no damage to a dodging player
    # rank of rest, guard, rush, dodge, strike, punish; if both players fall, the lower rank wins
    priority: Six = (0, 1, 2, 3, 4, 5)
    exhausting: Five = (0, 0, 0, 0, 1)  # 1 for each card after which its player must rest for a breath
    # ``"discard"`` draws only from the discard pile, ``"reshuffle"`` from discard pile and deck
    redeal: str = "discard"

    @property
    def n_cards(self) -> int:
        """Cards in play."""
        return sum(self.copies)

    @property
    def deck_size(self) -> int:
        """Cards in the deck at the start of a measure."""
        return self.n_cards - 2 * self.hand_size - self.reveal_size

    @property
    def digest(self) -> str:
        """A short fingerprint of the rules; equal rules have equal digests."""
        return hashlib.sha256(to_json(self).encode()).hexdigest()[:16]


PRESETS: dict[str, Rules] = {
    "notebook": Rules(),
    "tabletop": Rules(redeal="reshuffle"),
    "tiny": Rules(copies=(1, 2, 1, 2, 1), hand_size=2, reveal_size=1, hp=2, breaths=2),
}

_MOST_CHARACTERS = 80
# Of a file: the time and memory that dotted keys take grow with the square of their length.
_MOST_BYTES = 8192

# One decimal digit for each of these keeps the notebook's decimal codes valid for every house rule.
_RANGES = {
    "hand_size": (1, 9),
    "reveal_size": (0, 45),
    "hp": (1, 9),
    "healing": (0, 9),
    "breaths": (1, 8),
    "feints": (0, 9),
    "guard_reduction": (0, 99),
}
_TUPLE_RANGES = {
    "copies": (5, 0, 9),
    "damage": (5, 0, 99),
    "dodge_stops": (5, 0, 1),
    "priority": (6, 0, 5),
    "exhausting": (5, 0, 1),
}


def by_card(counts: Iterable[int]) -> dict[str, int]:
    """Counts of the five cards by name."""
    return dict(zip(CARDS, counts, strict=True))


def cards_text(counts: Iterable[int]) -> str:
    """Counts of the five cards in words, such as ``2 rush, punish``."""
    names = [f"{n} {card}" if n > 1 else card for card, n in zip(CARDS, counts, strict=True) if n > 0]
    return ", ".join(names) or "nothing"


def _brief(value: object) -> str:
    """A value for an error message, shortened if it is long."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return "too large to print"
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_range(field: str, value: object, low: int, high: int) -> None:
    if not _is_int(value) or not low <= value <= high:  # type: ignore[operator]
        raise RulesError(f"rules: {field} is {_brief(value)}, allowed are whole numbers from {low} to {high}")


def _check_tuple(field: str, value: object, length: int, low: int, high: int) -> None:
    if not isinstance(value, tuple) or len(value) != length:
        raise RulesError(f"rules: {field} is {_brief(value)}, allowed are {length} whole numbers from {low} to {high}")
    for item in value:
        _check_range(field, item, low, high)


def validate(rules: Rules) -> Rules:
    """Return ``rules`` unchanged if they are valid."""
    if not isinstance(rules, Rules):
        raise RulesError(f'rules: {rules!r:.40} is not allowed, it must be Rules, such as load_rules("tabletop") makes')
    for field, (low, high) in _RANGES.items():
        _check_range(field, getattr(rules, field), low, high)
    for field, (length, low, high) in _TUPLE_RANGES.items():
        _check_tuple(field, getattr(rules, field), length, low, high)
    if sorted(rules.priority) != list(range(6)):
        raise RulesError(f"rules: priority is {rules.priority}, allowed are the ranks 0 to 5, each once")
    if rules.redeal not in REDEALS:
        raise RulesError(f"rules: redeal is {rules.redeal!r}, allowed are {' and '.join(map(repr, REDEALS))}")
    needed = 2 * rules.hand_size + rules.reveal_size + 2 * rules.feints
    if rules.n_cards < needed:
        raise RulesError(
            f"rules: copies is {rules.copies}, {rules.n_cards} cards in all; "
            f"two hands, the revealed cards and the feints need at least {needed}"
        )
    return rules


def _named_tuple(field: str, value: object, names: tuple[str, ...], default: tuple[int, ...]) -> tuple[int, ...]:
    """A tuple from a list in card order, or from a table of the cards that differ from the default."""
    if isinstance(value, Mapping):
        unknown = [name for name in value if name not in names]
        if unknown:
            raise RulesError(f"rules: {field} names {unknown[0]!r}, allowed are {', '.join(names)}")
        return tuple(value.get(name, default[k]) for k, name in enumerate(names))
    if isinstance(value, list | tuple):
        return tuple(value)
    raise RulesError(
        f"rules: {field} is {_brief(value)}, allowed is a list of {len(names)} or a table of {', '.join(names)}"
    )


def _card_names(field: str, value: object, names: tuple[str, ...]) -> list[str]:
    if not isinstance(value, list) or any(name not in names for name in value) or len(set(value)) != len(value):
        raise RulesError(
            f"rules: {field} is {_brief(value)}, allowed is a list of {', '.join(names)}, each at most once"
        )
    return value


def _parse_field(field: str, value: Any, default: Any) -> Any:
    if field in ("copies", "damage"):
        return _named_tuple(field, value, CARDS, default)
    if field in ("dodge_stops", "exhausting"):
        chosen = _card_names(field, value, CARDS)
        return tuple(int(card in chosen) for card in CARDS)
    if field == "priority":
        order = _card_names(field, value, RESOLVED)
        if len(order) != len(RESOLVED):
            raise RulesError(
                f"rules: priority is {_brief(value)}, allowed are all of {', '.join(RESOLVED)}, lowest first"
            )
        return tuple(order.index(name) for name in RESOLVED)
    return value


def from_mapping(fields: Mapping[str, Any], base: Rules = PRESETS["notebook"]) -> Rules:
    """Rules that differ from ``base`` in the given fields, written as in a TOML file."""
    unknown = [field for field in fields if field not in Rules._fields]
    if unknown:
        raise RulesError(f"rules: unknown field {unknown[0]!r}, allowed are {', '.join(Rules._fields)}")
    changed = {field: _parse_field(field, value, getattr(base, field)) for field, value in fields.items()}
    return validate(base._replace(**changed))


def to_mapping(rules: Rules) -> dict[str, Any]:
    """The fields of ``rules`` as `from_mapping` and a TOML file take them."""
    fields: dict[str, Any] = rules._asdict()
    for field in ("copies", "damage"):
        fields[field] = list(fields[field])
    for field in ("dodge_stops", "exhausting"):
        fields[field] = [card for card, flag in zip(CARDS, fields[field], strict=True) if flag]
    fields["priority"] = sorted(RESOLVED, key=lambda name: rules.priority[RESOLVED.index(name)])
    return fields


def to_json(rules: Rules) -> str:
    """The rules as one line of JSON; equal rules give equal text."""
    return json.dumps(to_mapping(rules), sort_keys=True)


def from_json(text: str) -> Rules:
    """Rules from the JSON of `to_json`."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RulesError(f"rules: {text[:40]!r} is not JSON ({error})") from None
    if not isinstance(fields, dict):
        raise RulesError(f"rules: {text[:40]!r} is not a JSON object")
    return from_mapping(fields)


def load_rules(name_or_path: str | Path) -> Rules:
    """Rules from a preset's name or a TOML file of the fields that differ from ``notebook``.

    Raises:
        RulesError: neither a preset nor a readable TOML file, or the rules in it are invalid.
    """
    name = str(name_or_path)
    if name in PRESETS:
        return PRESETS[name]
    import tomllib

    path = Path(name_or_path)
    try:
        if fault := fault_of_input(path):
            told = f"is neither a preset ({', '.join(PRESETS)}) nor a TOML file ({fault})"
            raise RulesError(f"rules: {name!r} {told}")
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise RulesError(f"rules: {name} is longer than {_MOST_BYTES:,} bytes, too long for a file of rules")
        fields = tomllib.loads(content.decode())
    except OSError as error:
        raise RulesError(f"rules: cannot read {name}: {error.strerror}") from None
    except RulesError:
        raise
    except (ValueError, RecursionError) as error:
        raise RulesError(f"rules: {name} is not a TOML file ({error})") from None
    try:
        return from_mapping(fields)
    except RulesError as error:
        raise RulesError(f"rules: {name}: {str(error).removeprefix('rules: ')}") from None


def name_of(rules: Rules) -> str:
    """The preset's name, followed by the redeal if only that differs; a name made of the digest for other rules."""
    for name, preset in PRESETS.items():
        if preset == rules:
            return name
    for name, preset in PRESETS.items():
        if preset._replace(redeal=rules.redeal) == rules:
            return f"{name}-{rules.redeal}"
    return f"house-{rules.digest[:8]}"


def true_rules(rules: Rules) -> Rules:
    """The rules of the game between two players: the same with the redeal ``reshuffle``."""
    return rules._replace(redeal="reshuffle")

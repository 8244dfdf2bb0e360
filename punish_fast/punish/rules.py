"""The rules of Punish, as data.

All sizes, radices and tables are computed from a `Rules` tuple. Its annotations define the form, range and meaning of
every field. There are three presets. A TOML file can change any field of a preset, by default ``notebook``::

    base = "notebook"
    hp = 4
    copies = { strike = 2, punish = 2 }
    dodge_stops = ["strike"]
    redeal = "reshuffle"
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_type_hints

from punish_fast.runtime.errors import PunishFastError, closest
from punish_fast.runtime.files import fault_of_input, kind_of

CARDS = ("guard", "rush", "dodge", "strike", "punish")
RESOLVED = ("rest", *CARDS)
REDEALS = ("discard", "reshuffle")

Five = tuple[int, int, int, int, int]
Six = tuple[int, int, int, int, int, int]


class RulesError(PunishFastError, ValueError):
    """Raised when rules are invalid or cannot be loaded."""


# Forms of field values in a TOML file.
NUMBER = "number"
BY_CARD = "number for each card"  # a list of five numbers, or a table of the cards that differ from the default
CARD_NAMES = "list of cards"
ORDER = "order of rest and the cards"  # a list of all names, lowest rank first
CHOICE = "name"


class Field(NamedTuple):
    """Form, range and meaning of a rule."""

    form: str
    low: int  # minimum of all numbers in the field
    high: int  # maximum of all numbers in the field
    meaning: str


class Rules(NamedTuple):
    """The rules of a game.

    Tuples of five numbers are in the order guard, rush, dodge, strike, punish. The defaults are the notebook's rules.

    Attributes:
        copies: Copies of each card in play, 0 to 9.
        hand_size: Cards in a full hand, 1 to 9.
        reveal_size: Cards revealed at the start of a measure.
        hp: HP at the start and maximum HP after healing, 1 to 9.
        healing: HP that each player regains after a measure, 0 to 9.
        breaths: Breaths per measure, 1 to 8.
        feints: Feints of each player per measure, 0 to 9.
        damage: Base damage of each card, in HP.
        guard_reduction: Reduction of an attack's damage by a guard, in HP.
        dodge_stops: 1 for each card whose damage a dodge prevents, otherwise 0.
        priority: Ranks of rest, guard, rush, dodge, strike and punish, 0 to 5. If both players fall in the same
            breath, the card with the lower rank wins.
        exhausting: 1 for each card after which the player must rest, otherwise 0.
        redeal: Source of the cards that are dealt between measures: the discard pile (``"discard"``), or the discard
            pile and the deck (``"reshuffle"``).

    Examples:
        >>> from punish_fast import load_rules
        >>> rules = load_rules("tiny")
        >>> rules.copies, rules.hp, rules.redeal
        ((1, 2, 1, 2, 1), 2, 'discard')
        >>> rules._replace(hp=3).hp
        3
    """

    # Never change a default value, because digests omit fields with default values.

    copies: Annotated[Five, Field(BY_CARD, 0, 9, "number of copies of each card")] = (3, 3, 3, 3, 3)
    hand_size: Annotated[int, Field(NUMBER, 1, 9, "number of cards in a full hand")] = 5
    reveal_size: Annotated[int, Field(NUMBER, 0, 45, "number of cards revealed at the start of a measure")] = 3
    hp: Annotated[int, Field(NUMBER, 1, 9, "HP at the start, and maximum HP after healing")] = 3
    healing: Annotated[int, Field(NUMBER, 0, 9, "HP that each player regains after a measure")] = 1
    breaths: Annotated[int, Field(NUMBER, 1, 8, "number of breaths per measure")] = 4
    feints: Annotated[int, Field(NUMBER, 0, 9, "maximum number of feints per player and measure")] = 1
    damage: Annotated[Five, Field(BY_CARD, 0, 99, "base damage of each card")] = (0, 1, 0, 2, 3)
    guard_reduction: Annotated[int, Field(NUMBER, 0, 99, "reduction of an attack's damage by a guard")] = 1
    # In `dodge_stops` and `exhausting`, 1 marks the cards listed in a file and 0 the others.
    dodge_stops: Annotated[Five, Field(CARD_NAMES, 0, 1, "cards that do no damage to a dodge")] = (0, 0, 0, 1, 1)
    # rank of rest, guard, rush, dodge, strike, punish
    priority: Annotated[Six, Field(ORDER, 0, 5, "if both players fall, the card listed first wins")] = (
        0,
        1,
        2,
        3,
        4,
        5,
    )
    exhausting: Annotated[Five, Field(CARD_NAMES, 0, 1, "cards after which the player must rest")] = (0, 0, 0, 0, 1)
    redeal: Annotated[
        str,
        Field(CHOICE, 0, 0, "draw from the discard pile, or from the discard pile and the deck"),
    ] = "discard"

    @property
    def n_cards(self) -> int:
        """Number of cards in play."""
        return sum(self.copies)

    @property
    def deck_size(self) -> int:
        """Number of cards in the deck at the start of a measure."""
        return self.n_cards - 2 * self.hand_size - self.reveal_size

    @property
    def digest(self) -> str:
        """First 16 hexadecimal digits of a SHA-256 digest of the fields that differ from their defaults."""
        defaults = to_mapping(Rules())
        changed = {field: value for field, value in to_mapping(self).items() if value != defaults[field]}
        return hashlib.sha256(json.dumps(changed, sort_keys=True).encode()).hexdigest()[:16]

    def _repr_html_(self) -> str:
        from punish_fast.runtime.results import html_table  # imports NumPy

        fields = to_mapping(self)
        return html_table(f"Rules: {name_of(self)}", {"rule": fields, "value": fields.values()})


FIELDS: dict[str, Field] = {
    name: hint.__metadata__[0] for name, hint in get_type_hints(Rules, include_extras=True).items()
}

PRESETS: dict[str, Rules] = {
    "notebook": Rules(),
    "tabletop": Rules(redeal="reshuffle"),
    "tiny": Rules(copies=(1, 2, 1, 2, 1), hand_size=2, reveal_size=1, hp=2, breaths=2),
}

_MOST_CHARACTERS = 80
# Fields by names that other games use.
_SYNONYMS = dict.fromkeys(("hitpoints", "hit_points", "health", "life", "lives"), "hp")
# Maximum size of a rules file in bytes. The parser needs time and memory quadratic in the length of a dotted key.
_MOST_BYTES = 8192


def by_card(counts: Iterable[int]) -> dict[str, int]:
    """Return a mapping from the names of the five cards to ``counts``."""
    return dict(zip(CARDS, counts, strict=True))


def cards_text(counts: Iterable[int]) -> str:
    """Format counts of the five cards, such as ``2 rush, punish``."""
    names = [f"{n} {card}" if n > 1 else card for card, n in zip(CARDS, counts, strict=True) if n > 0]
    return ", ".join(names) or "nothing"


def _brief(value: object) -> str:
    """Format a value for an error message. Truncate long texts."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return "too large to print"
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."


def _error(field: str, value: object, told: str) -> RulesError:
    return RulesError(f"rules: {field} is {_brief(value)}; it must be {told}")


def _check(field: str, value: object) -> None:
    """Raise `RulesError` if ``value`` is not a valid value of ``field``."""
    form, low, high, _ = FIELDS[field]
    if form == CHOICE:
        if value not in REDEALS:
            raise _error(field, value, " or ".join(map(repr, REDEALS)))
        return
    numbers: Any = value if form != NUMBER else (value,)
    n = {NUMBER: 1, ORDER: len(RESOLVED)}.get(form, len(CARDS))
    if not isinstance(numbers, tuple) or len(numbers) != n:
        raise _error(field, value, f"{n} whole numbers from {low} to {high}")
    for card, number in zip(RESOLVED[-n:], numbers, strict=True):
        if not isinstance(number, int) or isinstance(number, bool) or not low <= number <= high:
            name = f"{field}.{card}" if form == BY_CARD else field
            raise _error(name, number, f"a whole number from {low} to {high}")
    if form == ORDER and len(set(numbers)) < n:
        raise _error(field, value, f"the ranks {low} to {high}, each once")


def validate_rules(rules: Rules) -> Rules:
    """Return ``rules`` after validation. Raise `RulesError` if the rules are invalid."""
    if not isinstance(rules, Rules):
        raise RulesError(f'rules: {rules!r:.40} is not allowed; it must be Rules, such as load_rules("tabletop")')
    for field, value in rules._asdict().items():
        _check(field, value)
    needed = 2 * rules.hand_size + rules.reveal_size + 2 * rules.feints
    if rules.n_cards < needed:
        raise RulesError(
            f"rules: copies is {rules.copies}, {rules.n_cards} cards in total; "
            f"two hands, the revealed cards and the feints need at least {needed}"
        )
    return rules


def _read(field: str, value: Any, default: Any) -> Any:
    """Convert a value from a TOML file to its form in `Rules`."""
    form = FIELDS[field].form
    if form == BY_CARD and isinstance(value, Mapping):
        unknown = [name for name in value if name not in CARDS]
        if unknown:
            told = f"rules: {field} names {unknown[0]!r}; the cards are {', '.join(CARDS)}"
            raise RulesError(told + closest(unknown[0], CARDS))
        return tuple(value.get(card, before) for card, before in zip(CARDS, default, strict=True))
    if form == BY_CARD:
        if not isinstance(value, list | tuple):
            raise _error(field, value, f"a list of {len(CARDS)} or a table of {', '.join(CARDS)}")
        return tuple(value)
    if form in (NUMBER, CHOICE):
        return value
    names = RESOLVED if form == ORDER else CARDS
    if not isinstance(value, list) or any(name not in names for name in value) or len(set(value)) != len(value):
        raise _error(field, value, f'a list of {", ".join(names)}, each at most once, such as ["{names[1]}"]')
    if form == CARD_NAMES:
        return tuple(int(card in value) for card in CARDS)
    if len(value) != len(names):
        raise _error(field, value, f"all of {', '.join(names)}, lowest first")
    return tuple(value.index(name) for name in names)


def _write(field: str, value: Any) -> Any:
    """Convert a value of `Rules` to its form in a TOML file."""
    form = FIELDS[field].form
    if form == BY_CARD:
        return list(value)
    if form == CARD_NAMES:
        return [card for card, flag in zip(CARDS, value, strict=True) if flag]
    return sorted(RESOLVED, key=lambda name: int(value[RESOLVED.index(name)])) if form == ORDER else value


def from_mapping(fields: Mapping[str, Any], base: Rules = PRESETS["notebook"]) -> Rules:
    """Return ``base`` with some fields replaced. The values in ``fields`` have the same form as in TOML files."""
    unknown = [field for field in fields if field not in Rules._fields]
    if unknown:
        name, keys = str(unknown[0]), [f"{field}.{unknown[0]}" for field in FIELDS if FIELDS[field].form == BY_CARD]
        near = closest(_SYNONYMS.get(name.lower(), name), FIELDS)
        hint = f"; did you mean {' or '.join(keys)}?" if name in CARDS else near
        raise RulesError(f"rules: unknown field {name!r}; the fields are {', '.join(FIELDS)}{hint}")
    changed = {field: _read(field, value, getattr(base, field)) for field, value in fields.items()}
    return validate_rules(base._replace(**changed))


def to_mapping(rules: Rules) -> dict[str, Any]:
    """Return the fields of ``rules`` in the same form as in TOML files."""
    return {field: _write(field, value) for field, value in rules._asdict().items()}


def to_json(rules: Rules) -> str:
    """Return the rules as one line of JSON with sorted keys."""
    return json.dumps(to_mapping(rules), sort_keys=True)


def load_rules(name_or_path: str | Path) -> Rules:
    """Load a preset by name, or a TOML file with the fields that differ from its ``base``, a preset.

    Args:
        name_or_path: ``"notebook"``, ``"tabletop"`` or ``"tiny"``, or the path of a TOML file.

    Returns:
        The rules.

    Raises:
        RulesError: If the argument is neither a preset nor a readable TOML file, or if the rules are invalid.

    Examples:
        >>> from punish_fast import load_rules
        >>> load_rules("tabletop").redeal
        'reshuffle'
    """
    name = str(name_or_path)
    if name in PRESETS:
        return PRESETS[name]
    import tomllib

    path = Path(name_or_path)
    try:
        if fault := fault_of_input(name):
            told = f"is neither a preset ({', '.join(PRESETS)}) nor a TOML file ({fault})"
            raise RulesError(f"rules: {name!r} {told}{closest(name, PRESETS)}")
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if kind := kind_of(content):
            raise RulesError(f"rules: {name} is {kind}, not a TOML file")
        if len(content) > _MOST_BYTES:
            raise RulesError(f"rules: {name} is not a TOML file of at most {_MOST_BYTES:,} bytes")
        fields = tomllib.loads(content.decode())
    except OSError as error:
        raise RulesError(f"rules: cannot read {name}: {error.strerror}") from None
    except RulesError:
        raise
    except (ValueError, RecursionError) as error:
        raise RulesError(f"rules: {name} is not a TOML file ({error})") from None
    try:
        base = fields.pop("base", "notebook")
        if base not in [*PRESETS]:
            raise RulesError(f"rules: base is {_brief(base)}; it must be {' or '.join(PRESETS)}")
        rules = from_mapping(fields, PRESETS[base])
    except RulesError as error:
        raise RulesError(f"rules: {name}: {str(error).removeprefix('rules: ')}") from None
    if path.stem not in PRESETS:
        loaded_names.update(dict.fromkeys((rules, true_rules(rules)), path.stem))
    return rules


# Names, without suffix, of the files from which this process loaded rules.
loaded_names: dict[Rules, str] = {}


def name_of(rules: Rules) -> str:
    """Return `unique_name`, or the file's name without suffix for house rules loaded from a file."""
    name = unique_name(rules)
    return loaded_names.get(rules, name) if name.startswith("house-") else name


def unique_name(rules: Rules) -> str:
    """Return ``PRESET``, ``PRESET-REDEAL`` if only the redeal differs from a preset, or ``house-DIGEST``."""
    for name, preset in PRESETS.items():
        if preset == rules:
            return name
    for name, preset in PRESETS.items():
        if preset._replace(redeal=rules.redeal) == rules:
            return f"{name}-{rules.redeal}"
    return f"house-{rules.digest[:8]}"


def rules_report(rules: Rules) -> dict[str, Any]:
    """Return the report fields that identify rules.

    JSON keys:
        rules (string): Name of the rules.
        rules_digest (string): Digest of the fields in which the rules differ from `notebook`.
    """
    return {"rules": name_of(rules), "rules_digest": rules.digest}


def true_rules(rules: Rules) -> Rules:
    """Return ``rules`` with the redeal of two-player games, ``reshuffle``."""
    return rules._replace(redeal="reshuffle")

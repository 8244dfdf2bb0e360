"""Reader of survey files. A survey is a TOML file of points. Each point has rules, an enemy and an objective.

::

    base = "tabletop"                       # a preset or a TOML file of rules
    enemies = ["random"]
    objectives = ["reach-probability", "discounted"]
    discounts = [0.95]                      # for the objective "discounted"

    [grid]                                  # every combination of these values
    hp = [2, 3]
    damage.strike = [2, 3]

    [[points]]                              # additional rules
    hp = 4
    copies = { strike = 2, punish = 4 }

Each list in ``[grid]`` contains alternative values in the syntax of a rules file. ``copies`` and ``damage`` can instead
have a list for each card. Each ``[[points]]`` table changes fields of ``base``. Duplicate points are removed.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from punish_fast.mdp.model.limits import DEFAULT_DISCOUNT, OBJECTIVES
from punish_fast.punish.rule_changes import change_text, changes_of
from punish_fast.punish.rules import BY_CARD, FIELDS, Rules, RulesError, from_mapping, load_rules
from punish_fast.runtime.errors import PunishFastError, brief, check_allowed, is_number
from punish_fast.runtime.files import fault_of_input

MOST_POINTS = 10_000
# Maximum size of a file in bytes. The parse time of dotted keys grows with the square of their length.
_MOST_BYTES = 16_384
_KEYS = ("base", "enemies", "objectives", "discounts", "grid", "points")
_OWN = ("enemy", "objective", "discount")


class SurveyError(PunishFastError, ValueError):
    """Raised when a survey file is invalid."""


@dataclass(frozen=True)
class Point:
    """A game against an enemy, and the objective of the agent."""

    rules: Rules
    enemy: str = "random"  # name or file of the enemy, an argument of `Player`
    objective: str = "reach-probability"  # objective of the agent (see `punish_fast.mdp.objectives.solver.solve`)
    discount: float = 1.0  # discount of the objective, from 0 to 1 (1 for win probabilities)


@dataclass(frozen=True)
class Survey:
    """A survey of house rules."""

    base: Rules  # rules with which the points are compared
    points: list[Point]  # distinct points, in the order of the file

    def label(self, point: Point) -> str:
        """Describe a point by its changes to the base rules and by the fields in `varying`."""
        own = [f"{name}={getattr(point, name)}" for name in self.varying]
        return " ".join([*self._changes(point), *own]) or "base"

    def game_label(self, point: Point) -> str:
        """Describe the rules of a point by their changes to the base rules."""
        return " ".join(self._changes(point)) or "base"

    def _changes(self, point: Point) -> list[str]:
        return [change_text(name, value) for name, value in changes_of(point.rules, self.base).items()]

    @property
    def varying(self) -> list[str]:
        """Names of those fields among ``enemy``, ``objective`` and ``discount`` that differ between points."""
        found = {name: {getattr(point, name) for point in self.points} for name in _OWN}
        found["discount"] = {point.discount for point in self.points if point.objective == "discounted"}
        return [name for name, values in found.items() if len(values) > 1]


def read_survey(path: str | Path) -> Survey:
    """Read a survey from a TOML file. Raise `SurveyError` or `RulesError` if the file is invalid."""
    if fault := fault_of_input(path):
        raise SurveyError(f"{path}: {fault}")
    try:
        with Path(path).open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise SurveyError(f"{path}: is longer than {_MOST_BYTES:,} bytes, the maximum for a survey")
        return survey_of(tomllib.loads(content.decode()))
    except OSError as error:
        raise SurveyError(f"{path}: cannot be read ({error.strerror})") from None
    except (SurveyError, RulesError) as error:
        raise type(error)(str(error) if str(error).startswith(f"{path}:") else f"{path}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise SurveyError(f"{path}: is not a TOML file ({error})") from None


def survey_of(fields: Mapping[str, Any]) -> Survey:
    """Build a survey from the parsed content of a TOML file. Raise `SurveyError` or `RulesError` if it is invalid."""
    faults = [f"unknown key {brief(key)}" for key in fields if key not in _KEYS]
    if faults or not fields:
        raise SurveyError(f"{(faults or ['is empty'])[0]}; the keys are {', '.join(_KEYS)}")
    named = fields.get("base", "tabletop")
    if not isinstance(named, str):
        raise SurveyError(f"base is {brief(named)}; it must be the name of a preset or of a TOML file")
    base = load_rules(named)
    methods = _methods(fields)
    axes, listed = _axes(fields.get("grid", {})), _tables(fields.get("points", []))
    has_grid = "grid" in fields or not listed
    if "grid" in fields and not axes:
        raise SurveyError("grid is empty; it must contain a list of values, such as hp = [2, 3]")
    n_points = (prod(len(values) for _, values in axes) * has_grid + len(listed)) * len(methods)
    if n_points > MOST_POINTS:
        raise SurveyError(f"the survey has {n_points:,} points; the maximum is {MOST_POINTS:,}")
    names = [name for name, _ in axes]
    chosen = product(*(values for _, values in axes)) if has_grid else ()
    games = [_rules(base, list(zip(names, values, strict=True))) for values in chosen]
    for number, table in enumerate(listed, 1):
        try:
            games.append(from_mapping(table, base))
        except RulesError as error:
            raise SurveyError(f"points: number {number}: {_told(error)}") from None
    points = [Point(rules, *method) for rules in games for method in methods]
    return Survey(base, list(dict.fromkeys(points)))


def _methods(fields: Mapping[str, Any]) -> list[tuple[str, str, float]]:
    """Return the combinations of enemy, objective and discount."""
    defaults = {"enemies": ["random"], "objectives": ["reach-probability"], "discounts": [DEFAULT_DISCOUNT]}
    enemies, objectives, discounts = (_list(key, fields.get(key, values)) for key, values in defaults.items())
    for enemy in enemies:
        if not isinstance(enemy, str) or not enemy:
            raise SurveyError(f"enemies: {brief(enemy)} is not allowed; it must be the name of a player or of a file")
    for objective in objectives:
        if not isinstance(objective, str) or objective not in OBJECTIVES:
            raise SurveyError(f"objectives: {brief(objective)} is not allowed; it must be {' or '.join(OBJECTIVES)}")
    for discount in discounts:
        check_allowed(is_number(discount, 0, 1), SurveyError, "discounts", brief(discount), "a number from 0 to 1")
    if "discounts" in fields and "discounted" not in objectives:
        raise SurveyError("discounts require the objective discounted, which objectives does not contain")
    return [
        (enemy, objective, float(discount))
        for enemy, objective in product(enemies, objectives)
        for discount in (discounts if objective == "discounted" else [1.0])
    ]


def _axes(grid: object) -> list[tuple[str, list[Any]]]:
    if not isinstance(grid, Mapping):
        raise SurveyError(f"grid is {brief(grid)}; it must be a table of fields of the rules")
    axes: list[tuple[str, Any]] = []
    for field, values in grid.items():
        if field in FIELDS and FIELDS[field].form == BY_CARD and isinstance(values, Mapping):
            axes += [(f"{field}.{card}", each) for card, each in values.items()]
        else:
            axes.append((field, values))
    return [(name, _list(f"grid: {name}", values)) for name, values in axes]


def _rules(base: Rules, chosen: list[tuple[str, Any]]) -> Rules:
    fields: dict[str, Any] = {}
    for name, value in chosen:
        field, _, card = name.partition(".")
        if card:
            fields.setdefault(field, {})[card] = value
        else:
            fields[field] = value
    try:
        return from_mapping(fields, base)
    except RulesError as error:
        where = " ".join(change_text(name, value) for name, value in chosen)
        raise SurveyError(f"grid: {where[:120]}: {_told(error)}") from None


def _told(error: Exception) -> str:
    return str(error).removeprefix("rules: ")


def _list(name: str, values: Any) -> list[Any]:
    if not isinstance(values, list) or not values:
        raise SurveyError(f"{name} is {brief(values)}; it must be a list of the values to try")
    return values


def _tables(points: object) -> list[dict[str, Any]]:
    if not isinstance(points, list) or not all(isinstance(point, dict) for point in points):
        raise SurveyError(f"points is {brief(points)}; it must consist of tables, each under [[points]]")
    return points

"""Results of a survey as a flat table with a row for each point and a column for each quantity."""

from collections.abc import Mapping, Sequence
from typing import Any

from punish_fast.arena.survey.points import Survey
from punish_fast.arena.survey.studies import PointResult
from punish_fast.punish.rule_changes import changes_of, value_of, value_text
from punish_fast.punish.rules import CARDS, rules_report
from punish_fast.study.frequencies import PLAYS

_MODEL = ("states", "rows", "nnz", "full_states", "value", "sweeps", "error_bound", "digest")
_GAME = ("length", "first_deal", "best_response")
_GROUPS = {"in_hand": CARDS, "kept": CARDS, "plays": PLAYS}
_EQUILIBRIUM = ("iterations", "exploitability")


def table_of(survey: Survey, found: Sequence[PointResult]) -> dict[str, list[Any]]:
    """Return the columns of the table. A column has one value per point, None if unknown.

    Columns of rules that no point changes are omitted. If equilibria were studied, columns with the prefix
    ``equilibrium_`` contain the results of equilibrium play.
    """
    fields = list(dict.fromkeys(name for point in survey.points for name in changes_of(point.rules, survey.base)))
    has_equilibrium = any(each.equilibrium is not None for each in found)
    rows = [_row(each, survey, fields, has_equilibrium) for each in found]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: [row.get(name) for row in rows] for name in names}


def _row(each: PointResult, survey: Survey, fields: Sequence[str], has_equilibrium: bool) -> dict[str, Any]:
    point = each.point
    row: dict[str, Any] = {"point": survey.label(point), "game": survey.game_label(point)} | rules_report(point.rules)
    for name in fields:
        value = value_of(point.rules, name)
        row[name] = value_text(value) if isinstance(value, list) else value
    discount = point.discount if point.objective == "discounted" else None
    row |= {"enemy": point.enemy, "objective": point.objective, "discount": discount}
    row |= {name: (each.agent.result or {}).get(name) for name in _MODEL}
    row |= _flat(each.agent.result, "")
    if has_equilibrium:
        result = None if each.equilibrium is None else each.equilibrium.result
        row |= {f"equilibrium_{name}": (result or {}).get(name) for name in _EQUILIBRIUM}
        row |= _flat(result, "equilibrium_")
    row["seconds"] = each.agent.seconds + (0.0 if each.equilibrium is None else each.equilibrium.seconds)
    row["reason"] = each.reason
    return row


def _flat(result: Mapping[str, Any] | None, prefix: str) -> dict[str, Any]:
    """Return the results of `study_game` and of the best response as a row. Each name begins with ``prefix``."""
    result = result or {}
    row = {f"{prefix}{name}": result.get(name) for name in _GAME}
    for group, names in _GROUPS.items():
        values = result.get(group, {})
        row |= {f"{prefix}{group}_{name}": values.get(name) for name in names}
    return row

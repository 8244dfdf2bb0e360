"""``punish-fast show``: what a file holds, or one position of it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from punish_fast.cli.agents import game_of_learner
from punish_fast.cli.errors import UsageError
from punish_fast.cli.options import CommonOptions, argument, verb
from punish_fast.cli.report import in_units, in_words, print_table
from punish_fast.punish.rules import CARDS, name_of, to_mapping

if TYPE_CHECKING:
    from punish_fast.punish.codes import State
    from punish_fast.store.reader import Artefact

_MOST_OUTCOMES = 8


@dataclass(frozen=True, kw_only=True)
class ShowOptions(CommonOptions):
    """Options of ``show``."""

    file: Annotated[Path, argument("FILE.h5", "A tensor, an agent or a strategy.")]
    state: Annotated[str | None, argument("STATE", "An 18-digit state code: show this position.")] = None


@verb("punish-fast show naive.h5", "punish-fast show naive.h5 102012300350000300")
def show(options: ShowOptions) -> None:
    """Show what a file holds, or one position: cards, legal actions, values, and why."""
    file = _load(options.file)
    if options.state is None:
        options.print(_file_report(file), _print_file)
    else:
        options.print(_position_report(file, _parse_state(file, options.state)), _print_position)


def _load(path: Path) -> Artefact:
    from punish_fast.runtime.files import ReadError
    from punish_fast.store.reader import load

    try:
        return load(path)
    except ReadError:
        game = game_of_learner(path)
        if game is None:
            raise
        raise UsageError(f"{path}: is a learner of {game}, not a file of Punish; see: punish-fast games") from None


def _file_report(file: Artefact) -> dict[str, Any]:
    skipped = ("format", "rules", "enemy", "origin")
    attributes = {
        name: value
        for name, value in file.attributes.items()
        if isinstance(value, str | int | float) and name not in skipped
    }
    report: dict[str, Any] = {"file": str(file.path), "bytes": file.path.stat().st_size, **attributes}
    report.setdefault("tolerance", None)
    # What is not known has no number in JSON.
    report |= {name: None for name, value in report.items() if isinstance(value, float) and not math.isfinite(value)}
    report["rules"] = name_of(file.rules)
    report["fields"] = to_mapping(file.rules)
    report["shapes"] = {name: list(shape) for name, shape in file.shapes.items()}
    if file.kind in ("tensor", "agent"):
        report["enemy"] = file.enemy
        report["states_by_breath"] = [int(n) for n in file.layer_ptr[1:] - file.layer_ptr[:-1]]
    if file.origin is not None:
        report["origin"] = file.origin
    return report


def _print_file(report: dict[str, Any]) -> None:
    print(f"{report['file']}: {report['kind']}, {in_units(report['bytes'], 'B')}, written {report['created']}")
    print()
    rows = [[name, json.dumps(value)] for name, value in report["fields"].items()]
    print(f"rules {report['rules']} ({report['rules_digest']})")
    print_table(rows, left=2, indent="  ")
    if "enemy" in report:
        print(f"enemy {json.dumps(report['enemy'])}")
        print(f"states by breath {', '.join(f'{n:,}' for n in report['states_by_breath'])}")
    solved = ("discount", "objective", "schedule", "tolerance", "sweeps", "residual", "error_bound", "fingerprint")
    if report["kind"] == "agent":
        print("solution")
        print_table([[name, str(report[name])] for name in solved], left=2, indent="  ")
    if "information" in report:
        print(f"information {report['information']}")
    if "origin" in report:
        print(f"origin: {in_words(report['origin'])}")
    if "iterations" in report:
        print(f"iterations {report['iterations']:,}")
    print("datasets")
    print_table([[name, " x ".join(f"{n:,}" for n in shape)] for name, shape in report["shapes"].items()], indent="  ")


def _parse_state(file: Artefact, text: str) -> State:
    from punish_fast.punish.codes import StateError, from_decimal

    if file.kind not in ("tensor", "agent"):
        what = "a strategy" if file.kind == "strategy" else "an equilibrium"
        raise UsageError(f"{file.path}: is {what}, positions can be shown of tensors and agents")
    try:
        return from_decimal(file.layout, int(text))
    except ValueError as error:
        if isinstance(error, StateError):
            raise
        raise StateError(f"state code {text!r}: allowed are 18 digits, the first not 0") from None


def _position_report(file: Artefact, state: State) -> dict[str, Any]:
    import numpy as np

    from punish_fast.punish.codes import StateError, action_name, encode, to_decimal

    code = np.uint64(encode(file.layout, state))
    row = int(np.searchsorted(file.code, code))
    if row == len(file.code) or file.code[row] != code:
        raise StateError(f"state code {to_decimal(state)}: no game reaches it")
    state_ptr, action, _ = file.rows
    rows = range(state_ptr[row], state_ptr[row + 1])
    report: dict[str, Any] = {
        "file": str(file.path),
        "state": to_decimal(state),
        "position": state._asdict(),
        "breaths": file.rules.breaths,
        "feints": file.rules.feints,
        "unseen": _unseen(file, state),
        "actions": [{"action": int(action[r]), "name": action_name(int(action[r]))} for r in rows],
    }
    if file.kind == "agent":
        _add_values(file, row, rows, report)
    if file.has_transitions:
        best = report.get("best", 0)
        report["outcomes_of"] = report["actions"][best]["name"]
        report["outcomes"] = _outcomes(file, rows[best], state)
    return report


def _add_values(file: Artefact, row: int, rows: range, report: dict[str, Any]) -> None:
    from punish_fast.store.reader import final_values

    solution = file.solution()
    report["objective"] = solution.objective
    report["value"] = float(solution.v[row])
    best_possible, worst_possible = final_values(solution.discount, solution.objective).tolist()
    report["worst_possible"], report["best_possible"] = worst_possible, best_possible
    if solution.objective == "discounted" and solution.discount == 1:
        report["win_probability"] = (1 + report["value"]) / 2
    if solution.objective == "win-probability":
        report["win_probability"] = report["value"]
        report["lower"], report["upper"] = float(solution.lower[row]), float(solution.upper[row])
    report["best"] = int(solution.choice[row]) - rows.start
    for entry, r in zip(report["actions"], rows, strict=True):
        entry["value"] = float(solution.q[r])


def _unseen(file: Artefact, state: State) -> dict[str, Any]:
    """Copies of each card that the player cannot see, and the chance that the enemy holds at least one."""
    unseen = [c - h - d for c, h, d in zip(file.rules.copies, state.hand, state.discard, strict=True)]
    ways = comb(sum(unseen), state.enemy_hand)
    chance = [1 - comb(sum(unseen) - n, state.enemy_hand) / ways for n in unseen]
    return {
        "cards": dict(zip(CARDS, unseen, strict=True)),
        "enemy_holds_one": dict(zip(CARDS, chance, strict=True)),
        "deck": sum(unseen) - state.enemy_hand,
    }


def _outcomes(file: Artefact, row: int, state: State) -> list[dict[str, Any]]:
    """The likeliest successors of a row, the likeliest first."""
    import numpy as np

    from punish_fast.punish.codes import decode, to_decimal

    columns, p = file.row(row)
    n_states = int(file.layer_ptr[-1])
    values = file.solution().v if file.kind == "agent" else None
    outcomes = []
    for k in np.argsort(-p, kind="stable")[:_MOST_OUTCOMES]:
        column = int(columns[k])
        outcome: dict[str, Any] = {"probability": float(p[k])}
        if column >= n_states:
            outcome["successor"] = ("win", "loss")[column - n_states]
            outcome["text"] = ("you win", "you lose")[column - n_states]
        else:
            after = decode(file.layout, int(file.code[column]))
            outcome["successor"] = to_decimal(after)
            outcome["text"] = _change(state, after)
            if values is not None:
                outcome["value"] = float(values[column])
        outcomes.append(outcome)
    return outcomes


def _change(before: State, after: State) -> str:
    """What is different after a breath, in words."""
    if after.breath == 1:
        return f"new hand {_cards(after.hand)}; revealed {_cards(after.discard)}"
    parts = []
    for who, hp, then in (("you", before.own_hp, after.own_hp), ("enemy", before.enemy_hp, after.enemy_hp)):
        if hp != then:
            parts.append(f"{who} {hp} -> {then} HP")
    for who, exhausted in (("you are", after.own_exhausted), ("enemy is", after.enemy_exhausted)):
        if exhausted:
            parts.append(f"{who} exhausted")
    if after.enemy_feinted > before.enemy_feinted:
        parts.append("enemy feinted")
    joined = tuple(a - b for a, b in zip(after.discard, before.discard, strict=True))
    parts.append(f"discarded {_cards(joined)}")
    return ", ".join(parts)


def _cards(counts: tuple[int, ...]) -> str:
    names = [f"{n} {card}" if n > 1 else card for card, n in zip(CARDS, counts, strict=True) if n > 0]
    return ", ".join(names) or "nothing"


def _status(exhausted: int, feinted: int, feints: int) -> str:
    parts = ["exhausted"] if exhausted else []
    if feints:
        parts.append("has feinted" if feinted == feints else "may feint")
    return ", ".join(parts)


def _print_position(report: dict[str, Any]) -> None:
    position, unseen = report["position"], report["unseen"]
    between = position["breath"] > report["breaths"]
    print(f"state {report['state']}: {'between two measures' if between else _breath_text(report)}")
    print()
    feints = 0 if between else report["feints"]
    own = _status(position["own_exhausted"], position["own_feinted"], feints)
    enemy = _status(position["enemy_exhausted"], position["enemy_feinted"], feints)
    print_table(
        [
            ["you", f"{position['own_hp']} HP", f"{sum(position['hand'])} cards", own],
            ["enemy", f"{position['enemy_hp']} HP", f"{position['enemy_hand']} cards", enemy],
            ["deck", "", f"{unseen['deck']} cards", ""],
        ],
        left=4,
    )
    print()
    table = [["", "own hand", "discard pile", "unseen", "enemy holds one"]]
    for k, card in enumerate(CARDS):
        counts = (position["hand"][k], position["discard"][k], unseen["cards"][card])
        table.append([card, *(str(n) if n else "-" for n in counts), f"{unseen['enemy_holds_one'][card]:.1%}"])
    print_table(table)
    print()
    _print_actions(report)
    if "outcomes" in report:
        print()
        print(f"likeliest after {report['outcomes_of']}")
        is_chance = report.get("objective") == "win-probability"
        form = "{:.2%}" if is_chance else "{:+.4f}"
        rows = [["chance", "then wins" if is_chance else "value", ""]]
        for outcome in report["outcomes"]:
            value = form.format(outcome["value"]) if "value" in outcome else ""
            rows.append([f"{outcome['probability']:.2%}", value, outcome["text"]])
        print_table([[row[2], row[0], row[1]] for row in rows], indent="  ")


def _breath_text(report: dict[str, Any]) -> str:
    return f"breath {report['position']['breath']} of {report['breaths']}"


def _print_actions(report: dict[str, Any]) -> None:
    if "value" not in report:
        print("legal actions: " + ", ".join(entry["name"] for entry in report["actions"]))
        return
    if report["objective"] == "win-probability":
        form = "{:.8%}"
        print(f"wins {form.format(report['value'])}, exactly from {report['lower']:.10%} to {report['upper']:.10%}")
    else:
        form = "{:+.10f}"
        _print_value(report)
    rows = []
    for k, entry in enumerate(report["actions"]):
        rows.append([entry["name"], form.format(entry["value"]), "<- best" if k == report["best"] else ""])
    print_table(rows, indent="  ")


def _print_value(report: dict[str, Any]) -> None:
    low, high = report["worst_possible"], report["best_possible"]
    chance = f"; wins {report['win_probability']:.4%}" if "win_probability" in report else ""
    print(f"value {report['value']:+.10f} (a loss is {low:+g}, a win {high:+g}{chance})")

"""``punish-fast balance``: what a change of the rules does to the cards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from punish_fast.cli.errors import CheckError, UsageError
from punish_fast.cli.house_rules import JobProgress
from punish_fast.cli.options import (
    ComputeOptions,
    PlotOption,
    argument,
    complete_rules,
    game_rules_option,
    option,
    verb,
)
from punish_fast.cli.outputs import check_outputs, rules_files
from punish_fast.cli.report import Stopwatch, print_table, print_text
from punish_fast.runtime.printable import printable

if TYPE_CHECKING:
    from punish_fast.punish.rules import Rules

_GAME = {
    "length": "breaths a game",
    "first_deal": "first deal decides",
    "best_response": "best response wins",
}


@dataclass(frozen=True, kw_only=True)
class BalanceOptions(ComputeOptions):
    """Options of ``balance``."""

    rules: Annotated[
        str | None, argument("RULES", "Changed rules, a TOML file or a preset; without, the base.", complete_rules)
    ] = None
    set: Annotated[list[str] | None, option("Change one field of the rules; repeatable.", metavar="FIELD=VALUE")] = None
    base: Annotated[str | None, game_rules_option("tabletop")] = None
    plot: PlotOption = None


@verb(
    "punish-fast balance --set damage.strike=3 --plot strike.png",
    "punish-fast balance house.toml --set hp=4 --set copies.dodge=2",
)
def balance(options: BalanceOptions) -> None:
    """Tell what a change of the rules does to the cards: their worth and how often they are played.

    The game is the real one between two, with the true redeal.
    """
    from punish_fast.arena.balance import balance as study
    from punish_fast.arena.balance import report_of
    from punish_fast.runtime import _jit

    base, rules = _rules(options)
    check_outputs([], [*rules_files(options.rules), *rules_files(options.base)], "study", options.plot)
    clock, progress = Stopwatch(), JobProgress("balance", options.quiet)
    found = study(rules, base, watch=progress.watch)
    progress.clear()
    for outcome in (found.standard, found.changed):
        if outcome.reason is not None:
            which = "changed" if outcome is found.changed else "base"
            raise CheckError(f"the game of the {which} rules could not be studied: {outcome.reason}")
    if options.plot is not None:
        from punish_fast.arena.balance_plot import draw_balance

        draw_balance(found, options.plot)
    report = report_of(found) | {"threads": _jit.threads(), "seconds": clock.total()}
    options.print(report | {"plot": options.plot}, _print_report)


def _rules(options: BalanceOptions) -> tuple[Rules, Rules]:
    """The rules to compare with, and the changed ones; both with the true redeal."""
    from punish_fast.punish.rule_changes import changed
    from punish_fast.punish.rules import RulesError, load_rules, true_rules

    base = true_rules(load_rules(options.base or "tabletop"))
    rules = base if options.rules is None else true_rules(load_rules(options.rules))
    fields = [change.partition("=")[0].strip() + "." for change in options.set or []]
    # A list sets all of its fields, such as damage.strike.
    if twice := [x for k, x in enumerate(fields) for y in fields[:k] if x.startswith(y) or y.startswith(x)]:
        raise UsageError(f"--set: {printable(twice[0][:-1])} is set twice, allowed is each field once")
    for change in options.set or []:
        try:
            rules = changed(rules, change)
        except RulesError as error:
            raise UsageError(f"--set: {str(error).removeprefix('rules: ')}") from None
        if rules.redeal != base.redeal:
            raise UsageError("--set: redeal is not allowed, the real game always has the true redeal")
    if rules == base:
        raise UsageError("nothing is changed; name other rules, or change a field by --set, such as damage.strike=3")
    return base, rules


def _print_report(report: dict[str, Any]) -> None:
    print_text(report["finding"])
    print()
    base, changed = report["base"], report["changed"]
    titles = {
        "in_hand": "one more in the opening hand, points of win rate",
        "kept": "kept over the redeal instead of a fresh card, points",
        "plays": "share of all choices, per cent",
    }
    rows = [["", base["rules"], "changed", "difference"]]
    group = "game"
    for each in sorted(report["measures"], key=lambda each: ["game", *titles].index(each["group"])):
        if each["group"] != group:
            group = each["group"]
            rows.append([titles[group]])
        rows.append(_cells(each))
    points = [side["exploitability"] for side in (base, changed)]
    rows.insert(4, ["exploitability, points", *map("{:.2f}".format, points), f"{points[1] - points[0]:+.2f}"])
    print_table(rows)
    print()
    print_text(
        f"all numbers: equilibrium play after {report['iterations']} iterations, exact for strategies that a best "
        f"response beats by {points[0]:.1f} and {points[1]:.1f} points; small differences mean little"
    )
    if report["plot"] is not None:
        print(f"wrote {report['plot']}")


def _cells(each: dict[str, Any]) -> list[str]:
    values = each["base"], each["changed"], each["difference"]
    digits = 2 if each["name"] in ("length", "best_response") else 1
    if each["name"] == "length":
        forms, scale = ("{:.2f}", "{:.2f}", "{:+.2f}"), 1.0
    elif each["name"] == "best_response":
        # Small differences of equilibria matter.
        forms, scale = ("{:.2f} %", "{:.2f} %", "{:+.2f}"), 100.0
    elif each["group"] in ("in_hand", "kept"):
        forms, scale = ("{:+.1f}",) * 3, 100.0
    else:
        forms, scale = ("{:.1f} %", "{:.1f} %", "{:+.1f}"), 100.0
    # No -0.0.
    told = [None if value is None else round(scale * value, digits) + 0.0 for value in values]
    cells = ["-" if value is None else form.format(value) for form, value in zip(forms, told, strict=True)]
    indent = "" if each["group"] == "game" else "  "
    return [indent + _GAME.get(each["name"], each["name"]), *cells]

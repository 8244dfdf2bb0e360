"""``punish-fast balance``: show how a rule change affects the cards.

JSON keys:
    verdict (string): Verdict in words, with the most important reason first.
    needed (integer or null, seconds): Sufficient time limit for a verdict or, if the game is not balanced, for
        `--restore`. Null if the game is balanced.
    criteria (list of strings): Criteria of a balanced game.
    limits (list of objects): Number that is worst relative to each limit.
        *_limits
    change (string): Change of the rules, in words.
    finding (string or null): Most important effect of the change, in words. Null after too few iterations.
    base (object): Game with the base rules.
        *_side
    changed (object): Game with the changed rules.
        *_side
    play (string): Description of the strategies that play both games.
    iterations (object of integers by game): Number of iterations of each equilibrium, `base` and `changed`.
    statistics (list of objects): Statistics of both games.
        group (string): `game`, `in_hand`, `kept` or `plays`.
        name (string): Name of the statistic.
        base (number or null): Value under the base rules. Null if unknown.
        changed (number or null): Value under the changed rules. Null if unknown.
        difference (number or null): Changed value minus base value. Null if unknown.
    restore (object or null): Changes that might restore the balance. Null without `--restore`.
        card (string): Card with the largest absolute effect of one more copy under the changed rules.
        remedies (list of objects): Changes that were tried, the best first.
            change (string): Change.
            worth (number, from -1 to 1): Gain in win probability by one more copy of the card.
            balanced (boolean or null): True if the game is balanced with this change. Null after too few iterations.
            finding (string): Effect of the change, in words.
        screened (integer): Number of further changes that were screened.
        not_tried (list of strings): Changes that were not tried before the time limit, the most promising first.
        needed (integer or null, seconds): Sufficient time limit, if the time ended too early. Otherwise null.
    threads (integer): Number of threads.
    seconds (number, seconds): Duration of the command.
    plot (string or null): Plot file.
"""

from typing import Any

from punish_fast.cli.frame.options import ComputeOptions, PictureOptions, PlotOption, argument, game_rules, option, verb
from punish_fast.cli.frame.progress import watch_jobs
from punish_fast.cli.frame.report import CheckError, UsageError, count, print_report, print_table, print_text, say
from punish_fast.punish.rule_changes import changed
from punish_fast.punish.rules import Rules, RulesError, load_rules, true_rules
from punish_fast.runtime.errors import printable

# Maximum number of printed changes that were tried, and of those that were not tried.
_MOST_SHOWN = 5


class BalanceOptions(PictureOptions, ComputeOptions):
    """Options of ``balance``."""

    rules: str | None = argument("RULES", "Changed rules: a preset or a TOML file.  [default: --base]")
    set: list[str] | None = option("Change one field of the rules. Can be repeated.", metavar="FIELD=VALUE")
    base: str | None = game_rules("tabletop", "Base rules")
    time: float = option("Time limit. --restore uses the time that is left.", metavar="SECONDS", min=1, default=120.0)
    restore: bool = option("Search for a change of one rule that restores the balance.", default=False)
    plot: PlotOption = None


@verb(
    "punish-fast balance --set damage.strike=3 --plot strike.png",
    "punish-fast balance house.toml --set hp=4 --set copies.dodge=4",
    "punish-fast balance --set damage.strike=3 --restore --time 300",
)
def balance(options: BalanceOptions) -> None:
    """Show whether changed rules are balanced, which card decides, and how the change affects all cards.

    The command compares equilibria of the two-player game under the base rules and the changed rules.
    """
    from punish_fast.arena.survey import balance as study
    from punish_fast.arena.survey.restore import deciding_change, restore
    from punish_fast.runtime import _jit

    base, rules = _rules(options)
    options.check_outputs()
    watch = watch_jobs("balance", options.quiet)
    found = study.balance(rules, base, watch=watch, share=1 / 3 if options.restore else 1.0)
    for which, outcome in (("base", found.standard), ("changed", found.changed)):
        if outcome.reason is not None:
            told = f"the game under the {which} rules could not be studied: {outcome.reason}"
            if which == "changed" or outcome.is_final:
                raise CheckError(told)
            say(f"warning: {told}")
    if options.plot is not None:
        from punish_fast.arena.survey.balance_plot import draw_balance

        draw_balance(found, options.plot)
    report = study.report_of(found)
    if report["changed"]["balanced"] is False and (change := deciding_change(found, watch)) is not None:
        report["verdict"] += f" {change} decides: without it, the worth of cards is closest to the base rules."
    report["restore"] = restored = restore(found, watch) if options.restore else None
    report |= {"threads": _jit.threads(), "seconds": options.stages.clock.total(), "plot": options.plot}
    needed, then = (report if restored is None else restored)["needed"], ["balance", *options.given("time", "restore")]
    if needed is not None:
        then += [*["--restore"] * (options.restore or report["changed"]["balanced"] is False), "--time", needed]
    else:
        then = [*then, "--plot", "balance.png"] if options.plot is None else []
    rows = [each.row for each in found.statistics]
    options.print(report, lambda printed: _print_balance(report, rows, printed), then=then)


def _print_balance(report: dict[str, Any], rows: list[list[str]], printed: dict[str, Any]) -> None:
    """Print the changes that restore the balance, the rows of statistics, the rest of the report, and the verdict."""
    from punish_fast.arena.survey.balance import DEFAULT_ITERATIONS

    if early := [f"{n} ({side})" for side, n in report["iterations"].items() if n < DEFAULT_ITERATIONS]:
        learned = f"after {' and '.join(early)} of {DEFAULT_ITERATIONS} iterations"
        print_text(f"The time limit ended learning {learned}, so the numbers are uncertain; allow more with --time.")
    print_text(f"Criteria: {'; '.join(report['criteria'])}.")
    told = ""
    if (restored := report["restore"]) is not None:
        remedies, left = restored["remedies"], restored["not_tried"]
        for remedy in remedies[:_MOST_SHOWN]:
            print_text(remedy["finding"], "  ", "* ")
        told = " ".join(f"With {each['change']}, the game is balanced." for each in remedies if each["balanced"])
        undecided = sum(each["balanced"] is None for each in remedies)
        told = told or f"None of the changes tried restores the balance{f' ({undecided} undecided)' * (undecided > 0)}."
        if restored["needed"] is not None:
            told = f"{told if remedies else 'There was no time to try a change.'} Try --time {restored['needed']}."
        screened = f"{count(len(remedies), 'change')} tried, {count(restored['screened'], 'further change')} screened."
        left = "; ".join(left[:_MOST_SHOWN]) + f"; {len(left) - _MOST_SHOWN} more" * (len(left) > _MOST_SHOWN) or "none"
        order = " (the most promising first)" if restored["screened"] else ""
        print_text(f"{told} {screened} Not tried{order}: {left}.")
    print()
    print_table([["", "base", "changed", "difference"], *rows])
    if early:
        print_text("-: not measured before the time limit", first="\n")
    print()
    unknown = {"balanced": "undecided", "exploitability": "not measured: time limit"}
    for side in ("base", "changed"):
        values = {name: unknown.get(name) if value is None else value for name, value in printed[side].items()}
        printed[side] = {name: value for name, value in values.items() if value is not None}
    shown = ("verdict", "needed", "criteria", "limits", "restore", "statistics")
    print_report({name: value for name, value in printed.items() if name not in shown})
    print_text(f"{report['verdict']} {told}", first="\n")


def _rules(options: BalanceOptions) -> tuple[Rules, Rules]:
    """Return the base rules and the changed rules, both with the true redeal."""
    base = true_rules(load_rules(options.base or "tabletop"))
    rules = base if options.rules is None else true_rules(load_rules(options.rules))
    fields = [change.partition("=")[0].strip() + "." for change in options.set or []]
    # Setting a group such as damage also sets its fields, such as damage.strike.
    if twice := [x for k, x in enumerate(fields) for y in fields[:k] if x.startswith(y) or y.startswith(x)]:
        raise UsageError(f"--set: {printable(twice[0][:-1])} is set twice")
    try:
        rules = changed(rules, *options.set or ())
    except RulesError as error:
        raise UsageError(f"--set: {str(error).removeprefix('rules: ')}") from None
    if rules.redeal != base.redeal:
        raise UsageError("--set: redeal cannot be changed; the two-player game always has the redeal reshuffle")
    if rules == base:
        raise UsageError("no rule is changed; name other rules, or change a field with --set, such as damage.strike=3")
    return base, rules

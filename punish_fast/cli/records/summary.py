"""``punish-fast records summary``: recorded games in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from punish_fast.cli.frame.options import verb
from punish_fast.cli.frame.report import print_table
from punish_fast.cli.records.selection import PlayedRulesOption, SelectionOptions
from punish_fast.runtime.printable import printable


@dataclass(frozen=True, kw_only=True)
class SummaryOptions(SelectionOptions):
    """Options of ``records summary``."""

    rules: PlayedRulesOption = "tabletop"


@verb(
    "punish-fast records summary --db games.db",
    "punish-fast records summary --db games.db --player Joe --json",
    stage="summary",
)
def summary(options: SummaryOptions) -> None:
    """Summarise recorded games: how many, how long, how many states they visit, and who wins."""
    from punish_fast.punish.rules import load_rules
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.records.summary import read_results, summarise

    results = read_results(options.database, options.selection())
    report = summarise(results, StateSpace(load_rules(options.rules)))
    options.print({"database": str(options.database), **report}, _print_report)


def _print_report(report: dict[str, Any]) -> None:
    print_table(
        [
            ["games", f"{report['games']:,}"],
            ["breaths, by both players", f"{report['breaths']:,}"],
            ["starting states", f"{report['starting_states']:,} of {report['starting_states_in_all']:,}"],
            ["distinct states", f"{report['distinct_states']:,} of {report['states_in_all']:,}"],
        ]
    )
    if not report["games"]:
        return
    durations, correlation = report["durations"], report["correlation"]
    mean, median, longest = (durations[key] for key in ("mean", "median", "longest"))
    print(f"\na game takes {mean:.1f} breaths on average, median {median:g}, longest {longest}")
    print_table([["breaths", *durations["counts"]], ["games", *(f"{n:,}" for n in durations["counts"].values())]])
    print()
    rows = [["player", "wins", "losses", "games", "win rate"]]
    for player in report["players"]:
        name = printable(player["name"]) + (" (bot)" if player["is_bot"] else "")
        rows.append([name, *(f"{player[key]:,}" for key in ("wins", "losses", "games")), f"{player['win_rate']:.1%}"])
    print_table(rows)
    linear, rank = ("not defined" if value is None else f"{value:.3f}" for value in correlation.values())
    print(f"\ncorrelation of games played with win rate: linear {linear}, rank {rank}")

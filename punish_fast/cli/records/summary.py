"""``punish-fast records summary``: summarize recorded games.

JSON keys:
    database (string): Database.
    games (integer): Number of games.
    breaths (integer): Number of recorded choices, one for each player and breath.
    starting_states (integer): Number of different recorded states in the first breath of a measure with full HP.
    starting_states_in_all (integer): Number of states at the start of a game under the rules.
    distinct_states (integer): Number of different states in recorded games.
    states_in_all (integer): Number of states under the rules, including win and loss.
    durations (object): Lengths of games.
        mean (number or null, breaths): Mean length.
        median (number or null, breaths): Median length.
        longest (integer or null, breaths): Maximum length.
        counts (object of integers by length): Number of games of each length.
    players (list of objects): Players, with the most wins first.
        name (string): Name of the player.
        is_bot (boolean): True if the player is a bot.
        wins (integer): Number of games won.
        losses (integer): Number of games lost.
        games (integer): Number of games.
        win_rate (number, from 0 to 1): Share of games won.
    correlation (object): Correlation of players' games with their win rates.
        linear (number or null, from -1 to 1): Pearson correlation.
        rank (number or null, from -1 to 1): Spearman correlation.
"""

from typing import Any

from punish_fast.cli.frame.options import verb
from punish_fast.cli.frame.report import print_report
from punish_fast.cli.records.selection import SelectionOptions


@verb(
    "punish-fast records summary --db games.db",
    "punish-fast records summary --db games.db --people --until 2022-11-14",
    "punish-fast records summary --db games.db --player Joe --json",
    stage="summary",
)
def summary(options: SelectionOptions) -> None:
    """Summarize recorded games: their number and length, the states in them, and the results of each player."""
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.records.summary import read_results, summarize

    results = read_results(options.database, options.selection())
    report = summarize(results, StateSpace(options.played_rules()))
    then = ("records", "list", *options.source)
    options.print({"database": str(options.database), **report}, _print_summary, then=then)


def _print_summary(report: dict[str, Any]) -> None:
    lengths, states_in_all = report["durations"], report["states_in_all"] - 2  # without win and loss
    print_report(
        {name: report[name] for name in ("database", "games")}
        | {
            "recorded choices": f"{report['breaths']:,}, one per player and breath",
            "openings": f"{report['starting_states']:,} of {report['starting_states_in_all']:,} possible",
            "states": f"{report['distinct_states']:,} of {states_in_all:,} possible",
            "breaths per game": {name: lengths[name] for name in ("mean", "median", "longest")},
            "games by breaths": ", ".join(f"{length}:{n:,}" for length, n in lengths["counts"].items()),
            "correlation of games with win rate": report["correlation"],
            "players": report["players"],
        }
    )

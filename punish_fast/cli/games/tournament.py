"""``punish-fast games tournament``: the round-robin tournament of a league's last round."""

from __future__ import annotations

from typing import Any

from punish_fast.cli.games.options import LeagueOptions
from punish_fast.cli.games.rounds import league_progress, print_round
from punish_fast.cli.options import verb
from punish_fast.cli.report import Stopwatch, print_table, print_text

# Agents in the table of pairs.
_MAX_COLUMNS = 8
_SCORE = "score: mean points against all others, exact, both seats alike; 1 for a win, 1/2 for a draw"
_REMARK = "Perfect play does not seek the mistakes of others: an agent with mistakes may score more."


@verb("punish-fast games tournament tapnswap agents", "punish-fast games tournament tapnswap agents --json")
def tournament(options: LeagueOptions) -> None:
    """Rank the agents of the last round by an exact round-robin tournament."""
    clock, league = Stopwatch(), options.open("tournament")
    number = league.last_round
    with (
        options.workers(league.ranking(number) is not None) as (workers, cluster),
        clock("matches"),
        league_progress(league, "tournament", options.quiet) as step,
    ):
        names, table, places = league.tournament(number, workers, step)
    report: dict[str, Any] = {
        "game": league.game.name,
        "folder": league.folder,
        "round": number,
        "agents": names,
        "points": table.tolist(),
        "ranking": [{"agent": agent, "score": score} for agent, score in places],
        "cluster": cluster and cluster.report,
        "seconds": clock.seconds,
    }
    options.print(report, _print)


def _print(report: dict[str, Any]) -> None:
    names, points, places = report["agents"], report["points"], report["ranking"]
    print_round(report)
    print_table([["agent", "score"], *([each["agent"], f"{each['score']:.4f}"] for each in places)])
    print()
    print_text(_SCORE)
    print_text(_REMARK)
    if len(names) <= _MAX_COLUMNS:
        order = [names.index(each["agent"]) for each in places]
        rows = [[names[i], *("-" if i == j else f"{points[i][j]:.3f}" for j in order)] for i in order]
        print()
        print_table([["points of row", *(names[j] for j in order)], *rows])

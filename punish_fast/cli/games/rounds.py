"""The training of a league's round, and its report: for ``grid`` and ``retrain``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.errors import say
from punish_fast.cli.games.options import LeagueOptions, draw_curves
from punish_fast.cli.report import Progress, Stopwatch, count, print_table

if TYPE_CHECKING:
    from punish_fast.learn.league import League


@contextmanager
def league_progress(league: League, stage: str, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """Progress of a stage; after an interrupt, how to resume."""
    progress = Progress(quiet)
    try:
        with progress.stage(stage):
            yield lambda done, total: progress.step(stage, done, total)
    except KeyboardInterrupt:
        progress.clear()
        say(f"{league.folder} holds all finished work; resume with the same command")
        raise
    finally:
        progress.clear()


def train_round(league: League, number: int, options: LeagueOptions, plot: Path | None) -> None:
    """Train the agents of a round and report on them."""
    clock = Stopwatch()
    with (
        options.workers(league.is_complete(number)) as (workers, cluster),
        clock("train"),
        league_progress(league, "train", options.quiet) as step,
    ):
        reports = league.train(number, workers, step)
    draw_curves({report["name"]: report["curve"] for report in reports}, plot)
    told = {"game": league.game.name, "folder": league.folder, "round": number}
    found = {"agents": reports, "plot": plot, "cluster": cluster and cluster.report, "seconds": clock.seconds}
    options.print(told | found, _print)


def print_round(report: dict[str, Any]) -> None:
    """Print which round of which league a report is of."""
    print(f"round {report['round']} in {report['folder']}: {count(len(report['agents']), 'agent')}")
    print()


def _print(report: dict[str, Any]) -> None:
    print_round(report)
    rows = [
        [
            each["name"],
            f"{each['games']:,}",
            f"{each['win_share']:.6f}",
            str(each["mistakes"]),
            "rejected" * each["is_rejected"],
        ]
        for each in report["agents"]
    ]
    print_table([["agent", "games", "wins against random", "mistakes", ""], *rows])
    if report["plot"] is not None:
        print(f"wrote {report['plot']}")

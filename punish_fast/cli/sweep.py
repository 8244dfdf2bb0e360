"""``punish-fast sweep``: many games under house rules, studied point by point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from punish_fast.cli.clusters import ClusterOption, check_name, on_cluster
from punish_fast.cli.errors import CheckError, UsageError, say
from punish_fast.cli.house_rules import JobProgress, kept_note
from punish_fast.cli.options import ComputeOptions, PlotOption, argument, option, verb
from punish_fast.cli.outputs import check_outputs
from punish_fast.cli.report import Progress, Stopwatch, count, print_table, print_text

if TYPE_CHECKING:
    from punish_fast.arena.house_rules import PointResult
    from punish_fast.cluster.grid import Grid


@dataclass(frozen=True, kw_only=True)
class SweepOptions(ComputeOptions):
    """Options of ``sweep``."""

    grid: Annotated[Path, argument("GRID.toml", "The points: rules, enemies, objectives.")]
    results: Annotated[
        Path, option("Find results in this folder and keep them there.", metavar="FOLDER", writes=True)
    ] = Path("sweep-results")
    equilibrium: Annotated[bool, option("Approximate an equilibrium of each game, too.", "--equilibrium")] = False
    csv: Annotated[Path | None, option("Write the table to a CSV file.", metavar="FILE", writes=True)] = None
    plot: PlotOption = None
    cluster: ClusterOption = None

    @property
    def n_iterations(self) -> int | None:
        """Iterations of each equilibrium; None without equilibria."""
        from punish_fast.arena.balance import DEFAULT_ITERATIONS

        return DEFAULT_ITERATIONS if self.equilibrium else None


@verb(
    "punish-fast sweep grid.toml",
    "punish-fast sweep grid.toml --equilibrium --csv sweep.csv --plot sweep.png",
    "punish-fast sweep grid.toml --cluster tcp://host:8786",
)
def sweep(options: SweepOptions) -> None:
    """Study games under many house rules: their size and length, and what cards are worth.

    Results are kept in sweep-results; repeat the command to resume.
    """
    from punish_fast.arena.house_rules import n_missing
    from punish_fast.arena.house_rules import sweep as run_sweep
    from punish_fast.cluster.grid import read_grid
    from punish_fast.cluster.result_folder import ResultFolder

    check_name(options.cluster)
    check_outputs([options.csv], [options.grid], "sweep", options.plot)
    clock = Stopwatch()
    grid = read_grid(options.grid)
    _check_enemies(options, grid)
    results = ResultFolder(options.results)
    missing = n_missing(grid, results, options.n_iterations)
    if not options.quiet:
        say(f"{count(len(grid.points), 'point')}, {missing:,} of them to be studied; results in {options.results}")
    progress = JobProgress("sweep", options.quiet)
    with (
        on_cluster(options.cluster if missing else None, Progress(options.quiet), options.quiet) as cluster,
        kept_note(progress, options.results),
    ):
        client = None if cluster is None else cluster.client
        found = run_sweep(grid, results, options.n_iterations, client, progress.watch)
    progress.clear()
    report = _report(options, grid, found, missing, clock) | {"cluster": None if cluster is None else cluster.report}
    options.print(report, _print_report)
    failed = [each for each in found if each.reason is not None]
    if failed:
        raise CheckError(f"{len(failed):,} of {count(len(found), 'point')} could not be studied")


def _check_enemies(options: SweepOptions, grid: Grid) -> None:
    from punish_fast.arena.house_rules import find_enemies
    from punish_fast.arena.players import PlayerError

    try:
        find_enemies(grid)
    except PlayerError as error:
        raise UsageError(f"{options.grid}: {error}") from None


def _report(
    options: SweepOptions, grid: Grid, found: Sequence[PointResult], missing: int, clock: Stopwatch
) -> dict[str, Any]:
    """Everything that is printed; files are written on the way."""
    from punish_fast.arena.sweep_table import table_of
    from punish_fast.runtime import _jit

    columns = table_of(grid, found)
    if options.csv is not None:
        from punish_fast.store.formats.tables import write_csv

        write_csv(options.csv, columns)
    if options.plot is not None:
        from punish_fast.arena.sweep_plot import draw_sweep

        draw_sweep(columns, options.plot)
    return {
        "grid": options.grid,
        "results": options.results,
        "iterations": options.n_iterations,
        "studied": missing,
        "points": [_point_report(grid, each) for each in found],
        "threads": _jit.threads(),
        "seconds": clock.total(),
        "csv": options.csv,
        "plot": options.plot,
    }


def _point_report(grid: Grid, each: PointResult) -> dict[str, Any]:
    from punish_fast.punish.rule_changes import changes_of
    from punish_fast.punish.rules import name_of

    point = each.point
    return {
        "point": grid.label(point),
        "game": grid.game_label(point),
        "rules": name_of(point.rules),
        "rules_digest": point.rules.digest,
        "changes": changes_of(point.rules, grid.base),
        "enemy": point.enemy,
        "objective": point.objective,
        "discount": point.discount,
        "agent": each.agent.result,
        "equilibrium": None if each.equilibrium is None else each.equilibrium.result,
        "reason": each.reason,
        "seconds": each.agent.seconds + (0.0 if each.equilibrium is None else each.equilibrium.seconds),
    }


def _print_report(report: dict[str, Any]) -> None:
    points = report["points"]
    print(f"{count(len(points), 'point')}, {report['studied']:,} of them studied now\n")
    rows = [["game", "states", "nonzeros", "breaths", "first deal decides", "best response wins"]]
    for each in points:
        sizes = [f"{each['agent'][name]:,}" if each["agent"] else "-" for name in ("states", "nonzeros")]
        rows.append([each["point"], *sizes, *_game_cells(each["agent"])])
    print_table(rows)
    _print_cards(points, "agent", "the agent of each point, against itself")
    if report["iterations"] is not None:
        print()
        rows = [["equilibrium play", "breaths", "first deal decides", "best response wins", "exploitability, points"]]
        # It depends on the rules alone.
        games: dict[str, dict[str, Any]] = {}
        for each in points:
            games.setdefault(each["rules_digest"], each | {"point": each["game"]})
        for each in games.values():
            found = each["equilibrium"]
            rows.append([each["point"], *_game_cells(found), f"{found['exploitability']:.2f}" if found else "-"])
        print_table(rows)
        _print_cards(list(games.values()), "equilibrium", f"equilibrium play, {report['iterations']} iterations")
    if any(each["reason"] is not None for each in points):
        print()
    for each in points:
        if each["reason"] is not None:
            print_text(f"{each['point']}: {each['reason']}", "  ", "")
    written = [report[name] for name in ("csv", "plot") if report[name] is not None]
    if written:
        print()
    for path in written:
        print(f"wrote {path}")


def _game_cells(found: dict[str, Any] | None) -> list[str]:
    if found is None:
        return ["-"] * 3
    return [f"{found['length']:.2f}", f"{found['first_deal']:.1%}", f"{found['best_response']:.1%}"]


def _print_cards(points: Sequence[dict[str, Any]], player: str, who: str) -> None:
    titles = {
        "in_hand": "one more card in the opening hand, in points of win rate",
        "kept": "a card kept over the redeal instead of a fresh one, in points",
        "plays": "share of all choices, in per cent",
    }
    studied = [each[player] for each in points if each[player] is not None]
    for group, title in titles.items() if studied else ():
        print()
        print_text(f"{title} ({who})")
        names = list(studied[0][group])
        form = "{:.1f}" if group == "plays" else "{:+.1f}"
        rows = [["", *names]]
        for each in points:
            values = each[player][group] if each[player] else {}
            rows.append([each["point"], *(_cell(form, values.get(name)) for name in names)])
        print_table(rows, indent="  ")


def _cell(form: str, value: float | None) -> str:
    return "-" if value is None else form.format(100 * value)

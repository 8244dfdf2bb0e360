"""``punish-fast survey``: many games under house rules, studied point by point."""

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
    from punish_fast.cluster.survey import Survey


@dataclass(frozen=True, kw_only=True)
class SurveyOptions(ComputeOptions):
    """Options of ``survey``."""

    survey: Annotated[Path, argument("SURVEY.toml", "The points: rules, enemies, objectives.")]
    results: Annotated[Path, option("Find results in this file and keep them there.", metavar="FILE", writes=True)] = (
        Path("survey-results.jsonl")
    )
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
    "punish-fast survey survey.toml",
    "punish-fast survey survey.toml --equilibrium --csv survey.csv --plot survey.png",
    "punish-fast survey survey.toml --cluster tcp://host:8786",
)
def survey(options: SurveyOptions) -> None:
    """Study games under many house rules: their size and length, and what cards are worth.

    Results are kept in survey-results.jsonl; repeat the command to resume.
    """
    from punish_fast.arena.house_rules import n_missing, run_survey
    from punish_fast.cluster.results_file import ResultsFile
    from punish_fast.cluster.survey import read_survey

    check_name(options.cluster)
    check_outputs([options.csv, options.results], [options.survey], "survey", options.plot)
    clock = Stopwatch()
    points = read_survey(options.survey)
    _check_enemies(options, points)
    results = ResultsFile(options.results)
    missing = n_missing(points, results, options.n_iterations)
    if not options.quiet:
        say(f"{count(len(points.points), 'point')}, {missing:,} of them to be studied; results in {options.results}")
    progress = JobProgress("survey", options.quiet)
    with (
        on_cluster(options.cluster if missing else None, Progress(options.quiet), options.quiet) as cluster,
        kept_note(progress, options.results),
    ):
        client = None if cluster is None else cluster.client
        found = run_survey(points, results, options.n_iterations, client, progress.watch)
    progress.clear()
    report = _report(options, points, found, missing, clock) | {"cluster": None if cluster is None else cluster.report}
    options.print(report, _print_report)
    failed = [each for each in found if each.reason is not None]
    if failed:
        raise CheckError(f"{len(failed):,} of {count(len(found), 'point')} could not be studied")


def _check_enemies(options: SurveyOptions, points: Survey) -> None:
    from punish_fast.arena.house_rules import find_enemies
    from punish_fast.arena.players import PlayerError

    try:
        find_enemies(points)
    except PlayerError as error:
        raise UsageError(f"{options.survey}: {error}") from None


def _report(
    options: SurveyOptions, points: Survey, found: Sequence[PointResult], missing: int, clock: Stopwatch
) -> dict[str, Any]:
    """Everything that is printed; files are written on the way."""
    from punish_fast.arena.survey_table import table_of
    from punish_fast.runtime import _jit

    columns = table_of(points, found)
    if options.csv is not None:
        from punish_fast.store.formats.tables import write_csv

        write_csv(options.csv, columns)
    if options.plot is not None:
        from punish_fast.arena.survey_plot import draw_survey

        draw_survey(columns, options.plot)
    return {
        "survey": options.survey,
        "results": options.results,
        "iterations": options.n_iterations,
        "studied": missing,
        "points": [_point_report(points, each) for each in found],
        "threads": _jit.threads(),
        "seconds": clock.total(),
        "csv": options.csv,
        "plot": options.plot,
    }


def _point_report(points: Survey, each: PointResult) -> dict[str, Any]:
    from punish_fast.punish.rule_changes import changes_of
    from punish_fast.punish.rules import name_of

    point = each.point
    return {
        "point": points.label(point),
        "game": points.game_label(point),
        "rules": name_of(point.rules),
        "rules_digest": point.rules.digest,
        "changes": changes_of(point.rules, points.base),
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

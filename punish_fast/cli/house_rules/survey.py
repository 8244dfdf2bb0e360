"""``punish-fast survey``: study the game under many sets of house rules.

JSON keys:
    survey (string): Survey file.
    results (string): File of results.
    iterations (integer or null): Number of iterations of each equilibrium. Null without `--equilibrium`.
    studied (integer): Number of points studied by this run.
    points (list of objects): Points of the survey.
        point (string): Label of the point.
        game (string): Label of the point's rules.
        *rules_report
        changes (object): Fields of the rules that differ from the base, with their values.
        enemy (string): Enemy of the agent.
        objective (string): Objective of the agent.
        discount (number): Discount factor of the agent.
        agent (object or null): Result of the agent. Null for the given `reason`.
            states (integer): Number of information states, including win and loss.
            rows (integer): Number of state-action pairs.
            nnz (integer): Number of nonzeros in the transition matrix.
            value (number, values): Mean value over all openings.
            sweeps (integer): Number of sweeps.
            error_bound (number, values): Proven bound on the error of every value.
            digest (string): Digest of the values.
            full_states (integer): Number of full states.
            *study_game
            best_response (number, from 0 to 1): Win probability of the best response found.
        equilibrium (object or null): Result of the equilibrium. Null if it was not requested, or for the given
            `reason`.
            iterations (integer): Number of iterations.
            full_states (integer): Number of full states.
            *study_game
            best_response (number, from 0 to 1): Win probability of the best response found.
            exploitability (number or null, percentage points): Exploitability of the strategy. Null if a time limit
                left no time for the measurement.
        reason (string or null): Reason for a missing result.
        seconds (number, seconds): Duration of the original computation.
    threads (integer): Number of threads.
    seconds (number, seconds): Duration of the command.
    csv (string or null): CSV file.
    plot (string or null): Plot file.
    cluster (object or null): Cluster that studied the points. Null without `--cluster`.
        *Cluster
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.arena.survey.results_file import ResultsFile
from punish_fast.cli.frame.clusters import ClusterOption, check_name, on_cluster
from punish_fast.cli.frame.options import ComputeOptions, PictureOptions, PlotOption, argument, option, verb
from punish_fast.cli.frame.outputs import check_inputs
from punish_fast.cli.frame.progress import interrupt_note, watch_jobs
from punish_fast.cli.frame.report import CheckError, UsageError, count, print_report, say
from punish_fast.punish.rule_changes import changes_of
from punish_fast.punish.rules import rules_report

if TYPE_CHECKING:
    from punish_fast.arena.survey.points import Survey
    from punish_fast.arena.survey.studies import PointResult


# Titles of tables of cards.
_TITLES = {
    "in_hand": "one more card in the opening hand (points)",
    "kept": "a card kept instead of a fresh one (points)",
    "plays": "share of all choices (%)",
}
# Headings of columns, by name. Shares are in percent.
_SCALARS = {"point": "point", "states": "states", "nnz": "nnz", "length": "breaths per game"}
_SCALARS |= {"exploitability": "exploitability (points)", "reason": "reason"}
_SHARES = {"first_deal": "end before the first redeal (%)", "best_response": "won by the best response (%)"}


class SurveyOptions(PictureOptions, ComputeOptions):
    """Options of ``survey``."""

    survey: Path = argument("SURVEY.toml", "File that lists the games to solve: rules, enemies and objectives.")
    results: Path = option("Save and reuse results in this file.", writes=True, default=Path("survey-results.jsonl"))
    equilibrium: bool = option("Also approximate an equilibrium of each game.", default=False)
    csv: Path | None = option("Write the table to this CSV file.", writes=True)
    plot: PlotOption = None
    heat_map: bool = option("Plot a heat map with numbers instead of points.", default=False)
    cluster: ClusterOption = None


@verb(
    "punish-fast survey survey.toml",
    "punish-fast survey survey.toml --equilibrium --csv survey.csv --plot survey.png",
    "punish-fast survey survey.toml --cluster tcp://host:8786",
)
def survey(options: SurveyOptions) -> None:
    """Study games under many sets of house rules: their size and length, and the value of cards.

    Results are saved in survey-results.jsonl. Repeat the command to resume.
    """
    from punish_fast.arena.players import PlayerError
    from punish_fast.arena.survey.balance import DEFAULT_ITERATIONS
    from punish_fast.arena.survey.points import read_survey
    from punish_fast.arena.survey.studies import jobs_of, n_missing, run_survey
    from punish_fast.arena.survey.table import table_of
    from punish_fast.runtime import _jit

    check_name(options.cluster)
    check_inputs(options.survey)
    options.check_outputs(options.csv, options.results)
    points, iterations = read_survey(options.survey), DEFAULT_ITERATIONS if options.equilibrium else None
    try:
        jobs = jobs_of(points, iterations)
    except PlayerError as error:
        raise UsageError(f"{options.survey}: {error}") from None
    results = ResultsFile(options.results)
    missing = n_missing(jobs, results)
    if not options.quiet:
        say(f"{count(len(points.points), 'point')}, {missing:,} still to be studied; results in {options.results}")
    with (
        on_cluster(options.cluster if missing else None, options.stages.progress, options.quiet) as cluster,
        interrupt_note(options.results, "the results of all finished jobs"),
    ):
        watch = watch_jobs("survey", options.quiet)
        found = run_survey(points, results, iterations, cluster and cluster.client, watch, jobs)
    columns = table_of(points, found)
    if options.csv is not None:
        from punish_fast.runtime.files import write_csv

        write_csv(options.csv, columns)
    if options.plot is not None:
        from punish_fast.arena.survey.plot import draw_survey

        draw_survey(columns, options.plot, options.heat_map)
    report = {
        "survey": options.survey,
        "results": options.results,
        "iterations": iterations,
        "studied": missing,
        "points": [_point_report(points, each) for each in found],
        "threads": _jit.threads(),
        "seconds": options.stages.clock.total(),
        "csv": options.csv,
        "plot": options.plot,
        "cluster": cluster and cluster.report,
    }
    result = f"{count(len(found), 'point')} studied; the results are in {options.results}."
    more = ["--plot", "survey.png"] * (options.plot is None) if options.equilibrium else ["--equilibrium"]
    then = ("survey", *options.given(), *more) if more else ()
    options.print(report, _print_report, result=result, then=then)
    if n_failed := sum(each.reason is not None for each in found):
        raise CheckError(f"{n_failed:,} of {count(len(found), 'point')} could not be studied")


def _point_report(points: Survey, each: PointResult) -> dict[str, Any]:
    point = each.point
    return {
        "point": points.label(point),
        "game": points.game_label(point),
        **rules_report(point.rules),
        "changes": changes_of(point.rules, points.base),
        **{name: getattr(point, name) for name in ("enemy", "objective", "discount")},
        "agent": each.agent.result,
        "equilibrium": None if each.equilibrium is None else each.equilibrium.result,
        "reason": each.reason,
        "seconds": each.agent.seconds + (0.0 if each.equilibrium is None else each.equilibrium.seconds),
    }


def _print_report(report: dict[str, Any]) -> None:
    points = report.pop("points")
    games = {each["rules_digest"]: {"point": each["game"], "equilibrium": each["equilibrium"]} for each in points}
    tables = {"points": [{"point": each["point"]} | _scalars(each["agent"]) | _scalars(each) for each in points]}
    for player, studied in (("agent", points), ("equilibrium", list(games.values()))):
        found = [{"point": each["point"], **each[player]} for each in studied if each[player]]
        if player == "equilibrium" and found:
            tables[player] = [_scalars(each) for each in found]
        for group, title in _TITLES.items() if found else ():
            tables[f"{title}, {player}"] = [{"point": each["point"]} | _percent(each[group]) for each in found]
    print_report(report | tables)


def _percent(shares: dict[str, float | None]) -> dict[str, float | None]:
    return {name: None if share is None else round(100 * share, 1) for name, share in shares.items()}


def _scalars(each: dict[str, Any] | None) -> dict[str, Any]:
    each = each or {}
    shares = {_SHARES[name]: x for name, x in _percent({k: each[k] for k in _SHARES if k in each}).items()}
    return {heading: each[name] for name, heading in _SCALARS.items() if name in each} | shares

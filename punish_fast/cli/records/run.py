"""What the commands of ``punish-fast games`` do."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from punish_fast.cli.errors import UsageError, say
from punish_fast.cli.outputs import check_outputs
from punish_fast.cli.plots import drawing
from punish_fast.cli.report import print_json, print_table
from punish_fast.punish.rules import load_rules
from punish_fast.punish.space import StateSpace
from punish_fast.records.choices import Selection
from punish_fast.records.database import RecordsError
from punish_fast.records.importing import import_logs
from punish_fast.records.logs import LAYOUTS, write_log
from punish_fast.records.players import anonymise_player, delete_player, games_of_player
from punish_fast.records.results import read_results
from punish_fast.records.summary import summarise
from punish_fast.runtime.files import explain, replacing


@dataclass(frozen=True)
class ImportOptions:
    """How to import: by which rules, how strictly, and where to list what was found."""

    rules: str
    strict: bool
    report: Path | None


@dataclass(frozen=True)
class ExportOptions:
    """How to write a log, and where; to stdout if ``output`` is None."""

    layout: str
    output: Path | None


def import_command(files: list[Path], database: Path, options: ImportOptions, as_json: bool) -> None:
    """Run ``punish-fast games import``."""
    rules = load_rules(options.rules)
    if options.report is not None:
        check_outputs([options.report], [database, *files], "read")
    report = import_logs(StateSpace(rules), files, database, options.strict).as_mapping()
    if options.report is not None:
        _write_text(options.report, json.dumps(report, indent=2) + "\n")
    if as_json:
        print_json(report)
        return
    print(
        f"{_count(len(files), 'log')}, {_count(report['games'], 'game')}: {report['imported']:,} imported, "
        f"{report['known']:,} known, {report['rejected']:,} rejected"
    )
    for title in ("rejected", "warnings"):
        kinds = report[f"{title}_by_kind"]
        if kinds:
            print(title)
            print_table([[kind, f"{n:,}"] for kind, n in kinds.items()], indent="  ")
    if report["remarks"]:
        where = f"listed in {options.report}" if options.report else "--report FILE lists them"
        print(f"{_count(len(report['remarks']), 'remark')}: {where}")


def summary_command(database: Path, selection: Selection, rules_name: str, as_json: bool) -> None:
    """Run ``punish-fast games summary``."""
    rules = load_rules(rules_name)
    report = {"database": str(database), **summarise(read_results(database, selection), rules)}
    space = StateSpace(rules)
    # Win and loss count as states.
    report |= {"starting_states_in_all": space.n_openings, "states_in_all": space.n_states + 2}
    if as_json:
        print_json(report)
    else:
        _print_summary(report)


def _print_summary(report: dict[str, Any]) -> None:
    durations, correlation = report["durations"], report["correlation"]
    rows = [
        ["games", f"{report['games']:,}"],
        ["breaths, by both players", f"{report['breaths']:,}"],
        ["starting states", f"{report['starting_states']:,} of {report['starting_states_in_all']:,}"],
        ["distinct states", f"{report['distinct_states']:,} of {report['states_in_all']:,}"],
    ]
    print_table(rows)
    if not report["games"]:
        return
    print()
    print(
        f"a game takes {durations['mean']:.1f} breaths, median {durations['median']:g}, longest {durations['longest']}"
    )
    print_table([["breaths", *durations["counts"]], ["games", *(f"{n:,}" for n in durations["counts"].values())]])
    print()
    table = [["player", "wins", "losses", "games", "win rate"]]
    for player in report["players"]:
        name = _printable(player["name"]) + (" (bot)" if player["is_bot"] else "")
        counts = (f"{player[key]:,}" for key in ("wins", "losses", "games"))
        table.append([name, *counts, f"{player['win_rate']:.1%}"])
    print_table(table)
    print()
    texts = ["not defined" if value is None else f"{value:.3f}" for value in correlation.values()]
    print(f"correlation of games played with win rate: linear {texts[0]}, rank {texts[1]}")


def plot_command(database: Path, selection: Selection, kind: str, output: Path | None, as_json: bool) -> None:
    """Run ``punish-fast games plot``."""
    from punish_fast.records.plots import PLOTS

    if kind not in (*PLOTS, "all"):
        raise UsageError(f"plot is {kind!r}, allowed are {', '.join(PLOTS)} and all")
    results = read_results(database, selection)
    if kind != "all":
        files = [output or Path(f"{kind}.png")]
        _draw(kind, results, files[0], selection.player)
    else:
        folder = output or Path()
        if not folder.is_dir():
            raise UsageError(f"{folder}: is no folder; one is needed for all plots")
        files = []
        for each in PLOTS:
            try:
                _draw(each, results, folder / f"{each}.png", selection.player)
            except RecordsError as error:
                if len(results) == 0:
                    raise
                say(f"{each}: {error}")
            else:
                files.append(folder / f"{each}.png")
    if as_json:
        print_json({"database": str(database), "games": len(results), "files": [str(file) for file in files]})
    else:
        print("\n".join(f"wrote {file}" for file in files))


def _draw(kind: str, results: Any, path: Path, player: str | None) -> None:
    from punish_fast.records.plots import draw

    with drawing(path):
        draw(kind, results, path, player)


def player_command(name: str, database: Path, wanted: dict[str, bool], options: ExportOptions, as_json: bool) -> None:
    """Run ``punish-fast games player``."""
    verbs = [verb for verb, is_wanted in wanted.items() if is_wanted]
    if len(verbs) != 1:
        raise UsageError(f"{' and '.join(verbs) or 'nothing'} is asked for, needed is one of {', '.join(wanted)}")
    if verbs[0] == "--export":
        _export(name, database, options, as_json)
        return
    if options.output is not None:
        raise UsageError(f"--output goes with --export, not with {verbs[0]}")
    report: dict[str, Any] = {"database": str(database), "player": name}
    if verbs[0] == "--anonymise":
        report["alias"] = anonymise_player(database, name)
        text = f"{_printable(name)} is now {report['alias']}"
    else:
        report["games"], report["breaths"] = delete_player(database, name)
        text = f"deleted {_printable(name)}: {_count(report['games'], 'game')}, {_count(report['breaths'], 'breath')}"
    if as_json:
        print_json(report)
    else:
        print(text)


def _export(name: str, database: Path, options: ExportOptions, as_json: bool) -> None:
    if options.layout not in LAYOUTS:
        raise UsageError(f"layout is {options.layout!r}, allowed are {' and '.join(LAYOUTS)}")
    if as_json and options.output is None:
        raise UsageError("--json and --export go together only with --output")
    if options.output is not None:
        check_outputs([options.output], [database], "read")
    games = games_of_player(database, name)
    text = write_log(games, options.layout)
    if options.output is None:
        print(text, end="")
        return
    _write_text(options.output, text)
    report = {"database": str(database), "player": name, "games": len(games), "file": str(options.output)}
    if as_json:
        print_json(report)
    else:
        print(f"wrote {options.output} ({_count(len(games), 'game')})")


def _write_text(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        try:
            temporary.write_text(text, encoding="utf-8")
        except OSError as error:
            raise explain(path, error) from None


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def _printable(name: str) -> str:
    """A name that does nothing to a terminal."""
    return name if name.isprintable() else ascii(name)

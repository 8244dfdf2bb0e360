"""The results file: one line of JSON for each benchmark of each run, the newest last.

Only full runs whose results agree are kept: quick ones measure toy games, and the speed of a wrong result is of no
interest. The tables of docs/benchmarks.md are made from the last line of each benchmark.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from bench.benchmark import REGISTER, Report, ReportError, from_mapping
from bench.child import ROOT

RESULTS = ROOT / "bench" / "results.jsonl"


class ResultsError(Exception):
    """A results file that cannot be read; the message names the line."""


def belongs(report: Report) -> bool:
    """Whether a report is kept."""
    return report.ok and not report.quick and bool(report.measurements)


def append(reports: Iterable[Report], path: Path = RESULTS) -> None:
    """Add a line for each report that is kept."""
    lines = [json.dumps(report.to_mapping(), allow_nan=False) + "\n" for report in reports if belongs(report)]
    if lines:
        with path.open("a", encoding="utf-8") as file:
            file.writelines(lines)


def read(path: Path = RESULTS) -> list[Report]:
    """All reports of a results file, the newest last; none if there is no file.

    Raises:
        ResultsError: a line is not a report.
    """
    if not path.exists():
        return []
    reports = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            reports.append(from_mapping(json.loads(line)))
        except (ReportError, ValueError) as error:
            raise ResultsError(f"{path.name}, line {number}: {error}") from None
    return reports


def newest(reports: Iterable[Report]) -> list[Report]:
    """The last report of each benchmark, in the order of the register."""
    last = {report.benchmark: report for report in reports}
    return [last[name] for name in REGISTER if name in last]

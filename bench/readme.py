"""The README's section on speed: a table for each benchmark, from the newest lines of the results file.

It stands between two comments and is replaced as a whole, so the README never says anything that was not measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench.benchmark import Measurement, Report
from bench.child import ROOT
from bench.results import RESULTS, newest, read
from bench.tables import count, fact, markdown, seconds

README = ROOT / "README.md"
BEGIN = "<!-- results: begin (python -m bench readme) -->"
END = "<!-- results: end -->"

# What the tables call the columns; other facts stay in the results file.
COLUMNS = {
    "peers": ("times ours", "peak MB", "within"),
    "limit": ("GB/s", "share", "of"),
    "iteration": ("at best", "ratio", "near", "successors/us"),
    "refill": ("tensor MB",),
    "scaling": ("states", "nonzeros", "tensor MB", "peak MB"),
    "startup": ("peak MB",),
    "reference": (),
}
TITLES = {
    "reference": "Against the same model in plain Python",
    "peers": "Against others on the same tensor",
    "limit": "Against the memory",
    "iteration": "Learning an equilibrium, pass by pass",
    "refill": "Against another enemy",
    "scaling": "As games and threads grow",
    "startup": "From the command line",
}
PACKAGES = ("python", "numpy", "numba", "quantecon", "mdpsolver", "stormpy")


class ReadmeError(Exception):
    """A README without a place for the results; the message says what is missing."""


def section_of(reports: Sequence[Report]) -> str:
    """The text between the comments."""
    lines: list[str] = []
    for report in reports:
        lines += [f"**{TITLES[report.benchmark]}**", ""]
        lines += markdown(_table(report))
        lines += ["", *(_verdict(report)), ""]
    return "\n".join([*_provenance(reports), "", *lines]).strip()


def _provenance(reports: Sequence[Report]) -> list[str]:
    """When, where and with what: a line for each set of benchmarks that have it in common."""
    if not reports:
        return ["Nothing has been measured yet."]
    shared: dict[str, list[str]] = {}
    for report in reports:
        shared.setdefault(_circumstances(report), []).append(report.benchmark)
    if len(shared) == 1:
        return [f"{next(iter(shared))}."]
    return [f"- {', '.join(names)}: {text}." for text, names in shared.items()]


def _circumstances(report: Report) -> str:
    machine, versions = report.provenance["machine"], report.provenance["versions"]
    packages = ", ".join(f"{name} {versions[name]}" for name in PACKAGES if name in versions)
    where = f"{machine['cpu']}, {count(machine['cores'], 'core')}"
    commit = report.provenance["commit"]
    date = report.provenance["date"][:10]
    return f"Medians of {count(report.runs, 'run')} on {date} at commit {commit}: {where}; {packages}"


def _table(report: Report) -> list[list[str]]:
    columns = [name for name in COLUMNS[report.benchmark] if any(name in m.facts for m in report.measurements)]
    rows = [["", "seconds", *columns]]
    return rows + [_row(measurement, columns) for measurement in report.measurements]


def _row(measurement: Measurement, columns: Sequence[str]) -> list[str]:
    facts = [fact(measurement.facts[name]) if name in measurement.facts else "" for name in columns]
    return [measurement.name, seconds(measurement.median), *facts]


def _verdict(report: Report) -> list[str]:
    lines = []
    for target in report.targets:
        verdict = "reached" if target.ok else "missed"
        lines.append(f"- {target.name}: {fact(target.value)} (target {target.sign} {target.bound:,g}, {verdict})")
    return lines


def replaced(text: str, section: str) -> str:
    """The README ``text`` with ``section`` between the comments.

    Raises:
        ReadmeError: the comments are missing.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ReadmeError(f"README: {BEGIN if not begin else END} is missing")
    return f"{before}{BEGIN}\n\n{section}\n\n{END}{after}"


def update(readme: Path = README, results: Path = RESULTS) -> bool:
    """Bring the README in step with the results file; return whether it changed.

    Raises:
        ReadmeError: it has no place for them.
        ResultsError: the results file cannot be read.
    """
    text = readme.read_text(encoding="utf-8")
    wanted = replaced(text, section_of(newest(read(results))))
    if wanted == text:
        return False
    readme.write_text(wanted, encoding="utf-8")
    return True

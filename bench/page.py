"""The page ``docs/benchmarks.md``: a table for each benchmark, from the newest lines of the results file.

The page is always written as a whole, so it says nothing that was not measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench.benchmark import NOTE, Measurement, Report
from bench.child import ROOT
from bench.contenders import FAMILIES
from bench.results import RESULTS, newest, read
from bench.tables import count, fact, markdown, seconds

PAGE = ROOT / "docs" / "benchmarks.md"
INTRODUCTION = """\
# Benchmarks

`python -m bench page` writes this page from `bench/results.jsonl`; do not edit it. To measure, in a clone:

```text
pip install -e ".[bench,plot]"
python -m bench            # everything; python -m bench peers limit: only these; --quick: a smoke test
python -m bench page
```

Ratios matter: they are measured side by side in one run. Absolute times are those of one machine.

* *Solving* means values proved to be within 1e-9 of the optimal ones, or of the true win probabilities, by each
  solver's own stopping rule. Times are kept only if all results agree. Loading the tensor is not counted.
* QuantEcon and Storm use one thread. QuantEcon and MDPSolver have no terminal states; with *terminals given* they start
  from the exact values of win and loss. Storm computes the undiscounted win probability.
* *Processes that are not Punish* (`bench/processes`) come in sizes of 10^6 (middle) and 10^7 transitions (large), at
  three discounts, or for the largest probability of reaching a terminal. *Solving* them means values within 1e-6. The
  column of a program is the time of its fastest solver over ours, with all threads that either can use: below 1 we
  lose. Solvers are stopped at five times the time of the fastest one (`>`), and then left out at the larger size. Storm
  alone brackets such probabilities. pymdptoolbox needs more memory than there is for most of them.
* The time of plain Python (`bench/reference.py`) is extrapolated from a sample of the states.
* *At best* is the time to move the arrays of a pass once, and *near* that of the pass with all successors side by side
  in the cache. The gap between the two is computation; the rest is cache misses.
"""

# Columns of the tables; other facts stay in the results file.
COLUMNS = {
    "peers": ("times ours", "peak MB", "within"),
    "mdp": ("ours", "1 thread", *FAMILIES, "best", "best peer"),
    "limit": ("GB/s", "share", "of"),
    "iteration": ("at best", "ratio", "near", "successors/us"),
    "refill": ("tensor MB",),
    "scaling": ("states", "nonzeros", "tensor MB", "peak MB"),
    "startup": ("peak MB",),
    "reference": (),
}
TITLES = {
    "reference": "The same model in plain Python",
    "peers": "Other solvers on the same tensor",
    "mdp": "Processes that are not Punish",
    "limit": "Memory bandwidth",
    "iteration": "One iteration of equilibrium learning, pass by pass",
    "refill": "The next enemy: refill or rebuild",
    "scaling": "Larger games, more threads",
    "startup": "The command line",
}
PACKAGES = ("python", "numpy", "numba", "quantecon", "mdpsolver", "pymdptoolbox", "stormpy")


def page_of(reports: Sequence[Report]) -> str:
    """The page."""
    lines = [INTRODUCTION, *_provenance(reports), ""]
    for report in reports:
        lines += [f"## {TITLES[report.benchmark]}", "", *markdown(_table(report)), "", *_verdict(report), ""]
    return "\n".join(lines).strip() + "\n"


def _provenance(reports: Sequence[Report]) -> list[str]:
    """Date, machine and versions: one line for each group of benchmarks that share them."""
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
    lines = [f"- {report.facts[NOTE]}"] if NOTE in report.facts else []
    for target in report.targets:
        verdict = "reached" if target.ok else "missed"
        lines.append(f"- {target.name}: {fact(target.value)} (target {target.sign} {target.bound:,g}, {verdict})")
    return lines


def update(page: Path = PAGE, results: Path = RESULTS) -> bool:
    """Write the page; return whether it changed.

    Raises:
        ResultsError: the results file cannot be read.
    """
    wanted = page_of(newest(read(results)))
    if page.exists() and page.read_text(encoding="utf-8") == wanted:
        return False
    page.write_text(wanted, encoding="utf-8")
    return True

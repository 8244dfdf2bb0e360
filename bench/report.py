"""Reports as text for a terminal, and as the page ``docs/benchmarks.md`` from the newest lines of the results file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.contenders import FAMILIES
from bench.harness import ROOT, Fact, Measurement, Report, Target, newest

PAGE = ROOT / "docs" / "benchmarks.md"
# The benchmarks and their titles, in the order of the page.
TITLES = {
    "reference": "The same model in plain Python",
    "peers": "Other solvers on the same tensor",
    "mdp": "Processes that are not Punish",
    "scaling": "Larger games, more threads",
    "startup": "The command line",
}
# Columns of the page; other facts are only in the results file.
COLUMNS = {
    "reference": (),
    "peers": ("times ours", "peak MB"),
    "mdp": ("1 thread", *(name for name in FAMILIES if name != "pymdptoolbox")),
    "scaling": ("states", "nonzeros", "peak MB"),
    "startup": ("peak MB",),
}
# Sizes of processes on the page, and their headings.
SIZES = {"middle": "**10^6 transitions**", "large": "**10^7 transitions**"}
_PACKAGES = ("python", "numpy", "numba", "quantecon", "mdpsolver", "pymdptoolbox", "stormpy")
_INTRODUCTION = """\
# Benchmarks

![Seconds that programs need for the same tasks](speed.png)

`python -m bench page` writes this page. To measure, in a clone:

```text
pip install -e . --group bench    # with pip 25.1 or later
python -m bench            # everything; python -m bench peers scaling: only these; --quick: a smoke test
python -m bench page
```

Compare ratios, not times. Lines below tables are missed targets.

* A solver ends when its own stopping rule proves values to be within 1e-9 (for other processes 1e-6). Times are
  reported only if all results agree. Loading is not counted.
* QuantEcon and Storm use one thread. With *terminals given*, solvers start from the values of win and loss.
* Other processes (`bench/processes`) have a discount or a *reachability* objective. A program's column is the time of
  its fastest solver divided by ours: below 1, it is faster. Solvers are stopped at five times the fastest time (`>`)
  and then left out at the larger size (`-`). pymdptoolbox exceeds memory or time at all tasks.
"""

Table = list[list[str]]


def markdown(table: Table) -> list[str]:
    """Return rows as the lines of a Markdown table."""
    head, *rows = table
    return [f"| {' | '.join(row)} |" for row in [head, ["---", *["---:"] * (len(head) - 1)], *rows]]


def aligned(table: Table) -> list[str]:
    """Return rows as lines for a terminal, with the first column aligned left and the others right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    rows = [[row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in table]
    return ["  ".join(row).rstrip() for row in rows]


def count(number: int, noun: str) -> str:
    """Return a number with its noun: 1 run, 2 runs."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def fact(value: Fact) -> str:
    """Return a fact as text: whole numbers in groups of three, others with three significant digits."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if value != 0 and abs(value) < 1e-4:
        return f"{value:.1e}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:#.3g}".rstrip(".")


def text_of(report: Report) -> str:
    """Return a report as text for a terminal."""
    kind = f"{'quick, ' if report.quick else ''}rules {report.rules}"
    names = dict.fromkeys(name for each in report.measurements for name in each.facts if ":" not in name)
    lines = [f"{report.benchmark} ({kind}, {count(report.runs, 'run')}, {count(report.threads, 'thread')})", ""]
    lines += aligned(_table(report.measurements, list(names)))
    lines += [f"{name}: {fact(value)}" for name, value in report.facts.items()]
    for check in report.checks:
        verdict = "ok" if check.ok else "WRONG"
        lines.append(f"{check.name}: results differ by {check.difference:.1e}, limit {check.limit:.1e}: {verdict}")
    lines += [f"not measured: {problem}" for problem in report.problems]
    return "\n".join([*lines, *map(_target, report.targets)])


def _table(measurements: Sequence[Measurement], columns: Sequence[str]) -> Table:
    rows = [["", "seconds", *columns]]
    for each in measurements:
        facts = [fact(each.facts[name]) if name in each.facts else "" for name in columns]
        rows.append([each.name, fact(float(each.median)), *facts])
    return rows


def _page_tables(report: Report) -> Iterator[str]:
    """Yield the lines of the tables of a benchmark: one, or one for each size of a process.

    Reasons for missing times, and times of parts, are only in the results file.
    """
    for size, heading in SIZES.items() if report.benchmark == "mdp" else [("", "")]:
        measurements = [each for each in report.measurements if size in each.name and ":" not in each.name]
        columns = [name for name in COLUMNS[report.benchmark] if any(name in each.facts for each in measurements)]
        rows = _table(measurements, ["ours", *columns])[1:]
        short = [[re.sub("over (.* s).*", r"> \1", cell).replace("left out", "-") for cell in row] for row in rows]
        table = [[row[0].replace(f" {size},", ","), row[2] or row[1], *row[3:]] for row in short]
        yield from (heading, "") if heading else ()
        yield from (*markdown([["", "seconds", *columns], *table]), "")


def _target(each: Target) -> str:
    return f"- {each.name}: {fact(each.value)} (target {each.text}, {'reached' if each.ok else 'missed'})"


def page_of(reports: Mapping[str, Report]) -> str:
    """Return the page, from the newest report of each benchmark."""
    found = [reports[name] for name in TITLES if name in reports]
    shared: dict[str, list[str]] = {}
    for report in found:
        shared.setdefault(_circumstances(report), []).append(report.benchmark)
    origins = [f"{text}." for text in shared]
    if len(shared) > 1:
        origins = [f"- {', '.join(names)}: {text}." for text, names in shared.items()]
    lines = [_INTRODUCTION, *origins, ""]
    for report in found:
        missed = [_target(each) for each in report.targets if not each.ok]
        lines += [f"## {TITLES[report.benchmark]}", "", *_page_tables(report), *missed, ""]
    return re.sub("\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def _circumstances(report: Report) -> str:
    machine, versions = report.provenance["machine"], report.provenance["versions"]
    packages = ", ".join(f"{name} {versions[name]}" for name in _PACKAGES if name in versions)
    date, commit = report.provenance["date"][:10], report.provenance["commit"]
    where = f"{machine['cpu']}, {count(machine['cores'], 'core')}"
    return f"Medians of {count(report.runs, 'run')} on {date} at commit {commit}: {where}, {packages}"


def update(page: Path = PAGE) -> bool:
    """Write the page; return True if it changed."""
    wanted = page_of(newest())
    is_new = not page.exists() or page.read_text(encoding="utf-8") != wanted
    page.write_text(wanted, encoding="utf-8")
    return is_new

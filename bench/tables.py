"""Reports as tables, for a terminal and for Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from bench.benchmark import Fact, Measurement, Report

Table = list[list[str]]


def text_of(report: Report) -> str:
    """A report for people at a terminal."""
    kind = "quick, " if report.quick else ""
    title = f"{report.benchmark} ({kind}rules {report.rules}, {count(report.runs, 'run')}, "
    lines = [f"{title}{count(report.threads, 'thread')})", ""]
    lines += aligned(table_of(report.measurements)) if report.measurements else ["nothing was measured"]
    notes = [f"{name}: {fact(value)}" for name, value in report.facts.items()]
    notes += [
        f"{check.name}: results differ by {check.difference:.1e}, allowed is {check.limit:.1e}: "
        f"{'ok' if check.ok else 'WRONG'}"
        for check in report.checks
    ]
    notes += [f"not measured: {problem}" for problem in report.problems]
    if notes:
        lines += ["", *notes]
    if report.targets:
        lines += ["", *aligned(targets_of(report))]
    return "\n".join(lines)


def table_of(measurements: Sequence[Measurement]) -> Table:
    """Medians, minima and maxima in seconds, and a column for each fact; those with a colon are for files only."""
    every = dict.fromkeys(name for measurement in measurements for name in measurement.facts)
    names = [name for name in every if ":" not in name]
    rows = [["", "seconds", "min", "max", *names]]
    for measurement in measurements:
        spread = (measurement.median, min(measurement.seconds), max(measurement.seconds))
        facts = [fact(measurement.facts[name]) if name in measurement.facts else "" for name in names]
        rows.append([measurement.name, *map(seconds, spread), *facts])
    return rows


def targets_of(report: Report) -> Table:
    """Targets and verdicts."""
    rows = [["target", "reached", "wanted", "verdict"]]
    for target in report.targets:
        verdict = "ok" if target.ok else "missed"
        rows.append([target.name, fact(target.value), f"{target.sign} {target.bound:,g}", verdict])
    return rows


def aligned(table: Table) -> list[str]:
    """The rows as lines of a terminal: the first column to the left, the others to the right."""
    widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    lines = []
    for row in table:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return lines


def markdown(table: Table) -> list[str]:
    """The rows as lines of a Markdown table."""
    head, *rows = table
    rule = ["---", *["---:"] * (len(head) - 1)]
    return [f"| {' | '.join(row)} |" for row in [head, rule, *rows]]


def count(number: int, noun: str) -> str:
    """A number with its noun: 1 run, 2 runs."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def seconds(duration: float) -> str:
    """A duration with three significant digits: 0.0141, 1.32, 660."""
    return _significant(duration)


def fact(value: Fact) -> str:
    """A fact: whole numbers in groups of three, others with three significant digits."""
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else _significant(value)


def _significant(number: float) -> str:
    if number != 0 and abs(number) < 1e-4:
        return f"{number:.1e}"
    if abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:#.3g}".rstrip(".")

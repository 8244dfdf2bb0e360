"""Reports as plots: bars with medians and spread, and lines over nonzeros for what grows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.benchmark import Measurement, Report
from punish_fast.runtime.figures import picture
from punish_fast.runtime.plot_style import BLUE, FAINT, INK, LOOKS, set_headline

_INCHES_PER_BAR = 0.4


def draw(reports: Sequence[Report], folder: Path) -> list[Path]:
    """Draw a PNG for each report that has measurements; return the files."""
    files = []
    for report in reports:
        if not report.measurements:
            continue
        path = folder / f"{report.benchmark}.png"
        sized = [m for m in report.measurements if m.name.startswith("rules ") and "nonzeros" in m.facts]
        with picture(path, report.benchmark) as figure:
            if len(sized) > 1:
                _draw_lines(figure, report, sized)
            else:
                _draw_bars(figure, report)
        files.append(path)
    return files


def _draw_bars(figure: Any, report: Report) -> None:
    """Horizontal bars of seconds, with minima and maxima."""
    measurements = sorted(report.measurements, key=lambda m: -m.median)
    medians = [m.median for m in measurements]
    below = [m.median - min(m.seconds) for m in measurements]
    above = [max(m.seconds) - m.median for m in measurements]
    figure.set_size_inches(9, 1.7 + _INCHES_PER_BAR * len(measurements))
    axes = figure.subplots()
    names = [m.name for m in measurements]
    axes.barh(names, medians, xerr=(below, above), color=BLUE, ecolor=INK, capsize=3, height=0.7)
    for place, (median, more) in enumerate(zip(medians, above, strict=True)):
        axes.annotate(f"{median:.3g}", (median + more, place), (6, 0), textcoords="offset points", va="center")
    axes.set(xscale="log", xlabel="seconds (logarithmic); bars are medians, whiskers the fastest and slowest run")
    axes.margins(x=0.1)
    axes.tick_params(axis="y", length=0)
    fastest = f"{names[-1]} is fastest: {medians[-1]:.3g} s"
    slowest = f"; {names[0]} takes {medians[0] / medians[-1]:.3g} times as long" if len(names) > 1 else ""
    set_headline(figure, fastest + slowest)
    axes.set_title(_source(report))


def _draw_lines(figure: Any, report: Report, sized: Sequence[Measurement]) -> None:
    """Seconds and memory over nonzeros, both axes in logarithms."""
    ordered = sorted(sized, key=lambda m: float(m.facts["nonzeros"]))
    nonzeros = [float(m.facts["nonzeros"]) for m in ordered]
    seconds = [m.median for m in ordered]
    figure.set_size_inches(10, 4.5)
    left, right = figure.subplots(1, 2)
    style = {"color": BLUE, "marker": LOOKS[2].marker}
    left.loglog(nonzeros, seconds, **style)
    left.set(title="Median time", ylabel="seconds")
    right.loglog(nonzeros, [float(m.facts["peak MB"]) for m in ordered], **style)
    right.set(title="Peak memory", ylabel="MB")
    for axes in (left, right):
        axes.set_xlabel("nonzeros of the transition tensor")
        axes.grid(visible=True, which="major", color=FAINT)
    grown = f"{nonzeros[-1] / nonzeros[0]:,.3g} times the nonzeros take {seconds[-1] / seconds[0]:,.3g} times as long"
    set_headline(figure, f"{grown} ({_source(report)})")


def _source(report: Report) -> str:
    return f"{report.benchmark}: rules {report.rules}, {report.threads} threads{', quick' if report.quick else ''}"

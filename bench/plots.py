"""Reports as pictures: bars with medians and spread, and lines over nonzeros for what grows."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench.benchmark import Measurement, Report

_INCHES_PER_BAR = 0.4


class PlotError(Exception):
    """Plots that cannot be drawn; the message says what is missing."""


def require_matplotlib() -> None:
    """Insist, before any work is done, that plots can be drawn.

    Raises:
        PlotError: they cannot.
    """
    if find_spec("matplotlib") is None:
        raise PlotError('matplotlib is not installed; install with: pip install "punish-fast[plot]"')


def draw(reports: Sequence[Report], folder: Path) -> list[Path]:
    """Draw a PNG for each report that has measurements; return the files."""
    figure = importlib.import_module("matplotlib.figure").Figure
    files = []
    for report in reports:
        if not report.measurements:
            continue
        path = folder / f"{report.benchmark}.png"
        sized = [m for m in report.measurements if m.name.startswith("rules ") and "nonzeros" in m.facts]
        canvas = _lines(figure, report, sized) if len(sized) > 1 else _bars(figure, report)
        canvas.savefig(path, dpi=120)
        files.append(path)
    return files


def _bars(figure: Any, report: Report) -> Any:
    """Horizontal bars of seconds, with minima and maxima."""
    measurements = list(reversed(report.measurements))
    medians = [m.median for m in measurements]
    below = [m.median - min(m.seconds) for m in measurements]
    above = [max(m.seconds) - m.median for m in measurements]
    canvas = figure(figsize=(9, 1.5 + _INCHES_PER_BAR * len(measurements)), layout="constrained")
    axes = canvas.subplots()
    axes.barh([m.name for m in measurements], medians, xerr=(below, above), color="tab:blue", ecolor="black", capsize=3)
    axes.set_xscale("log")
    axes.set_xlabel("seconds")
    axes.set_title(_title(report))
    return canvas


def _lines(figure: Any, report: Report, sized: Sequence[Measurement]) -> Any:
    """Seconds and memory over nonzeros, both axes in logarithms."""
    ordered = sorted(sized, key=lambda m: float(m.facts["nonzeros"]))
    nonzeros = [float(m.facts["nonzeros"]) for m in ordered]
    canvas = figure(figsize=(10, 4.5), layout="constrained")
    left, right = canvas.subplots(1, 2)
    left.loglog(nonzeros, [m.median for m in ordered], marker="o")
    left.set_ylabel("seconds")
    right.loglog(nonzeros, [float(m.facts["peak MB"]) for m in ordered], marker="o")
    right.set_ylabel("peak memory, MB")
    for axes in (left, right):
        axes.set_xlabel("nonzeros")
        axes.grid(visible=True, which="major", alpha=0.3)
    canvas.suptitle(_title(report))
    return canvas


def _title(report: Report) -> str:
    return f"{report.benchmark}: rules {report.rules}, {report.threads} threads{', quick' if report.quick else ''}"

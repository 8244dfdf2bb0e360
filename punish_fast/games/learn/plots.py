"""Plots of learning curves: the strength of an agent over the number of games played."""

import math
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from statistics import fmean
from typing import Any

from punish_fast.games.episodes import SEATS
from punish_fast.runtime.figures import FAINT, INK, LOOKS, picture, set_headline

LearningCurve = Sequence[Mapping[str, Any]]


def draw_learning(curve: LearningCurve, name: str, path: Path) -> None:
    """Plot the learning curve of a tabular agent to a PNG, SVG or PDF file.

    The upper panel shows the share of games won against random play, and the lower panel the share of positions played
    without a mistake.
    """
    end = curve[-1]
    headline = f"{name} plays {end['perfect']:.1%} of all positions perfectly after {end['games']:,.0f} games"
    titles = ("games won against random play", "positions played without a mistake")
    shares = [[point[key] for point in curve] for key in ("win_share", "perfect")]
    _draw(curve, headline, titles, [(k, name, shares[k]) for k in range(2)], path, even=50)


def draw_strength(curve: LearningCurve, name: str, path: Path) -> None:
    """Plot the learning curve of a network to a PNG, SVG or PDF file.

    The upper panel shows the shares of games won and lost against random play, by seat. The lower panel shows the mean
    points against all earlier snapshots and, if known, the share of states played without a mistake.
    """
    end = curve[-1]
    headline = f"{name} loses {end['loss_share']:.2%} against random play after {end['games']:,.0f} games"
    seats = [seat for seat in SEATS if seat in end]
    lost = {seat: [point[seat]["loss"] + point[seat]["illegal"] for point in curve] for seat in seats}
    lines = [
        *((0, f"won, moving {seat}", [point[seat]["win"] for point in curve]) for seat in seats),
        *((0, f"lost, moving {seat}", lost[seat]) for seat in seats),
        (1, "points against earlier snapshots", [fmean(point["earlier"] or [math.nan]) for point in curve]),
    ]
    if end["perfect"] is not None:
        lines.append((1, "states played without a mistake", [point["perfect"] for point in curve]))
    _draw(curve, headline, ("games against random play", "earlier snapshots and perfect play"), lines, path)


def _draw(
    curve: LearningCurve,
    headline: str,
    titles: Sequence[str],
    lines: Sequence[tuple[int, str, list[float]]],
    path: Path,
    even: float | None = None,
) -> None:
    """Plot lines, each given as a panel index, a label and shares.

    Unless ``even`` is None, the upper panel contains a horizontal line at ``even`` %.
    """
    with picture(path, "learning") as figure:
        from matplotlib.ticker import LogLocator, NullFormatter

        figure.set_size_inches(8.5, 7)
        set_headline(figure, headline)
        panels = figure.subplots(2, 1, sharex=True)
        if even is not None:
            panels[0].axhline(even, color=INK, linestyle=":", linewidth=0.8)
        games = [point["games"] for point in curve]
        for look, (panel, label, shares) in zip(cycle(LOOKS), lines, strict=False):
            percent = [100 * share for share in shares]
            panels[panel].plot(games, percent, color=look.color, marker=look.marker, linestyle=look.line, label=label)
        for axes, title in zip(panels, titles, strict=True):
            axes.set(title=title, ylabel="share (%)", xscale="log")
            axes.grid(color=FAINT)
            axes.legend(loc="best")
        lower = panels[1]
        lower.set(xlabel="games played (logarithmic)")
        lower.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        lower.xaxis.set_major_formatter("{x:,.0f}")
        # Remove the TeX labels that minor ticks have by default if the axis spans less than a decade.
        lower.xaxis.set_minor_formatter(NullFormatter())

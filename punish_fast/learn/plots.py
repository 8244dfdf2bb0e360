"""Learning curves: how strong agents are after how many games."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.learn.strength import SEATS
from punish_fast.runtime.figures import picture
from punish_fast.runtime.plot_style import FAINT, INK, LOOKS, set_headline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LearningCurve = Sequence[Mapping[str, Any]]

# More curves than this are thin and named by family only.
_MOST_NAMED = 6


def draw_learning(curves: Mapping[str, LearningCurve], path: Path) -> None:
    """Draw learning curves into a PNG or SVG file.

    On top the share of games won against random play, below the share of positions played without a mistake. Agents
    whose names begin alike, up to the first hyphen, share a colour and a marker.

    Args:
        curves: Points by name, as `training.train` adds them to learners.
        path: The file; its suffix gives the format.

    Raises:
        FigureError: the suffix is neither .png nor .svg.
        OutputError: the file cannot be written there.
        WriteError: it could not be written to its end.
        ExtraError: matplotlib is not installed.
    """
    with picture(path, "learning") as figure:
        from matplotlib.ticker import LogLocator, NullFormatter

        figure.set_size_inches(8.5, 7)
        best = max(curves, key=lambda name: curves[name][-1]["perfect"])
        end = curves[best][-1]
        set_headline(
            figure, f"{best} plays {end['perfect']:.1%} of all positions perfectly after {end['games']:,.0f} games"
        )
        upper, lower = figure.subplots(2, 1, sharex=True)
        upper.axhline(50, color=INK, linestyle=":", linewidth=0.8)
        _draw_curves(upper, curves, "win_share")
        _draw_curves(lower, curves, "perfect")
        upper.set(title="games won against random play", ylabel="per cent")
        lower.set(title="positions played without a mistake", ylabel="per cent", xlabel="games played (logarithmic)")
        lower.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        lower.xaxis.set_major_formatter("{x:,.0f}")
        lower.xaxis.set_minor_formatter(NullFormatter())  # in less than a decade it would label these in TeX
        lower.legend(loc="best")


def draw_strength(curve: LearningCurve, name: str, path: Path) -> None:
    """Draw the learning curve of a network into a PNG or SVG file.

    On top the shares of games won and lost against random play, by seat, below the mean points against all earlier
    snapshots, and the share of states played without a mistake if that is known.

    Args:
        curve: Points as `network_training.train` adds them.
        name: The name of the network.
        path: The file; its suffix gives the format.

    Raises:
        As `draw_learning`.
    """
    with picture(path, "strength") as figure:
        from matplotlib.ticker import LogLocator, NullFormatter

        figure.set_size_inches(8.5, 7)
        end, games = curve[-1], [point["games"] for point in curve]
        set_headline(figure, f"{name} loses {end['loss_share']:.2%} against random play after {games[-1]:,.0f} games")
        upper, lower = figure.subplots(2, 1, sharex=True)
        seats = [seat for seat in SEATS if seat in end]
        lines = [
            *((upper, f"won, moving {seat}", [point[seat]["win"] for point in curve]) for seat in seats),
            *((upper, f"lost, moving {seat}", [_lost(point[seat]) for point in curve]) for seat in seats),
            (lower, "points against earlier snapshots", [_mean(point["earlier"]) for point in curve]),
        ]
        if end["perfect"] is not None:
            lines.append((lower, "states played without a mistake", [point["perfect"] for point in curve]))
        for look, (axes, label, shares) in zip(cycle(LOOKS), lines, strict=False):
            percent = [100 * share for share in shares]
            axes.plot(games, percent, color=look.colour, marker=look.marker, linestyle=look.line, label=label)
        for axes, title in ((upper, "games against random play"), (lower, "earlier snapshots and perfect play")):
            axes.set(title=title, ylabel="per cent", xscale="log")
            axes.grid(color=FAINT)
            axes.legend(loc="best")
        lower.set(xlabel="games played (logarithmic)")
        lower.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        lower.xaxis.set_major_formatter("{x:,.0f}")
        lower.xaxis.set_minor_formatter(NullFormatter())  # in less than a decade it would label these in TeX


def _lost(endings: Mapping[str, float]) -> float:
    return endings["loss"] + endings["illegal"]


def _mean(numbers: Sequence[float]) -> float:
    """The mean, NaN of nothing."""
    return sum(numbers) / len(numbers) if numbers else math.nan


def _draw_curves(axes: Axes, curves: Mapping[str, LearningCurve], key: str) -> None:
    families = Counter(_family(name) for name in curves)
    is_crowded = len(curves) > _MOST_NAMED
    named = set()
    for number, (name, curve) in enumerate(curves.items()):
        family = _family(name)
        look = LOOKS[(list(families).index(family) if is_crowded else number) % len(LOOKS)]
        games, percent = [point["games"] for point in curve], [100 * point[key] for point in curve]
        label = f"{family}-... ({families[family]} agents)" if is_crowded else name
        (line,) = axes.plot(games, percent, color=look.colour, marker=look.marker, linestyle=look.line, markevery=3)
        if is_crowded:
            line.set(linewidth=0.8, markersize=3)
        if label not in named:  # one curve of each family stands for all of it
            line.set_label(label)
            named.add(label)
    axes.set(xscale="log")
    axes.grid(color=FAINT)


def _family(name: str) -> str:
    return name.partition("-")[0]

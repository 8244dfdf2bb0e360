"""A picture of how games can begin for an agent: what openings are worth, and what cards are worth in them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from punish_fast.punish.openings import Openings, Worth, worth
from punish_fast.punish.rules import CARDS, cards_text
from punish_fast.runtime.figures import picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHOWN = 6
_BINS = 36
_DARK, _MIDDLE, _LIGHT = "0.2", "0.5", "0.75"
# A marker and a line of its own for every card, so that no colour is needed.
_STYLES = (("s", "--"), (">", "-."), ("o", ":"), ("D", (0, (6, 1, 1, 1, 1, 1))), ("^", "-"))


def draw_openings(found: Openings, value: np.ndarray, is_chance: bool, title: str, path: Path) -> None:
    """Draw into a PNG or SVG file, which is replaced only when the new one is whole.

    Four panels: how the values of openings are spread, the best and the worst of them, and the mean value by the
    copies of each card in hand and among those revealed.

    Args:
        found: The openings.
        value: float64 ``[n]``, their values.
        is_chance: Whether values are chances to win.
        title: What stands above.
        path: The file; its suffix says which format.

    Raises:
        RecordsError: the suffix says neither format.
        OutputError: the file cannot be written there.
        WriteError: it could not be written to its end.
        ImportError: matplotlib is not installed.
    """
    value, unit = (100 * value, "chance to win, in per cent") if is_chance else (value, "value")
    with picture(path, "openings") as figure:
        figure.set_size_inches(11, 7.6)
        figure.suptitle(title)
        # Rows of panels that need not line up.
        rows: Any = figure.subfigures(2, 1)
        top, bottom = rows
        spread, extremes = top.subplots(1, 2)
        in_hand, revealed = bottom.subplots(1, 2, sharey=True)
        _draw_spread(spread, found.p, value, unit)
        labels = [f"{cards_text(h)}  /  {cards_text(r)}" for h, r in zip(found.hand, found.revealed, strict=True)]
        draw_extremes(extremes, labels, value)
        extremes.set(title="best and worst: hand / revealed", xlabel=unit)
        curves = [worths_of(found, counts, value) for counts in (found.hand, found.revealed)]
        gap = gap_of(curves)
        for axes, curve in zip((in_hand, revealed), curves, strict=True):
            draw_worth(axes, curve, gap)
        points = ", in points" if is_chance else ""
        in_hand.set(title=f"by copies in hand, and what one more is worth{points}", xlabel="copies in hand")
        revealed.set(title=f"by copies revealed, and what one more is worth{points}", xlabel="copies revealed")
        in_hand.set_ylabel(f"mean {unit}")


def _draw_spread(axes: Axes, p: np.ndarray, value: np.ndarray, unit: str) -> None:
    axes.hist(value, bins=_BINS, weights=100 * p, color=_MIDDLE, edgecolor="white")
    mean = float(p @ value)
    axes.axvline(mean, color="black", linestyle="--", linewidth=1)
    axes.annotate(
        f"mean {mean:.1f}", (mean, 1), (4, -2), xycoords=("data", "axes fraction"), va="top", textcoords="offset points"
    )
    axes.margins(y=0.12)
    axes.set(title=f"all {len(p):,} openings", xlabel=unit, ylabel="openings dealt, in per cent")


def draw_extremes(axes: Axes, labels: list[str], value: np.ndarray) -> None:
    """Draw the best and the worst of what has ``labels`` and is worth ``value``."""
    order = np.argsort(-value, kind="stable")
    shown = np.unique(np.concatenate([np.arange(len(order))[:_SHOWN], np.arange(len(order))[-_SHOWN:]]))
    # A gap parts the best from the worst.
    places = -(np.arange(len(shown)) + (shown >= _SHOWN))
    for place, k in zip(places, order[shown], strict=True):
        axes.plot([value.min(), value[k]], [place, place], color=_LIGHT, linewidth=1, zorder=1)
        axes.plot(value[k], place, "o", color=_DARK)
        axes.annotate(f"{value[k]:.1f}", (value[k], place), (6, 0), textcoords="offset points", va="center")
    axes.set_yticks(places, [labels[k] for k in order[shown]], fontsize=8)
    axes.margins(x=0.12)
    axes.tick_params(axis="y", length=0)


def worths_of(found: Openings, counts: np.ndarray, value: np.ndarray) -> list[Worth]:
    """What copies of each card are worth."""
    return [worth(counts[:, kind], found.p, value) for kind in range(len(CARDS))]


def gap_of(curves: list[list[Worth]]) -> float:
    """How far apart names are to stand beside such curves."""
    means = np.concatenate([each.mean for curve in curves for each in curve])
    return max(float(means.max() - means.min()) / 16, 1e-9)


def draw_worth(axes: Axes, worths: list[Worth], gap: float) -> None:
    """Draw what copies of each card are worth, with names that are at least ``gap`` apart."""
    for kind, each in enumerate(worths):
        marker, line = _STYLES[kind]
        face = "white" if kind % 2 else _DARK
        axes.plot(each.copies, each.mean, color=_DARK, marker=marker, linestyle=line, mfc=face)
    order = sorted(range(len(CARDS)), key=lambda kind: -worths[kind].mean[-1])
    heights = _apart(np.array([worths[kind].mean[-1] for kind in order]), gap)
    most = max(int(each.copies[-1]) for each in worths)
    leader = {"arrowstyle": "-", "color": _LIGHT, "linewidth": 0.8}
    for kind, height in zip(order, heights, strict=True):
        each = worths[kind]
        step = f" {each.step:+.2f}" if np.isfinite(each.step) else ""
        end = (int(each.copies[-1]), each.mean[-1])
        axes.annotate(f"{CARDS[kind]}{step}", end, (most + 0.15, height), va="center", arrowprops=leader)
    axes.set_xlim(-0.1, most + 0.95)
    axes.set_xticks(np.arange(most + 1))


def _apart(heights: np.ndarray, gap: float) -> np.ndarray:
    """Descending heights, moved until each is ``gap`` below the one before, on average neither up nor down."""
    moved = heights.copy()
    for k in range(1, len(moved)):
        moved[k] = min(moved[k], moved[k - 1] - gap)
    return np.asarray(moved + (heights - moved).mean())

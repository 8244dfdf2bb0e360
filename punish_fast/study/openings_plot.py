"""Plot of openings: values of all openings and of each card."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from punish_fast.punish.card_looks import CARD_LOOKS
from punish_fast.punish.rules import CARDS, cards_text
from punish_fast.punish.states.openings import Openings, Worth, worth_of_cards
from punish_fast.runtime.figures import BLUE, FAINT, INK, VERMILION, draw_labels, name_rows, picture, set_headline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHOWN = 6
_BINS = 36
# Smaller gains from one more copy count as 0.
_LEAST_STEP = 0.05


def draw_openings(found: Openings, value: np.ndarray, is_chance: bool, title: str, path: Path) -> None:
    """Plot openings to a PNG, SVG or PDF file.

    The four panels show the distribution of values, the best and worst openings, and the mean value by card and number
    of copies, in hand and among the revealed cards.

    Args:
        found: Openings to plot.
        value: float64 ``[n]``, values of the openings.
        is_chance: True if values are win probabilities.
        title: Headline.
        path: Output file. The suffix determines the format.
    """
    value, unit = (100 * value, "win probability (%)") if is_chance else (value, "value")
    with picture(path, "openings") as figure:
        figure.set_size_inches(11, 7.8)
        set_headline(figure, title)
        # Subfigures allow panels of different widths in the two rows.
        rows: Any = figure.subfigures(2, 1)
        top, bottom = rows
        distribution, extremes = top.subplots(1, 2)
        in_hand, revealed = bottom.subplots(1, 2, sharey=True)
        _draw_distribution(distribution, found.p, value, unit)
        labels = [f"{cards_text(h)}  /  {cards_text(r)}" for h, r in zip(found.hand, found.revealed, strict=True)]
        draw_extremes(extremes, labels, value)
        extremes.set(title="Best and worst openings (hand / revealed)", xlabel=unit)
        curves = [[*worth_of_cards(counts, found.p, value).values()] for counts in (found.hand, found.revealed)]
        gap = gap_of(curves)
        unit_of_step = " points" if is_chance else ""
        for axes, curve, where in zip((in_hand, revealed), curves, ("in hand", "revealed"), strict=True):
            draw_worth(axes, curve, gap)
            axes.set(title=headline_of(curve, where, unit_of_step), xlabel=f"copies {where}")
        in_hand.set_ylabel(f"mean {unit}")


def _draw_distribution(axes: Axes, p: np.ndarray, value: np.ndarray, unit: str) -> None:
    axes.hist(value, bins=_BINS, weights=100 * p, color=BLUE, edgecolor="white", linewidth=0.5)
    mean = float(p @ value)
    axes.axvline(mean, color=INK, linestyle="--", linewidth=1)
    at: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
    axes.annotate(f"mean {mean:.1f}", (mean, 1), (4, -2), va="top", **at)
    axes.margins(y=0.12)
    title = f"The {len(p):,} openings range from {value.min():.1f} to {value.max():.1f}"
    axes.set(title=title, xlabel=unit, ylabel="share of deals (%)")


def draw_extremes(axes: Axes, labels: list[str], value: np.ndarray) -> None:
    """Draw the highest and lowest values with labels. ``labels`` and ``value`` contain all items."""
    order = np.argsort(-value, kind="stable")
    shown = np.unique(np.concatenate([np.arange(len(order))[:_SHOWN], np.arange(len(order))[-_SHOWN:]]))
    # Leave a gap between the best and the worst items.
    places = -(np.arange(len(shown)) + (shown >= _SHOWN))
    for place, k, rank in zip(places, order[shown], shown, strict=True):
        color, marker = (BLUE, "o") if rank < _SHOWN else (VERMILION, "D")
        axes.plot([value.min(), value[k]], [place, place], color=FAINT, linewidth=1, zorder=1)
        axes.plot(value[k], place, marker, color=color)
        axes.annotate(f"{value[k]:.1f}", (value[k], place), (6, 0), textcoords="offset points", va="center")
    name_rows(axes, places, [labels[k] for k in order[shown]])
    axes.margins(x=0.12)


def gap_of(curves: list[list[Worth]]) -> float:
    """Return the minimum vertical distance between the card names beside the curves."""
    means = np.concatenate([each.mean for curve in curves for each in curve])
    return max(float(means.max() - means.min()) / 14, 1e-9)


def headline_of(curve: list[Worth], where: str, unit: str) -> str:
    """Return a headline that names the card with the largest gain from one more copy."""
    steps = np.array([each.step for each in curve])
    if np.isnan(steps).all():
        return f"Every opening has the same number of copies {where}"
    if np.nanmax(np.abs(steps)) < _LEAST_STEP:
        return f"Copies {where} make no difference"
    best = int(np.nanargmax(steps))
    return f"One more {CARDS[best]} {where} is worth {steps[best]:+.1f}{unit}"


def draw_worth(axes: Axes, worths: list[Worth], gap: float) -> None:
    """Draw the mean value by number of copies for each card, with at least ``gap`` between card names."""
    for look, each in zip(CARD_LOOKS, worths, strict=True):
        axes.plot(each.copies, each.mean, color=look.color, marker=look.marker, linestyle=look.line)
    most = max(int(each.copies[-1]) for each in worths)
    axes.set_xticks(np.arange(most + 1))
    steps = [f" {round(each.step, 1) + 0.0:+.1f}" if np.isfinite(each.step) else "" for each in worths]
    names = [f"{card}{step}" for card, step in zip(CARDS, steps, strict=True)]
    draw_labels(axes, [int(each.copies[-1]) for each in worths], [each.mean[-1] for each in worths], names, gap)

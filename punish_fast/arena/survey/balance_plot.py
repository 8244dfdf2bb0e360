"""Plot of a balance: worth and frequency of each card under two sets of rules."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.arena.survey.balance import Balance, Measure
from punish_fast.punish.rules import name_of
from punish_fast.runtime.figures import BLUE, INK, MUTED, YELLOW, FigureError, picture, set_headline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TITLES = {
    "in_hand": ("One more card in the opening hand", "percentage points of win rate"),
    "kept": ("A card kept instead of a fresh one", "percentage points of win rate"),
    "plays": ("How often cards are played", "share of all choices, in per cent"),
}
_HEIGHT = 0.38
# Maximum number of characters in a line of the headline.
_LINE = 105
_NEAR: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": 8}


def draw_balance(found: Balance, path: Path) -> None:
    """Plot a balance to a PNG or SVG file: two bars for each card, with the difference next to them."""
    measures = found.measures
    if not measures:
        raise FigureError(f"{path}: there is nothing to draw, because a game could not be studied")
    with picture(path, "balance") as figure:
        figure.set_size_inches(12, 4.7)
        set_headline(figure, "\n".join(textwrap.wrap(found.finding, _LINE)))
        panels = figure.subplots(1, len(_TITLES), gridspec_kw={"wspace": 0.06})
        for axes, group in zip(panels, _TITLES, strict=True):
            _draw(axes, [each for each in measures if each.group == group])
            title, unit = _TITLES[group]
            axes.set(title=title, xlabel=unit)
        handles, labels = axes.get_legend_handles_labels()
        labels = [name_of(found.base), found.change]
        figure.legend(handles, labels, loc="outside lower left", ncols=2)


def _draw(axes: Axes, measures: Sequence[Measure]) -> None:
    shown = [each for each in measures if each.standard is not None or each.changed is not None]
    for k, (colour, hatch) in enumerate(((YELLOW, "///"), (BLUE, ""))):
        values = [100 * ((each.standard, each.changed)[k] or 0.0) for each in shown]
        places = [(0.5 - k) * _HEIGHT - place for place in range(len(shown))]
        axes.barh(places, values, height=_HEIGHT, label=str(k), color=colour, hatch=hatch)
        for value, place in zip(values, places, strict=True):
            side = -1 if value < 0 else 1
            align = "right" if value < 0 else "left"
            axes.annotate(f"{value:.1f}", (value, place), (3 * side, 0), ha=align, color=MUTED, **_NEAR)
    beside = axes.get_yaxis_transform()
    for place, each in enumerate(shown):
        if each.difference is not None:
            text = f"{100 * each.difference:+.1f}"
            axes.annotate(text, (1.02, -place), xycoords=beside, va="center", ha="left", weight="bold")
    axes.annotate("change", (1.02, 0.62), xycoords=beside, va="bottom", ha="left", color=MUTED, fontsize=8)
    axes.set_ylim(0.4 - len(shown), 0.6)
    axes.set_yticks([-place for place in range(len(shown))], [each.name for each in shown])
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.margins(x=0.2)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)

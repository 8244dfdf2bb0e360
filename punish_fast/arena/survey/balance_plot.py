"""Plot of a balance: value and frequency of each card under two sets of rules."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from punish_fast.arena.survey.balance import Balance, Statistic
from punish_fast.punish.rules import name_of
from punish_fast.runtime.figures import INK, MUTED, FigureError, add_panels, draw_pairs, picture, set_headline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TITLES = {
    "in_hand": ("One more card in the opening hand", "percentage points of win rate"),
    "kept": ("A card kept instead of a fresh one", "percentage points of win rate"),
    "plays": ("How often cards are played", "share of all choices (%)"),
}
# Width of the column with the changes, as a share of the panel.
_ROOM = 0.25
# Maximum numbers of characters in an inch of the headline, and in a label of the legend.
_PER_INCH, _LABEL = 8.7, 60
# Minimum width in inches for two labels in a line.
_WIDE = 11


def draw_balance(found: Balance, path: Path) -> None:
    """Plot a balance to a PNG, SVG or PDF file: two bars for each card, with the difference next to them."""
    groups = {group: [each for each in found.statistics if each.group == group] for group in _TITLES}
    # After few iterations, some statistics are unknown.
    known = {group: rows for group, rows in groups.items() if any(each.changed is not None for each in rows)}
    if not known:
        raise FigureError(f"{path}: there is nothing to draw, because a game could not be studied")
    labels = name_of(found.base), found.change if len(found.change) <= _LABEL else "changed rules"
    with picture(path, "balance") as figure:
        panels = add_panels(figure, len(known), 4, 4.7, gridspec_kw={"wspace": 0.1})
        set_headline(figure, textwrap.fill(found.finding, int(_PER_INCH * figure.get_figwidth())))
        for axes, (group, rows) in zip(panels, known.items(), strict=True):
            _draw(axes, rows, labels)
            title, unit = _TITLES[group]
            axes.set(title=title, xlabel=unit)
        n_columns = 1 if figure.get_figwidth() < _WIDE else 2
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower left", ncols=n_columns)


def _draw(axes: Axes, statistics: Sequence[Statistic], labels: tuple[str, str]) -> None:
    shown = [each for each in statistics if each.base is not None or each.changed is not None]
    sides = [each.base for each in shown], [each.changed for each in shown]
    values = [[math.nan if value is None else 100 * value for value in side] for side in sides]
    draw_pairs(axes, [each.name for each in shown], dict(zip(labels, values, strict=True)), "{:.1f}")
    axes.margins(x=0.2)
    # Reserve space for the changes, so that they do not overlap the names in the next panel.
    left, right = axes.get_xlim()
    axes.set_xlim(left, right + _ROOM * (right - left))
    beside = axes.get_yaxis_transform()
    for place, each in enumerate(shown):
        if each.difference is not None:
            text = f"{100 * each.difference:+.1f}"
            axes.annotate(text, (1, -place), xycoords=beside, va="center", ha="right", weight="bold")
    axes.annotate("change", (1, 0.62), xycoords=beside, va="bottom", ha="right", color=MUTED, fontsize=8)
    axes.set_ylim(0.4 - len(shown), 0.6)
    axes.axvline(0, color=INK, linewidth=0.8)

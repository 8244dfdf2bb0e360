"""Plot of a survey: value and frequency of each card, and how games end, for each point.

Equilibrium play depends only on the rules, so points with the same rules are plotted once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from punish_fast.punish.card_looks import CARD_LOOKS, FEINT_LOOK
from punish_fast.punish.rules import CARDS
from punish_fast.runtime import figures
from punish_fast.study.frequencies import PLAYS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_DRAWN = 200
# Widths in inches.
_PANEL_WIDTH, _LETTER_WIDTH = 3.1, 0.085


@dataclass(frozen=True)
class _Panel:
    title: str
    unit: str
    columns: Sequence[str]
    names: Sequence[str]
    looks: Sequence[figures.Look]


_POINTS = "percentage points of win rate"
_HAND, _KEPT = ([f"{group}_{card}" for card in CARDS] for group in ("in_hand", "kept"))
_PLAYS, _ENDS = [f"plays_{play}" for play in PLAYS], ("decided by the first deal", "won by a best response")
_PANELS = (
    _Panel("One more card in the opening hand", _POINTS, _HAND, CARDS, CARD_LOOKS),
    _Panel("A card kept instead of a fresh one", _POINTS, _KEPT, CARDS, CARD_LOOKS),
    _Panel("How often cards are played", "share of all choices (%)", _PLAYS, PLAYS, (*CARD_LOOKS, FEINT_LOOK)),
    _Panel("How games end", "share of games (%)", ("first_deal", "best_response"), _ENDS, figures.LOOKS[:4:3]),
)


def draw_survey(columns: Mapping[str, Sequence[Any]], path: Path, heat_map: bool = False) -> None:
    """Plot the table of a survey to a PNG, SVG or PDF file: equilibrium play if available, otherwise the agents.

    Values are points with a legend, or cells of a heat map.
    """
    prefix = "equilibrium_" if "equilibrium_length" in columns else ""
    shown = [k for k, length in enumerate(columns[f"{prefix}length"]) if length is not None]
    if not 0 < len(shown) <= MOST_DRAWN:
        raise figures.FigureError(f"{path}: {len(shown)} points have results; a plot shows 1 to {MOST_DRAWN}")
    if prefix:
        first = {columns["rules_digest"][k]: k for k in reversed(shown)}
        shown = sorted(first.values())
    labels = [columns["game" if prefix else "point"][k] for k in shown]
    with figures.picture(path, "survey") as figure:
        height, beside = 1.9 + 0.34 * len(shown), _LETTER_WIDTH * max(map(len, labels))
        all_axes = figures.add_panels(figure, len(_PANELS), _PANEL_WIDTH, height, beside, sharey=True)
        who = "games: equilibrium play" if prefix else "points: each agent against itself"
        figures.set_headline(figure, f"{len(shown)} {who}")
        for axes, panel in zip(all_axes, _PANELS, strict=True):
            series = [[columns[prefix + name][k] for k in shown] for name in panel.columns]
            (_draw_map if heat_map else _draw)(axes, panel, series)
            figures.name_rows(axes, np.arange(len(shown)) * (1 if heat_map else -1), labels)
        all_axes[0].set_ylim(*((len(shown) - 0.5, -0.5) if heat_map else (0.6 - len(shown), 0.6)))


def _draw_map(axes: Axes, panel: _Panel, series: Sequence[Sequence[float | None]]) -> None:
    figures.draw_share_map(axes, np.array(series, dtype=np.float64).T, middle=0)
    figures.name_columns(axes, panel.names)
    axes.set(title=panel.title, xlabel=panel.unit)


def _draw(axes: Axes, panel: _Panel, series: Sequence[Sequence[float | None]]) -> None:
    places = -np.arange(len(series[0]))
    for place in places:
        axes.axhline(float(place), color=figures.FAINT, linewidth=0.8, zorder=0)
    for values, name, look in zip(series, panel.names, panel.looks, strict=True):
        percent = 100 * np.array(values, dtype=np.float64)
        axes.plot(percent, places, look.marker, color=look.color, label=name, markersize=6, markeredgecolor="white")
    if panel.columns[0].startswith(("in_hand", "kept")):
        axes.axvline(0, color=figures.INK, linewidth=0.8)
    axes.margins(x=0.1)
    axes.set_title(panel.title, pad=34)
    axes.set_xlabel(panel.unit)
    # Place the legend above the panel, in two rows, to keep the marks visible.
    close = {"columnspacing": 0.8, "handletextpad": 0.1, "borderaxespad": 0.2, "fontsize": 8}
    axes.legend(loc="lower left", bbox_to_anchor=(-0.03, 1.0), ncols=3 if len(panel.names) > 2 else 1, **close)

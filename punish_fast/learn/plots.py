"""Pictures of learning: what agents were worth after so many games, readable without colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.runtime.figures import picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Curve = Sequence[Mapping[str, float]]

_STYLES = ("-", "--", ":", "-.")
_MARKS = ("o", "s", "^", "v", "D", "x", "+", "*")
_MOST_NAMED = 16


def draw_learning(curves: Mapping[str, Curve], path: Path) -> None:
    """Draw learning curves into a PNG or SVG file, which is replaced only when the new one is whole.

    On top the share of games won against random play, below the share of positions in which nothing is given away.
    Agents whose names begin alike, up to the first hyphen, have one style of line and one shade.

    Args:
        curves: Points by name, as `training.continue_session` enters them.
        path: The file; its suffix says which format.

    Raises:
        RecordsError: the suffix says neither format.
        OutputError: the file cannot be written there.
        WriteError: it could not be written to its end.
        ImportError: matplotlib is not installed.
    """
    with picture(path, "learning") as figure:
        figure.set_size_inches(8.5, 7.5)
        upper, lower = figure.subplots(2, 1, sharex=True)
        families = sorted({_family(name) for name in curves})
        for k, (name, curve) in enumerate(curves.items()):
            look = _look(families.index(_family(name)), len(families), k)
            for axes, key in ((upper, "win_share"), (lower, "perfect")):
                axes.plot([point["games"] for point in curve], [point[key] for point in curve], label=name, **look)
        _finish(upper, "share of games won", "learning, by games played")
        _finish(lower, "share of positions played perfectly", "")
        lower.set_xlabel("games")
        lower.xaxis.set_major_formatter("{x:,.0f}")
        handles, names = upper.get_legend_handles_labels()
        if len(curves) > _MOST_NAMED:
            # One of each family stands for all of it.
            first = [next(k for k, name in enumerate(names) if _family(name) == family) for family in families]
            handles, names = [handles[k] for k in first], [f"{_family(names[k])}-..." for k in first]
        figure.legend(handles, names, loc="outside right upper", frameon=False, fontsize=7)
        upper.annotate("against random play", (0.99, 0.03), xycoords="axes fraction", ha="right")


def _family(name: str) -> str:
    return name.partition("-")[0]


def _look(family: int, n_families: int, number: int) -> dict[str, Any]:
    grey = str(0.55 * family / max(n_families - 1, 1))
    mark = _MARKS[number % len(_MARKS)]
    return {
        "color": grey,
        "linestyle": _STYLES[family % len(_STYLES)],
        "marker": mark,
        "markersize": 3,
        "linewidth": 1,
        "markevery": 2,
    }


def _finish(axes: Axes, label: str, title: str) -> None:
    axes.set(xscale="log", ylabel=label, title=title)
    axes.grid(alpha=0.3)

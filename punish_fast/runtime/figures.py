"""Figures as PNG, SVG or PDF files in a common style, written atomically.

The colors are based on the palette of Okabe and Ito (2008), which is suitable for readers with any common form of color
blindness. The colors vary in lightness, so they also differ in grayscale. Each color has its own marker and line style.
All colors except blue and dark purple have their own hatch. Titles are sentences. Shares are in percent.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from punish_fast.runtime.errors import PunishFastError, require
from punish_fast.runtime.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage


class Look(NamedTuple):
    """Style of a series in matplotlib's notation."""

    color: str
    marker: str
    line: Any
    hatch: str

    @property
    def ink(self) -> str:
        """The more readable text color on this color."""
        return ink_on(self.color)


LOOKS = (
    Look("#00639C", "s", "--", ""),  # blue
    Look("#F0B400", ">", "-.", "///"),  # yellow
    Look("#33B08A", "o", ":", "..."),  # green
    Look("#D55E00", "D", (0, (6, 1, 1, 1, 1, 1)), "\\\\\\"),  # vermilion
    Look("#3D0F3A", "^", "-", ""),  # dark purple
    Look("#A9D6F0", "v", (0, (3, 1)), "xx"),  # sky blue
)
BLUE, YELLOW, VERMILION = LOOKS[0].color, LOOKS[1].color, LOOKS[3].color
INK, MUTED, FAINT = "#222222", "#6E6E6E", "#D9D9D9"

SETTINGS: dict[str, Any] = {
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.labelsize": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "figure.titlesize": 12,
    "figure.titleweight": "bold",
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "hatch.color": "white",
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.parse_math": False,
    "pdf.fonttype": 42,
}

_DIVERGING = (VERMILION, "#F3C9A8", "#FAFAFA", "#A8CDE6", BLUE)


def set_headline(figure: Figure, text: str) -> None:
    """Write a title above a figure, flush left."""
    figure.suptitle(text, x=0.01, ha="left")


def name_rows(axes: Axes, places: Sequence[float] | np.ndarray, names: Sequence[str]) -> None:
    """Write names to the left of rows at the given heights, and hide the vertical axis."""
    axes.set_yticks(places, names)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def draw_pairs(axes: Axes, names: Sequence[str], series: Mapping[str, Sequence[float] | np.ndarray], form: str) -> None:
    """Draw a row of two bars for each name, labeled with values in the format ``form``.

    ``series`` contains two labels and their values, first for the upper bars. Row ``k`` is at height ``-k``.
    """
    rows = -np.arange(len(names))
    for (label, values), look, above in zip(series.items(), (LOOKS[1], LOOKS[0]), (0.19, -0.19), strict=True):
        bars = axes.barh(rows + above, values, height=0.38, label=label, color=look.color, hatch=look.hatch)
        axes.bar_label(bars, fmt=form, padding=3, color=MUTED, fontsize=8)
    name_rows(axes, rows, names)


def ink_on(color: Any) -> str:
    """Return the more readable text color on a background color: white or `INK`."""
    from matplotlib.colors import to_rgb

    return "white" if is_dark(to_rgb(color)) else INK


def is_dark(rgb: Sequence[float]) -> bool:
    """Return True if white is more readable than `INK` on an sRGB color, given its components in [0, 1].

    The criterion is the relative luminance of WCAG 2.
    """
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] < 0.22


def draw_share_map(axes: Axes, share: np.ndarray, labels: np.ndarray | None = None, middle: float = 50) -> AxesImage:
    """Draw shares as a heat map in percent.

    Shares above ``middle`` % are blue, and shares below are vermilion.

    Args:
        share: float64 ``[rows, columns]``, shares from 0 to 1, or differences of shares. Cells with NaN are empty.
        labels: str ``[rows, columns]``, second line of text in each cell.
        middle: Percentage without a color.
    """
    from matplotlib.colors import LinearSegmentedColormap

    percent = 100 * share
    reach = np.ceil(np.nanmax(np.abs(percent - middle), initial=10) / 10) * 10
    colors = LinearSegmentedColormap.from_list("won", _DIVERGING)
    image = axes.imshow(percent, cmap=colors, vmin=middle - reach, vmax=middle + reach, aspect="auto")
    for (i, j), value in np.ndenumerate(percent):
        if not np.isnan(value):
            text = f"{value:.1f}" if labels is None else f"{value:.0f}\n{labels[i, j]}"
            color = ink_on(colors(0.5 + (value - middle) / (2 * reach)))
            axes.annotate(text, (j, i), ha="center", va="center", color=color, linespacing=1.3)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return image


def name_columns(axes: Axes, names: Sequence[str]) -> None:
    """Write slanted names below the columns of a heat map."""
    axes.set_xticks(range(len(names)), names, rotation=20, ha="right", rotation_mode="anchor")


def draw_matchups(
    figure: Figure, share: np.ndarray, names: tuple[Sequence[str], Sequence[str]], labels: np.ndarray | None, title: str
) -> None:
    """Draw win rates of the players in rows against the players in columns (see `draw_share_map`).

    ``names`` contains the names of the rows and of the columns, and ``title`` is the title of the color bar.
    """
    rows, columns = names
    figure.set_size_inches(3.0 + 1.1 * len(columns), 1.9 + 0.5 * len(rows))
    axes = figure.subplots()
    image = draw_share_map(axes, share, labels)
    name_columns(axes, columns)
    axes.set_yticks(range(len(rows)), rows)
    bar = figure.colorbar(image, ax=axes, fraction=0.05, pad=0.03)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    bar.set_label(title)


def draw_labels(axes: Axes, x: Sequence[float], heights: Sequence[float], names: Sequence[str], gap: float) -> None:
    """Write names to the right of the panel with a leader line to each point. ``gap`` is the minimum distance."""
    order = np.argsort(-np.asarray(heights), kind="stable")
    places = spread(np.asarray(heights, dtype=np.float64)[order], gap)
    leader = {"arrowstyle": "-", "color": MUTED, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 4, "relpos": (0, 0.5)}
    beside = axes.get_yaxis_transform()
    for k, place in zip(order, places, strict=True):
        axes.annotate(names[k], (x[k], heights[k]), (1.03, place), textcoords=beside, va="center", arrowprops=leader)


def spread(heights: np.ndarray, gap: float) -> np.ndarray:
    """Move descending heights to a distance of at least ``gap``, without changing their mean."""
    moved = heights.copy()
    for k in range(1, len(moved)):
        moved[k] = min(moved[k], moved[k - 1] - gap)
    return np.asarray(moved + (heights - moved).mean())


# Metadata that differs between equal figures, by format.
_CHANGING = {"png": "Software", "svg": "Date", "pdf": "CreationDate"}


class PictureSize(NamedTuple):
    """Size of the figures that are drawn in a context."""

    # Width in inches, by default set by the plot. Text and lines are scaled, too, except in PDF files.
    width: float | None = None
    dpi: int = 150  # resolution of PNG files


picture_size: ContextVar[PictureSize] = ContextVar("picture_size")


def add_panels(figure: Figure, n: int, width: float, height: float, beside: float = 0.0, **settings: Any) -> list[Axes]:
    """Add ``n`` panels to a figure, and return their axes.

    Panels are side by side, or stacked if `picture_size` is less than half as wide.

    Args:
        figure: The figure. Its size is set.
        n: Number of panels.
        width: Width of a panel in inches.
        height: Height of a panel in inches.
        beside: Width of the row names to the left of the panels in inches.
        settings: Keyword arguments of ``Figure.subplots``.
    """
    rows, columns = (n, 1) if (picture_size.get(PictureSize()).width or np.inf) < n * width / 2 else (1, n)
    figure.set_size_inches(width * columns + beside, height * rows)
    return list(figure.subplots(rows, columns, squeeze=False, **settings).flat)


class FigureError(PunishFastError, ValueError):
    """Raised when a figure cannot be drawn, for example if the suffix of its file is unsupported."""


def check_picture(path: Path) -> None:
    """Raise `FigureError` if the suffix is not allowed, and `ExtraError` if matplotlib is not installed."""
    if path.suffix[1:] not in _CHANGING:
        raise FigureError(f"{path}: suffix is {path.suffix!r}; it must be .png, .svg or .pdf")
    require("matplotlib")


@contextmanager
def picture(path: Path, kind: str) -> Iterator[Figure]:
    """Yield a figure, and write it to a PNG, SVG or PDF file at the end of the block.

    Equal figures result in identical files. `picture_size` determines the size and the resolution. ``kind`` is the seed
    of the identifiers in SVG files. The errors are those raised by `check_picture` and `replacing`.
    """
    check_picture(path)
    import matplotlib as mpl
    from matplotlib.figure import Figure

    settings: Any = {**SETTINGS, "svg.hashsalt": kind}
    with mpl.rc_context(settings):
        figure = Figure(layout="constrained")
        yield figure
        width, dpi = picture_size.get(PictureSize())
        suffix = path.suffix[1:]
        if suffix == "pdf" and width is not None:
            figure.set_size_inches(width, width * figure.get_figheight() / figure.get_figwidth())
        scale = 1.0 if width is None else width / figure.get_figwidth()
        options: Any = {"pil_kwargs": {"dpi": (dpi, dpi)}} if suffix == "png" else {}
        with replacing(path) as temporary:
            # matplotlib warns about every character that is missing from the font. Replace these by a single warning.
            with warnings.catch_warnings(record=True) as told:
                figure.savefig(temporary, format=suffix, dpi=dpi * scale, metadata={_CHANGING[suffix]: None}, **options)
            if suffix == "svg" and width is not None:
                text = temporary.read_text("utf-8")
                size = re.compile(r'(width|height)="([\d.]+)pt"')
                text = size.sub(lambda found: f'{found[1]}="{scale * float(found[2]):g}pt"', text, count=2)
                temporary.write_text(text, "utf-8", newline="\n")
            if told:
                warnings.warn(f"{path}: {told[0].message}", stacklevel=2)

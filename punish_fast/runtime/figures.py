"""Figures as PNG or SVG files in one style, written whole or not at all."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.extras import require
from punish_fast.runtime.files import replacing
from punish_fast.runtime.plot_style import SETTINGS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg")


class FigureError(PunishFastError, ValueError):
    """A file that no figure can be written to; the message says which can."""


def check_picture(path: Path) -> None:
    """Check, before any work is done, that a figure can be drawn and that ``path`` names a known format.

    Raises:
        FigureError: the suffix is neither .png nor .svg.
        ExtraError: matplotlib is not installed.
    """
    if path.suffix[1:] not in FORMATS:
        raise FigureError(f"{path}: suffix is {path.suffix!r}, allowed are .png and .svg")
    require("plot", "matplotlib")


@contextmanager
def picture(path: Path, kind: str) -> Iterator[Figure]:
    """A figure to draw on, which replaces ``path`` when the block ends.

    The same drawing gives the same bytes.

    Args:
        path: A PNG or SVG file.
        kind: What the figure shows, in a word; the seed of SVG's identifiers.

    Raises:
        FigureError: the suffix is neither .png nor .svg.
        ExtraError: matplotlib is not installed.
        OutputError: the file cannot be written there.
        WriteError: it could not be written to its end.
    """
    check_picture(path)
    import matplotlib as mpl
    from matplotlib.figure import Figure

    settings: Any = {**SETTINGS, "svg.hashsalt": kind}
    with mpl.rc_context(settings):
        figure = Figure(layout="constrained")
        yield figure
        with replacing(path) as temporary:
            metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
            with _missing_glyphs_in_one_line(path):
                figure.savefig(temporary, format=path.suffix[1:], dpi=150, metadata=metadata)


@contextmanager
def _missing_glyphs_in_one_line(path: Path) -> Iterator[None]:
    """Warn once of characters that the font lacks; matplotlib warns of each of them."""
    with warnings.catch_warnings(record=True) as told:
        warnings.filterwarnings("always", "Glyph .* missing from font")
        yield
    glyphs = [each for each in told if "missing from font" in str(each.message)]
    for each in told:
        if each not in glyphs:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    if glyphs:
        warnings.warn(f"{path}: the font lacks some characters of the names; boxes stand for them", stacklevel=2)

"""Figures as PNG or SVG files, written whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.runtime.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg")


class FigureError(ValueError):
    """A file that no figure can be written to; the message says which can."""


def check_picture(path: Path) -> None:
    """Insist that a path names a format that can be drawn.

    Raises:
        FigureError: it does not.
    """
    if path.suffix[1:] not in FORMATS:
        raise FigureError(f"{path}: suffix is {path.suffix!r}, allowed are .png and .svg")


@contextmanager
def picture(path: Path, kind: str) -> Iterator[Figure]:
    """A figure to draw on, which becomes a PNG or SVG file when the block ends; the same one for the same ``kind``.

    Raises:
        FigureError: the suffix says neither format.
        OutputError: the file cannot be written there.
        WriteError: it could not be written to its end.
        ImportError: matplotlib is not installed.
    """
    check_picture(path)
    import matplotlib as mpl
    from matplotlib.figure import Figure

    settings: Any = {
        "svg.hashsalt": kind,
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "text.parse_math": False,
    }
    with mpl.rc_context(settings):
        figure = Figure(layout="constrained")
        yield figure
        with replacing(path) as temporary:
            metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
            figure.savefig(temporary, format=path.suffix[1:], dpi=150, metadata=metadata)

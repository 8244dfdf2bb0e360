"""Results: data frames of pandas or polars, files in several formats, HTML, and confidence intervals of proportions."""

from collections.abc import Mapping
from html import escape
from importlib import import_module
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.runtime.errors import ArgumentError, ExtraError, are_installed, check_allowed, require, shown
from punish_fast.runtime.files import replacing, write_csv

_SUFFIXES = ".csv", ".npz", ".parquet"
# Quantile of the normal distribution for 95 % confidence intervals.
Z_95 = 1.959963984540054
# Lists or one-dimensional arrays, by name.
Columns = Mapping[str, Any]


def to_frame(columns: Columns) -> Any:
    """Return columns as a data frame.

    Args:
        columns: Lists or one-dimensional arrays of equal length, by name.

    Returns:
        A pandas ``DataFrame`` if pandas is installed, otherwise a polars ``DataFrame``. Lists are converted to text
        unless all their entries are text or numbers of one type.

    Raises:
        ExtraError: If neither pandas nor polars is installed.

    Examples:
        >>> from punish_fast import to_frame
        >>> to_frame({"hp": [1, 2], "length": [2.5, 3.0]})  # needs pandas or polars
           hp  length
        0   1     2.5
        1   2     3.0
    """
    for module in ("pandas", "polars"):
        if are_installed(module):
            return import_module(module).DataFrame(_plain(columns))
    raise ExtraError("neither pandas nor polars is installed. Install one with: pip install pandas")


def save_columns(path: Path, columns: Columns) -> None:
    """Write columns to a file that ends with .csv, .npz or .parquet (see `to_frame` for the types of columns).

    Raise `ArgumentError` if the path has another ending, and `ExtraError` if packages for Parquet are not installed:
    pandas with pyarrow, or polars without pandas.
    """
    allowed = f"a file that ends with {', '.join(_SUFFIXES)}"
    check_allowed(path.suffix in _SUFFIXES, ArgumentError, "path", shown(str(path)), allowed)
    if path.suffix == ".csv":
        write_csv(path, {name: np.asarray(column).tolist() for name, column in _plain(columns).items()})
        return
    with replacing(path) as temporary, temporary.open("wb") as file:
        if path.suffix == ".npz":
            np.savez_compressed(file, **_plain(columns))
        elif hasattr(frame := to_frame(columns), "to_parquet"):
            require("pyarrow")
            frame.to_parquet(file)
        else:
            frame.write_parquet(file)


def value_text(value: object) -> str:
    """Format a number with six digits, and other values as text. Numbers below 1e-300, such as error bounds, are 0."""
    return f"{round(float(value), 300):z.6g}" if isinstance(value, float) else str(value)


def html_table(title: str, columns: Columns) -> str:
    """Return an HTML table with a caption, for notebooks."""
    rows = zip(*columns.values(), strict=True)
    lines = ["".join(f"<th>{escape(name)}</th>" for name in columns)]
    lines += ["".join(f"<td>{escape(value_text(x))}</td>" for x in row) for row in rows]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><caption>{escape(title)}</caption>{body}</table>"


def _plain(columns: Columns) -> dict[str, Any]:
    """Convert lists to text unless their entries are text or numbers of one type. Return arrays unchanged."""
    plain: dict[str, Any] = dict(columns)
    for name, column in columns.items():
        kinds = {*map(type, column)} if not isinstance(column, np.ndarray) else set()
        is_plain = len(kinds) < 2 and all(issubclass(kind, (bool, int, float, str, np.generic)) for kind in kinds)
        plain[name] = column if is_plain else [str(x) for x in column]
    return plain


def wilson_interval(share: float, games: float) -> tuple[float, float]:
    """Return the 95 % Wilson score interval (Wilson, 1927) for a share of wins in ``games`` independent games."""
    z2 = Z_95**2 / games
    middle = (share + z2 / 2) / (1 + z2)
    half = sqrt(z2 * (share * (1 - share) + z2 / 4)) / (1 + z2)
    return max(middle - half, 0.0), min(middle + half, 1.0)

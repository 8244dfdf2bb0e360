"""Print results on stdout, as JSON or as text and tables, and messages on stderr. Define errors that end a command."""

from __future__ import annotations

import json
import math
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import zip_longest
from pathlib import Path
from string import Formatter
from textwrap import TextWrapper
from typing import Any

from rich.cells import cell_len
from rich.filesize import decimal

from punish_fast.punish.rules import cards_text
from punish_fast.runtime.errors import MOST_OF_LINE, PunishFastError, printable
from punish_fast.store.schema import enemy_text

Column = str | Callable[[Any], str]

# Labels of report keys that are not words.
_LABELS = {"nnz": "nonzeros"}

# Minimum length of shortened words in a table that is too wide.
_SHORT = 12
# Maximum number of printed rows, and maximum number of characters of an object that is not printed as a table.
_MOST_ROWS, _LONG = 50, 100
# Width of the progress line currently shown on the terminal.
_width = 0
# Fields printed as percentages, and fields printed in scientific notation.
_CHANCES = {"exploiters", "exploiter_wins", "first", "probability", "second"}
_CHANCES |= {"draw_share", "random_vs_random", "win_rate", "win_share", "win", "tie", "loss", "keeps_value"}
_CHANCES |= {"keeps_choice", "best_score"}
# Fields that determine the format of all their entries.
_SHARED = _CHANCES | {"seconds"}
_BOUNDS = {"error_bound", "residual"}


class UsageError(PunishFastError):
    """Raised when options or arguments are invalid. The message names them."""


class CheckError(PunishFastError):
    """Raised when a check fails or a target is missed. The message names the check or target."""

    exit_code = 1


def plain(result: Any, text: Callable[[str], str] = str) -> Any:
    """Convert a result to JSON-like values. Replace NaN and infinity with None.

    ``text`` converts each string. Pass `printable` if the result is printed as text.
    """
    if is_dataclass(result):
        result = {field.name: getattr(result, field.name) for field in fields(result)}
    if isinstance(result, Mapping):
        return {text(name) if isinstance(name, str) else name: plain(value, text) for name, value in result.items()}
    if hasattr(result, "tolist"):
        result = result.tolist()
    if isinstance(result, list | tuple):
        return [plain(value, text) for value in result]
    if isinstance(result, float) and not math.isfinite(result):
        return None
    return text(str(result)) if isinstance(result, str | Path) else result


def print_json(report: Any) -> None:
    """Print one JSON object on stdout."""
    print(json.dumps(plain(report), indent=2))


def show_progress(text: str) -> None:
    """Replace the progress line on the terminal."""
    global _width  # noqa: PLW0603 - there is one terminal
    text = printable(text, MOST_OF_LINE)[: shutil.get_terminal_size().columns - 1]
    sys.stderr.write("\r" + text.ljust(_width))
    sys.stderr.flush()
    _width = max(_width, len(text))


def clear_progress() -> None:
    """Remove the progress line from the terminal."""
    global _width  # noqa: PLW0603 - as above
    if _width:
        sys.stderr.write("\r" + " " * _width + "\r")
        sys.stderr.flush()
        _width = 0


def say(message: str) -> None:
    """Print one line on stderr, replacing the progress line."""
    clear_progress()
    print(printable(message, MOST_OF_LINE), file=sys.stderr, flush=True)


def terminal_width() -> int:
    """Return ``COLUMNS`` or the width of the terminal. 80 if stdout is not a terminal."""
    return shutil.get_terminal_size().columns


def print_text(text: str, indent: str = "", first: str | None = None) -> None:
    """Print a paragraph, wrapped to the terminal's width. ``first`` is the indent of the first line if given."""
    first = indent if first is None else first
    wrapper = TextWrapper(terminal_width(), first.lstrip("\n"), indent, break_long_words=False, break_on_hyphens=False)
    print("\n" * first.count("\n") + wrapper.fill(text))


class _CellFormatter(Formatter):
    """Formatter of the cells of `print_rows`."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if value is None or format_spec == "cards":
            return "-" if value is None else cards_text(value.values())
        scale = {"p": 100, "m": 200}.get(format_spec[-1:])
        return format(value, format_spec) if scale is None else f"{scale * value:{format_spec[:-1]}f}"


def print_rows(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, Column], **layout: Any) -> None:
    """Print a table of records.

    Args:
        rows: Records, one for each row.
        columns: Cells of each column, by heading: a format string of the fields, such as ``{win:.1%}``, or a function
            of the record. In addition to Python's format types, ``p`` stands for points, ``m`` for two standard errors
            in points, and ``cards`` for the number of copies of each card. None is printed as a dash.
        layout: Keyword arguments of `print_table`.
    """
    form = _CellFormatter().vformat
    cells = [[cell(row) if callable(cell) else form(cell, (), row) for cell in columns.values()] for row in rows]
    print_table([list(columns), *cells], **layout)


def print_table(
    rows: Sequence[Sequence[str]], left: int | Sequence[bool] = 1, indent: str = "", title: str = ""
) -> None:
    """Print rows of cells in columns, after an empty line and a title if given.

    If the terminal is too narrow, the widest columns are wrapped between words, and long words are shortened.

    Column ``k`` is left-aligned if ``k < left`` or, for a sequence, if ``left[k]`` is True. Others are right-aligned.
    """
    from rich.console import Console
    from rich.table import Table

    if title:
        print_text(title, first="\n")
    width = terminal_width() - len(indent)
    rows = _fitting(rows, width) if rows else rows
    longest_words, widths = _longest_words(rows), [max(map(cell_len, c)) for c in zip_longest(*rows, fillvalue="")]
    # Rich might wrap numbers, or not at all.
    while sum(widths) + 2 * (len(widths) - 1) > width and widths != longest_words:
        widest = max((k for k in range(len(widths)) if widths[k] > longest_words[k]), key=widths.__getitem__)
        widths[widest] -= 1
    table = Table.grid(padding=(0, 2, 0, 0))
    for k, column_width in enumerate(widths):
        is_left = k < left if isinstance(left, int) else left[k]
        table.add_column(justify="left" if is_left else "right", width=column_width)
    for row in rows:
        table.add_row(*row)
    # Rich would use 80 columns in a pipe.
    console = Console(width=max(width, sum(widths) + 2 * len(widths)), markup=False, emoji=False, highlight=False)
    with console.capture() as printed:
        console.print(table, crop=False)
    for line in printed.get().splitlines():
        print((indent + line).rstrip())


def _fitting(rows: Sequence[Sequence[str]], width: int) -> Sequence[Sequence[str]]:
    """Return rows whose longest words fit into ``width`` columns. Only names longer than `_SHORT` are shortened."""
    found, most = rows, max((len(word) for row in rows for cell in row for word in cell.split()), default=0)
    # Tables of two columns contain paths that users copy.
    while len(rows[0]) > 2 and sum(_longest_words(found)) + 2 * len(rows[0]) - 2 > width and most > _SHORT:
        most -= 1
        found = [[" ".join(_shortened(word, most) for word in cell.split(" ")) for cell in row] for row in rows]
    return found


def _longest_words(rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the width of the longest word in each column."""
    columns = zip_longest(*rows, fillvalue="")
    return [max((cell_len(word) for cell in column for word in cell.split()), default=0) for column in columns]


def _shortened(word: str, most: int) -> str:
    """Replace the middle of a longer word than ``most`` by three dots, unless it is a number or a digest."""
    if len(word) <= most or re.fullmatch(r"[-+(]*[\d.,:]+%?\)?|[0-9a-f]{16,}", word):
        return word
    return f"{word[: (most - 2) // 2]}...{word[-((most - 3) // 2) :]}"


def thinned(rows: Sequence[Any], most: int = 12) -> Sequence[Any]:
    """Return at most ``most`` evenly spaced rows, including the last row."""
    return rows[:: -max(-(-len(rows) // most), 1)][::-1]


def print_report(report: Mapping[str, Any]) -> None:
    """Print a report: values next to their names, then lists of objects and long objects as tables.

    Values that are None are omitted. Long tables show only their first `_MOST_ROWS` rows. Of ``seconds`` by stage, only
    the total is shown.
    """
    report = dict(report)
    if isinstance(enemy := report.get("enemy"), dict):
        report["enemy"] = enemy_text(enemy)
        if "states" in report and not report.keys() & {"covered", "format"}:  # of a model
            report["states"] = f"{report['states']:,}, including win and loss"
    if isinstance(seconds := report.get("seconds"), Mapping):
        report["seconds"] = seconds["total"]
    if size := report.pop("output_bytes", None):
        report["output"] = f"{report['output']} ({decimal(size)})"
    values, tables = [], []
    for name, value in report.items():
        if objects := _objects("", value):
            tables.append((name, objects))
        elif isinstance(value, Mapping) and len(_text(name, value)) > _LONG:
            texts = {key: _text(name if name in _SHARED else key, each) for key, each in value.items()}
            tables.append((name, [{"": _words(key), "value": text} for key, text in texts.items()]))
        elif value is not None:
            values.append([_words(name), _text(name, value)])
    if values:
        print_table(values, left=2)
    for k, (name, rows) in enumerate(tables):
        print(("\n" if k or values else "") + _words(name))
        _print_objects(rows)


def _objects(name: str, value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list or a mapping as flat rows. The column ``name`` contains the keys of a mapping."""
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return [row for each in value for row in _flat(each)]
    if isinstance(value, Mapping) and all(isinstance(each, Mapping) or _objects("", each) for each in value.values()):
        rows = ((key, row) for key, each in value.items() for row in _objects(name, each) or _flat(each))
        return [{name: f"{key}, {row.pop(name)}" if name in row else key} | row for key, row in rows]
    return []


def _flat(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a row unchanged, or one row per nested object. Only the first row contains the other values."""
    for name, value in row.items():
        if objects := _objects(name, value):
            whole = {other: each for other, each in row.items() if other != name}
            return [(whole if k == 0 else dict.fromkeys(whole, "")) | each for k, each in enumerate(objects)]
    return [dict(row)]


def _print_objects(rows: Sequence[Mapping[str, Any]]) -> None:
    names = dict.fromkeys(name for row in rows for name in row)
    columns = [name for name in names if any(row.get(name) not in (None, "") for row in rows)]
    hidden = _wide_columns(rows[:_MOST_ROWS], columns)
    columns = [name for name in columns if name not in hidden]
    cells = [[_text(name, row.get(name)) for name in columns] for row in rows[:_MOST_ROWS]]
    texts = [not any(isinstance(row.get(name), int | float) for row in rows) for name in columns]
    header = [] if columns == ["", "value"] else [list(map(_words, columns))]
    print_table([*header, *cells], left=[True, *texts[1:]], indent="  ")
    if len(rows) > _MOST_ROWS:
        print(f"  and {count(len(rows) - _MOST_ROWS, 'more row')} (use --json to see all)")
    if hidden:
        print_text(f"Too wide to show: {', '.join(map(_words, hidden))} (use --json).", indent="  ")


def _wide_columns(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> list[str]:
    """Return the columns to omit so that the remaining columns and the row labels fit the terminal.

    Standard errors are omitted first, then the widest columns.
    """
    words = {name: " ".join([_words(name), *(_text(name, row.get(name)) for row in rows)]).split() for name in columns}
    widths = {name: max(len(_shortened(word, _SHORT)) for word in each) for name, each in words.items()}
    # If the first column is empty, a text in another column is the label of the row.
    unnamed = [row for row in rows if row.get(columns[0]) == ""]
    labels = {name for row in unnamed for name in columns if row.get(name) and isinstance(row[name], str)}
    others = [name for name in columns[1:] if name not in labels]
    hidden: list[str] = []
    while len(hidden) < len(others) and sum(width + 2 for width in widths.values()) > terminal_width():
        left = [name for name in others if name in widths]
        hidden.append(max(left, key=lambda name: (name.endswith("_error"), widths[name])))
        del widths[hidden[-1]]
    return hidden


def _text(name: str, value: Any) -> str:
    """Format a value. In a mapping with a name in `_SHARED`, format each entry like a value of this name."""
    if value is None or isinstance(value, bool):
        return {None: "-", True: "yes", False: "no"}[value]
    if isinstance(value, int | float):
        return _number(name, value)
    if isinstance(value, Mapping):
        texts = ((key, _text(name if name in _SHARED else key, each)) for key, each in value.items())
        return ", ".join(f"{_words(key)} {text}" for key, text in texts) or "none"
    if isinstance(value, list):
        return ", ".join(_text(name, each) for each in value) or "none"
    return str(value)


def _number(name: str, value: float) -> str:
    """Format a number: probabilities as percentages, sizes with units, seeds and game ids without separators."""
    if not isinstance(value, int):
        if name.removesuffix("_error") in _CHANCES:
            return f"{value:.1%}"
        if name == "seconds":
            return f"{value:.2f}"
        # Round results, but not settings, which have few digits.
        is_exact = float(f"{value:.6g}") == value
        return f"{value:.6g}" if is_exact else f"{value:.1e}" if name in _BOUNDS else f"{value:.4g}"
    if "bytes" in name:
        return decimal(value)
    return str(value) if name in ("seed", "game") else f"{value:,}"


def _words(name: str) -> str:
    return name if name.startswith("/") else _LABELS.get(name, name.replace("_", " "))


def in_words(fields: Mapping[str, Any]) -> str:
    """Format names and values on one line, such as ``iterations 80, share 0.9``."""
    return printable(_text("", plain(fields, printable)), MOST_OF_LINE)


def count(number: int, noun: str) -> str:
    """Format a number with its noun: 1 game, 1,204 games."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"

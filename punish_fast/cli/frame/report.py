"""The output of commands: tables and JSON on stdout, progress on stderr."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.errors import CheckError, check_interrupt, say
from punish_fast.runtime.printable import MOST_OF_LINE, printable

if TYPE_CHECKING:
    import numpy as np

    from punish_fast.mdp.model import MDP
    from punish_fast.punish.codes import CodedStates

_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BETWEEN_UPDATES = 0.1
_BETWEEN_WORDS: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}

# Largest error bound that is only reported, relative to the largest value, unless the user sets a tolerance.
_ROUNDING = 1e-9

# Rows of a table in a report, and the length of an object that is printed as a table of its own.
_MOST_ROWS, _LONG = 20, 100

# Width of the line of progress that the terminal shows now.
_width = 0


def _show_on_terminal(text: str) -> None:
    """Replace the line of progress on the terminal."""
    global _width  # noqa: PLW0603 - there is one terminal
    text = printable(text, MOST_OF_LINE)[: shutil.get_terminal_size().columns - 1]
    sys.stderr.write("\r" + text.ljust(_width))
    sys.stderr.flush()
    _width = max(_width, len(text))


def clear_progress() -> None:
    """Take the line of progress off the terminal."""
    global _width  # noqa: PLW0603 - as above
    if _width:
        sys.stderr.write("\r" + " " * _width + "\r")
        sys.stderr.flush()
        _width = 0


def printable_report(report: Any) -> Any:
    """A report with all names in it as they may be printed, and paths as text."""
    if isinstance(report, Mapping):
        return {printable_report(name): printable_report(value) for name, value in report.items()}
    if isinstance(report, list | tuple):
        return [printable_report(value) for value in report]
    return printable(str(report)) if isinstance(report, str | Path) else report


def print_json(report: dict[str, Any]) -> None:
    """Print one JSON object on stdout, with paths as text."""
    print(json.dumps(report, indent=2, allow_nan=False, default=os.fspath))


@contextmanager
def interrupt_note(progress: Progress, path: Path | None, what: str) -> Iterator[None]:
    """Say after an interrupt whether ``what``, such as the results so far, is in the file of ``--resume``."""
    try:
        yield
    except KeyboardInterrupt:
        progress.clear()
        if path is None:
            say(f"{what} are not saved; --resume FILE would save them")
        elif path.exists():
            say(f"{path} has {what}; the same command resumes from it")
        raise


def check_error_bound(
    error_bound: float, tolerance: float, values: np.ndarray, is_set: bool, output: Path | None
) -> None:
    """Report a missed tolerance on stderr; raise CheckError if it is set or rounding does not explain the miss.

    If the tolerance is not ``is_set``, an error bound up to 1e-9 of the largest absolute value (float64 ``[n]``,
    infinite ones ignored) is only reported. ``output`` is the file that holds the values, if any.
    """
    import numpy as np

    if error_bound <= tolerance:
        return
    missed = f"the error bound {error_bound:.2e} is as low as rounding allows, above the tolerance {tolerance:g}"
    if output is not None:
        missed += f"; {output} holds the best values found"
    if not is_set and error_bound <= _ROUNDING * np.abs(values).max(initial=0.0, where=np.isfinite(values)):
        say(missed)
        return
    # Doubled, so that one digit does not round it below the bound.
    accepted = 2 * error_bound
    raise CheckError(f"{missed}; accept it with --tolerance {accepted:.0e}" if math.isfinite(accepted) else missed)


def terminal_width() -> int:
    """Columns of the terminal (``COLUMNS`` overrides it), or no limit where stdout goes elsewhere."""
    return shutil.get_terminal_size((sys.maxsize, 0)).columns


def print_text(text: str, indent: str = "", first: str | None = None) -> None:
    """Print a paragraph, broken between words at the terminal's width; ``first`` replaces the first ``indent``."""
    first = indent if first is None else first
    print(textwrap.fill(text, terminal_width(), initial_indent=first, subsequent_indent=indent, **_BETWEEN_WORDS))


def print_table(rows: Sequence[Sequence[str]], left: int = 1, indent: str = "") -> None:
    """Print rows of cells in columns, the first ``left`` aligned to the left and the rest to the right.

    If the terminal is too narrow, the widest columns are broken between words.
    """
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table

    table = Table.grid(padding=(0, 2, 0, 0))
    for k, column in enumerate(zip_longest(*rows, fillvalue="")):
        longest_word = max((cell_len(word) for cell in column for word in cell.split()), default=0)
        table.add_column(justify="left" if k < left else "right", min_width=longest_word)
    for row in rows:
        table.add_row(*row)
    # The width is ours, because Rich's own is 80 columns in a pipe.
    console = Console(width=terminal_width() - len(indent), markup=False, emoji=False, highlight=False)
    with console.capture() as printed:
        console.print(table, crop=False)
    for line in printed.get().splitlines():
        print((indent + line).rstrip())


def print_report(report: Mapping[str, Any]) -> None:
    """Print a report: values beside their names, then the lists of objects and long objects as tables.

    Unknown values (None) are left out. Long tables show only their first `_MOST_ROWS` rows.
    """
    values, tables = [], []
    for name, value in report.items():
        if isinstance(value, Mapping) and any(isinstance(each, Mapping) for each in value.values()):
            tables.append((name, [{"": key} | dict(each) for key, each in value.items()]))
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            tables.append((name, value))
        elif isinstance(value, Mapping) and len(_text(name, value)) > _LONG:
            tables.append((name, [{"": _words(key), "value": _text(key, each)} for key, each in value.items()]))
        elif value is not None:
            values.append([_words(name), _text(name, value)])
    if values:
        print_table(values, left=2)
    for k, (name, rows) in enumerate(tables):
        print(("\n" if k or values else "") + _words(name))
        _print_objects(rows)


def _print_objects(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print objects with the same keys as rows of a table."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = [name for name in names if any(row.get(name) is not None for row in rows)]
    cells = [[_text(name, row.get(name)) for name in columns] for row in rows[:_MOST_ROWS]]
    texts = (not any(isinstance(row.get(name), int | float) for row in rows) for name in columns)
    header = [] if columns == ["", "value"] else [list(map(_words, columns))]
    print_table([*header, *cells], left=max(1, len(list(takewhile(bool, texts)))), indent="  ")
    if len(rows) > _MOST_ROWS:
        print(f"  and {count(len(rows) - _MOST_ROWS, 'more row')}, which --json prints")


def _text(name: str, value: Any) -> str:
    """Return a value as text in a line."""
    if value is None or isinstance(value, bool):
        return {None: "-", True: "yes", False: "no"}[value]
    if isinstance(value, int | float):
        return _number(name, value)
    if isinstance(value, Mapping):
        return ", ".join(f"{_words(key)} {_text(key, each)}" for key, each in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(_text(name, each) for each in value) or "none"
    return str(value)


def _number(name: str, value: float) -> str:
    """Return a number as text: with a unit if its name is one of bytes, and a seed as it is typed."""
    if not isinstance(value, int):
        return f"{value:.6g}"
    if "bytes" in name or name == "memory":
        return in_units(value, "B")
    return str(value) if name in ("seed", "game") else f"{value:,}"


def _words(name: str) -> str:
    return name.replace("_", " ")


def reachable(states: CodedStates, transitions: Callable[[], MDP]) -> int | None:
    """States, win and loss included, that play reaches; None under the presets, where it reaches all of them."""
    from punish_fast.punish.rules import PRESETS, name_of
    from punish_fast.punish.states.openings import count_reachable

    if name_of(states.rules) in PRESETS:
        return None
    mdp = transitions()
    return count_reachable(states, mdp) + len(mdp.terminal_reward)


class Stopwatch:
    """Seconds of each stage, and in total.

    Stages that are entered more than once add up, and a stage inside another stops the outer one.
    """

    def __init__(self) -> None:
        self._begin = time.perf_counter()
        self._inner = 0.0
        # Seconds by stage; stages entered more than once add up, and a stage inside another stops the outer one.
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Time a block as part of ``stage``; an interrupt that is pending ends the command here."""
        check_interrupt()
        begin, inner_before = time.perf_counter(), self._inner
        self._inner = 0.0
        try:
            yield
        finally:
            elapsed = time.perf_counter() - begin
            self.seconds[stage] = self.seconds.get(stage, 0.0) + elapsed - self._inner
            self._inner = inner_before + elapsed

    def total(self) -> float:
        """Seconds since the stopwatch was made."""
        return time.perf_counter() - self._begin


class Progress:
    """Progress of long work on stderr: one line that is rewritten on a terminal, else a line every 10 seconds."""

    def __init__(self, quiet: bool = False, clock: Callable[[], float] = time.perf_counter) -> None:
        """Report nothing if ``quiet``; ``clock`` returns seconds."""
        self._quiet, self._clock = quiet, clock
        self._live = sys.stderr.isatty()
        # What the last sweep reached.
        self._swept = ""
        self._begin = clock()
        self._last = self._begin if not self._live else 0.0
        self._latest = ""
        # The first line of a compilation comes at once.
        self._compiling_shown = -_SECONDS_BETWEEN_LINES

    def step(self, stage: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` steps of a stage are done."""
        elapsed = max(self.seconds, 1e-9)
        left = f", {elapsed / done * (total - done):.1f} s left" if 0 < done < total else ""
        self.show(f"{stage}: {done} of {total} ({done / elapsed:.1f}/s{left})", is_last=done == total)

    def part(self, stage: str, what: str, number: int, total: int) -> None:
        """Report that part ``number`` (from 1) of a stage begins."""
        self.show(f"{stage}: {what} ({number} of {total})")

    def sweep(self, stage: str, sweeps: int, bound: float) -> None:
        """Report a sweep of the solver, or a policy that it evaluates, and the error bound it reached."""
        step = "sweep" if stage == "solve" else "policy"
        self._swept = f"{stage}: {step} {sweeps}, error bound {bound:.2e}"
        self.show(f"{self._swept} ({sweeps / max(self.seconds, 1e-9):.1f}/s)")

    def tasks(self, done: int, total: int, seconds_left: float) -> None:
        """Report tasks of a sweep that is under way on a cluster."""
        after = f"{self._swept}, then " if self._swept else "cluster: "
        self.show(f"{after}{done} of {count(total, 'task')}, {seconds_left:.1f} s left", is_last=done == total)

    def response(self, stage: str, number: int, win_probability: float) -> None:
        """Report a response to a policy and how often the best one so far wins."""
        self.show(f"{stage}: response {number}, the best so far wins {win_probability:.6f} ({self.seconds:.1f} s)")

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Show a stage, and every 10 seconds without other progress its latest one and how long it has taken."""
        self.start()
        self.show(name)
        ended = threading.Event()
        heartbeat = threading.Thread(target=self._beat, args=(ended,), daemon=True)
        if not self._quiet:
            heartbeat.start()
        try:
            yield
        finally:
            ended.set()
            if not self._quiet:
                heartbeat.join()

    def _beat(self, ended: threading.Event) -> None:
        pause = 1.0 if self._live else max(_SECONDS_BETWEEN_LINES, 1.0)
        while not ended.wait(pause / 10):
            now = self._clock()
            if now - self._last >= pause:
                self._last = now
                self._write(f"{self._latest}, {self.seconds:.0f} s")

    @property
    def seconds(self) -> float:
        """Seconds since the stage began."""
        return self._clock() - self._begin

    def compiling(self, kernel: str, number: int, total: int) -> None:
        """Report that kernel ``number`` of at most ``total`` is being compiled; called by any thread."""
        now = self._clock()
        if self._live or now - self._compiling_shown >= _SECONDS_BETWEEN_LINES:
            self._compiling_shown = now
            self._write(f"compiling kernels (first run only): {kernel}, {number} of at most {total}")

    def start(self) -> None:
        """Begin a stage."""
        self._begin = self._clock()

    def clear(self) -> None:
        """Take the line off the terminal."""
        clear_progress()

    def show(self, text: str, is_last: bool = False) -> None:
        """Show the progress of a stage in one line, unless the last one is too recent."""
        check_interrupt()
        self._latest = text
        now = self._clock()
        pause = _SECONDS_BETWEEN_UPDATES if self._live else _SECONDS_BETWEEN_LINES
        if self._quiet or (now - self._last < pause and not (self._live and is_last)):
            return
        self._last = now
        self._write(text)

    def _write(self, text: str) -> None:
        if self._live:
            _show_on_terminal(text)
        else:
            say(text)


def finite(value: float) -> float | None:
    """A number as JSON has it: None for an unknown or infinite one."""
    return float(value) if math.isfinite(value) else None


def peak_memory() -> int | None:
    """Peak memory of this process in bytes, or None where the system does not tell."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def in_words(fields: Mapping[str, Any]) -> str:
    """Names and values in a line: iterations 80, share 0.9."""
    texts = {name: f"{value:.6g}" if isinstance(value, float) else str(value) for name, value in fields.items()}
    named = [f"{name.replace('_', ' ')} {printable(text)}" for name, text in texts.items()]
    return printable(", ".join(named), MOST_OF_LINE)


def in_units(number: float, unit: str = "") -> str:
    """A number with a decimal prefix: 17.0 M."""
    for limit, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= limit:
            return f"{number / limit:.1f} {prefix}{unit}" if len(unit) < 2 else f"{number / limit:.1f} {prefix} {unit}"
    return f"{number:.0f} {unit}".rstrip()


def count(number: int, noun: str) -> str:
    """A number of things: 1 game, 1,204 games."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"

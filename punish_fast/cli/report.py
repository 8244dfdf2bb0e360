"""What commands print: tables and JSON on stdout, progress on stderr."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from punish_fast.cli.errors import check_interrupt, say

_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BETWEEN_UPDATES = 0.1

# Progress that stands on the terminal now.
_on_terminal: set[Progress] = set()


def clear_progress() -> None:
    """Take every line of progress off the terminal; for what is said when work has failed."""
    for progress in tuple(_on_terminal):
        progress.clear()


def print_json(report: dict[str, Any]) -> None:
    """Print one JSON object on stdout."""
    print(json.dumps(report, indent=2, allow_nan=False))


def print_table(rows: Sequence[Sequence[str]], left: int = 1, indent: str = "") -> None:
    """Print rows of cells in columns, the first ``left`` aligned to the left and the rest to the right."""
    widths = [max(len(row[k]) for row in rows if k < len(row)) for k in range(max(len(row) for row in rows))]
    for row in rows:
        cells = [cell.ljust(widths[k]) if k < left else cell.rjust(widths[k]) for k, cell in enumerate(row)]
        print((indent + "  ".join(cells)).rstrip())


class Stopwatch:
    """Seconds of each stage, and of everything since it was made.

    Attributes:
        seconds: Seconds by stage; stages entered more than once add up, and a stage inside another stops the outer one.
    """

    def __init__(self) -> None:
        self._begin = time.perf_counter()
        self._inner = 0.0
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Time a block as part of ``stage``."""
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

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._live = sys.stderr.isatty()
        self._begin = time.perf_counter()
        self._last = self._begin if not self._live else 0.0
        self._width = 0

    def step(self, stage: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` steps of a stage are done."""
        elapsed = time.perf_counter() - self._begin
        left = f", {elapsed / done * (total - done):.1f} s left" if 0 < done < total else ""
        self._show(f"{stage}: {done} of {total} ({done / max(elapsed, 1e-9):.1f}/s{left})", done == total)

    def part(self, stage: str, what: str, number: int, total: int) -> None:
        """Report that part ``number`` (from 1) of a stage begins."""
        self._show(f"{stage}: {what} ({number} of {total})", False)

    def sweep(self, stage: str, sweeps: int, bound: float) -> None:
        """Report a sweep of the solver and the error bound it reached."""
        elapsed = time.perf_counter() - self._begin
        self._show(f"{stage}: sweep {sweeps}, error bound {bound:.2e} ({sweeps / max(elapsed, 1e-9):.1f}/s)", False)

    def answer(self, stage: str, rounds: int, win_probability: float) -> None:
        """Report an answer to a policy and how often the best one so far wins."""
        elapsed = time.perf_counter() - self._begin
        self._show(f"{stage}: answer {rounds}, the best one wins {win_probability:.6f} ({elapsed:.1f} s)", False)

    def learn(self, iterations: int, made: int, measured: dict[str, Any]) -> None:
        """Report an iteration of an equilibrium, the how-manieth of this run it is, and what was measured last."""
        pace = (time.perf_counter() - self._begin) / made
        told = f", conceded {measured['points']:.3f} points after {measured['iterations']}" if measured else ""
        self._show(f"equilibrium: iteration {iterations}, {pace:.2f} s each{told}", False)

    def start(self) -> None:
        """Begin a stage."""
        self._begin = time.perf_counter()

    def clear(self) -> None:
        """Take the line off the terminal."""
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
            self._width = 0
        _on_terminal.discard(self)

    def _show(self, text: str, is_last: bool) -> None:
        check_interrupt()
        now = time.perf_counter()
        pause = _SECONDS_BETWEEN_UPDATES if self._live else _SECONDS_BETWEEN_LINES
        if self._quiet or (now - self._last < pause and not (self._live and is_last)):
            return
        self._last = now
        if self._live:
            sys.stderr.write("\r" + text.ljust(self._width))
            sys.stderr.flush()
            self._width = max(self._width, len(text))
            _on_terminal.add(self)
        else:
            say(text)


def peak_memory() -> int | None:
    """The most memory this process has held, in bytes; None where the system does not tell."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def in_words(fields: Mapping[str, Any]) -> str:
    """Names and what they are, in a line: iterations 80, answers 0.9."""
    return ", ".join(f"{name} {value}" for name, value in fields.items())


def in_units(number: float, unit: str = "") -> str:
    """A number with a decimal prefix: 17.0 M."""
    for limit, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= limit:
            return f"{number / limit:.1f} {prefix}{unit}" if len(unit) < 2 else f"{number / limit:.1f} {prefix} {unit}"
    return f"{number:.0f} {unit}".rstrip()

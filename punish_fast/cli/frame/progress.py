"""Progress reports on stderr, and timing of stages."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from punish_fast.cli.frame.errors import check_interrupt, say, show_progress
from punish_fast.cli.frame.report import count

if TYPE_CHECKING:
    from punish_fast.arena.survey.jobs import Job, Watch

_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BETWEEN_UPDATES = 0.1
# Seconds that a first run of `solve` compiles on two cores, per announced kernel. Shorter times than
# `_LONG_COMPILATION` are not reported.
_SECONDS_PER_KERNEL = 2.4
_LONG_COMPILATION = 3.0


@contextmanager
def interrupt_note(path: Path | None, what: str) -> Iterator[None]:
    """If the block is interrupted, report whether ``what``, such as the results so far, has been saved in the file."""
    try:
        yield
    except KeyboardInterrupt:
        if path is None:
            say(f"{what} are not saved; use --resume FILE to save them")
        elif path.exists():
            say(f"{path} contains {what}; repeat the command to resume")
        raise


class Stopwatch:
    """Stopwatch that measures the time of each stage and the total time, in seconds."""

    def __init__(self) -> None:
        self._begin = time.perf_counter()
        self._inner = 0.0
        # Seconds by stage. Times of repeated stages are added; a nested stage pauses the outer stage.
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Time a block as part of ``stage``; raise a pending interrupt first."""
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
        """Return the seconds since the stopwatch was created."""
        return time.perf_counter() - self._begin

    def seconds_in_all(self) -> dict[str, float]:
        """Return the seconds of each stage and, under ``total``, since the stopwatch was created."""
        return self.seconds | {"total": self.total()}


class Progress:
    """Progress on stderr: one line that is rewritten on a terminal, otherwise a line every 10 seconds."""

    def __init__(self, quiet: bool = False, clock: Callable[[], float] = time.perf_counter) -> None:
        """Report nothing if ``quiet`` is True; ``clock`` returns the time in seconds."""
        self._quiet, self._clock = quiet, clock
        self._live = sys.stderr.isatty()
        self._begin = clock()
        self._last = 0.0 if self._live else self._begin
        self._latest = ""
        # The first message about compilation is shown immediately.
        self._compiling_shown = -_SECONDS_BETWEEN_LINES

    @property
    def seconds(self) -> float:
        """Seconds since the stage began."""
        return self._clock() - self._begin

    def start(self) -> None:
        """Start timing a stage."""
        self._begin = self._clock()

    def step(self, stage: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` steps of a stage are done."""
        elapsed = max(self.seconds, 1e-9)
        left = f", {elapsed / done * (total - done):.1f} s left" if 0 < done < total else ""
        self.show(f"{stage}: {done} of {total} ({done / elapsed:.1f}/s{left})", is_last=done == total)

    def sweep(self, stage: str, sweeps: int, bound: float) -> None:
        """Report the number of sweeps made or policies evaluated by the solver, and the error bound."""
        step = "sweep" if stage == "solve" else "policy"
        rate = sweeps / max(self.seconds, 1e-9)
        self.show(f"{stage}: {step} {sweeps}, error bound {bound:.2e} ({rate:.1f}/s)")

    def response(self, stage: str, number: int, win_probability: float) -> None:
        """Report the progress of an exploiter, by default the number of responses tried and the best result so far."""
        text = {
            "bayes": f"{number:,} games, {win_probability:.2%} won",
            "upper bound": f"iteration {number}, no opponent wins more than {win_probability:.2%}",
        }.get(stage, f"response {number}, the best so far wins {win_probability:.2%}")
        self.show(f"{stage}: {text} ({self.seconds:.1f} s)")

    @contextmanager
    def stage(self, name: str) -> Iterator[Callable[[str], None]]:
        """Show a stage; while nothing new is reported, repeat the latest line with the elapsed seconds.

        Yield a function that shows details after the name.
        """
        self.start()
        self.show(name)
        ended = threading.Event()
        heartbeat = threading.Thread(target=self._beat, args=(ended,), daemon=True)
        if not self._quiet:
            heartbeat.start()
        try:
            yield lambda details: self.show(f"{name}, {details}")
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

    def show(self, text: str, is_last: bool = False) -> None:
        """Show the progress of a stage in one line, unless the previous line is too recent."""
        check_interrupt()
        self._latest = text
        now = self._clock()
        pause = _SECONDS_BETWEEN_UPDATES if self._live else _SECONDS_BETWEEN_LINES
        if not self._quiet and (now - self._last >= pause or (self._live and is_last)):
            self._last = now
            self._write(text)

    def compiling(self, kernel: str, number: int, total: int) -> None:
        """Report that kernel ``number`` of at most ``total`` is being compiled; can be called from any thread.

        If ``number`` is 0, report the time that ``total`` kernels take, unless it is short.
        """
        now = self._clock()
        if number == 0:
            if (seconds := total * _SECONDS_PER_KERNEL) > _LONG_COMPILATION:
                self._compiling_shown = now
                say(f"compiling kernels, once per installation: about {seconds:.0f} s")
        elif self._live or now - self._compiling_shown >= _SECONDS_BETWEEN_LINES:
            self._compiling_shown = now
            self._write(f"compiling kernels (first run only): {kernel}, {number} of at most {total}")

    def _write(self, text: str) -> None:
        (show_progress if self._live else say)(text)


class Stages:
    """Timing and progress reports for the stages of a command."""

    def __init__(self, quiet: bool) -> None:
        self.clock, self.progress = Stopwatch(), Progress(quiet)

    @contextmanager
    def __call__(self, name: str, text: str = "") -> Iterator[None]:
        """Time a stage and show its progress under ``text``, or under its name if ``text`` is empty."""
        with self.clock(name), self.progress.stage(text or name):
            yield

    def of_game(self, name: str) -> AbstractContextManager[None]:
        """Time and show a stage of `PlayerGroup.with_graph`."""
        return self(name, f"game: {name}")


def watch_jobs(verb: str, quiet: bool) -> Watch:
    """Return a watch that shows the number of finished jobs, the current job and the time left."""
    from punish_fast.arena.survey.jobs import Watch

    lines, clock, latest = Progress(quiet), Progress(quiet), ""

    def done(n_done: int, total: int) -> None:
        nonlocal latest
        if n_done == 0:
            clock.start()
        left = f", {clock.seconds / n_done * (total - n_done):.0f} s left" if 0 < n_done < total else ""
        latest = f"{verb}: {n_done} of {count(total, 'job')} done{left}"
        lines.show(latest, is_last=n_done == total)

    def stage(job: Job, name: str) -> AbstractContextManager[object]:
        return lines.stage(f"{latest}; {job.label}, {name}")

    return Watch(done, stage)

"""Report progress on stderr, and measure the time of stages."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from punish_fast.cli.frame.errors import check_interrupt
from punish_fast.cli.frame.report import count, say, show_progress
from punish_fast.runtime.compilation.compile_progress import announce, current
from punish_fast.runtime.deadline import seconds_left

if TYPE_CHECKING:
    from punish_fast.arena.survey.jobs import Job, Watch

_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BETWEEN_UPDATES = 0.1


@contextmanager
def interrupt_note(path: Path | None, what: str) -> Iterator[None]:
    """If the block is interrupted, report whether the file contains ``what``, such as the results so far."""
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
        # Seconds by stage. Times of repeated stages are added. A nested stage pauses the outer stage.
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Time a block as part of ``stage``. Raise a pending interrupt first."""
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
    """Progress on stderr: one updated line on a terminal, otherwise a new line every 10 seconds."""

    def __init__(self, quiet: bool = False, clock: Callable[[], float] = time.perf_counter) -> None:
        """Create a progress report, without output if ``quiet`` is True. ``clock`` returns the time in seconds."""
        self._quiet, self._clock = quiet, clock
        self._live = sys.stderr.isatty()
        self._created = self._begin = clock()
        self._last = 0.0 if self._live else self._begin
        self._latest, self._ends = "", 0.0
        # The first message about compilation is shown immediately.
        self._compiling_shown = -_SECONDS_BETWEEN_LINES

    @property
    def seconds(self) -> float:
        """Seconds since the stage began."""
        return self._clock() - self._begin

    def start(self) -> None:
        """Start timing a stage."""
        self._begin = self._clock()

    def steps(self, stage: str) -> Callable[[int, int], None]:
        """Start timing a stage. Return a function like `step` for this stage."""
        self.start()
        return partial(self.step, stage)

    def step(self, stage: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` steps of a stage are done."""
        elapsed = max(self.seconds, 1e-9)
        left = elapsed / done * (total - done) if done else 0.0
        self.show(f"{stage}: {done} of {total} ({done / elapsed:.1f}/s)", is_last=done == total, left=left)

    def sweep(self, stage: str, sweeps: int, bound: float) -> None:
        """Report the solver's error bound and its number of sweeps or evaluated policies."""
        step = "sweep" if stage == "solve" else "policy"
        rate = sweeps / max(self.seconds, 1e-9)
        self.show(f"{stage}: {step} {sweeps}, error bound {bound:.2e} ({rate:.1f}/s)")

    def response(self, stage: str, number: int, win_probability: float) -> None:
        """Report an exploiter's progress: its number of responses and the best win probability."""
        self.show(f"{stage}: response {number}, the best so far wins {win_probability:.2%}")

    @contextmanager
    def stage(self, name: str, left: float = 0.0) -> Iterator[Callable[..., None]]:
        """Show a stage. Repeat the latest line with the seconds since the command began until there is new progress.

        During compilation, show the progress of the compilation instead. Yield a function like `show` that prints the
        name of the stage and details.
        """
        self.start()
        self.show(name, left=left)
        ended = threading.Event()
        heartbeat = threading.Thread(target=self._beat, args=(ended,), daemon=True)
        if not self._quiet:
            heartbeat.start()
        try:
            yield lambda details, left=0.0: self.show(f"{name}, {details}", left=left)
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
                if current:
                    announce()
                else:
                    self._write(f"{self._line(now)}, {now - self._created:.0f} s")

    def show(self, text: str, is_last: bool = False, left: float = 0.0) -> None:
        """Show the progress of a stage in one line. Print nothing if the previous line is too recent.

        ``left`` is an estimate of the remaining seconds, or 0 if unknown. It is at most the time limit. Later lines
        count the estimate down to 0 and then omit it.
        """
        check_interrupt()
        now = self._clock()
        self._latest, self._ends = text, now + min(left, seconds_left())
        pause = _SECONDS_BETWEEN_UPDATES if self._live else _SECONDS_BETWEEN_LINES
        if not self._quiet and (now - self._last >= pause or (self._live and is_last)):
            self._last = now
            self._write(self._line(now))

    def _line(self, now: float) -> str:
        minutes, seconds = divmod(round(self._ends - now), 60)
        return self._latest + (f", {minutes}:{seconds:02} left" if (minutes, seconds) > (0, 0) else "")

    def compiling(self, _kernel: str, left: int) -> None:
        """Report that at least ``left`` kernels are left to compile. This method is thread-safe."""
        now = self._clock()
        if left and (self._live or now - self._compiling_shown >= _SECONDS_BETWEEN_LINES):
            self._compiling_shown = now
            self._write(f"compiling kernels, at least {left} left, {now - self._created:.0f} s")

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
        """Time a stage of `PlayerGroup.with_graph` and show its progress."""
        return self(name, f"game: {name}")


def watch_jobs(verb: str, quiet: bool) -> Watch:
    """Return a watch that shows the number of finished jobs, the current job and the remaining time."""
    from punish_fast.arena.survey.jobs import Watch

    lines, clock, latest, ends = Progress(quiet), Progress(quiet), "", 0.0

    def done(n_done: int, total: int, later: float = 0.0) -> None:
        nonlocal latest, ends
        if n_done == 0:
            clock.start()
        left = clock.seconds / n_done * (total - n_done) + later if n_done else 0.0
        latest, ends = f"{verb}: {n_done} of {count(total, 'job')} done", clock.seconds + left
        lines.show(latest, is_last=n_done == total, left=left)

    def stage(job: Job, name: str) -> AbstractContextManager[object]:
        return lines.stage(f"{latest}; {job.label}, {name}", left=ends - clock.seconds)

    return Watch(done, stage)

"""What the verbs of house rules share: progress of jobs, and notes after an interrupt."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from punish_fast.cli.frame.errors import say
from punish_fast.cli.frame.report import Progress, count

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from punish_fast.cluster.jobs import Job, Watch


class JobProgress:
    """Progress of jobs: how many are done, which one runs, and the time left."""

    def __init__(self, verb: str, quiet: bool) -> None:
        self._verb = verb
        self._lines, self._clock = Progress(quiet), Progress(quiet)
        self._told = ""
        # Jobs without a result at the beginning.
        self.total = 0

    @property
    def watch(self) -> Watch:
        """What the library calls."""
        from punish_fast.cluster.jobs import Watch

        return Watch(self._done, self._stage)

    def clear(self) -> None:
        """Take the line off the terminal."""
        self._lines.clear()

    def _done(self, done: int, total: int) -> None:
        if done == 0:
            self.total = total
            self._clock.start()
        seconds = self._clock.seconds
        left = f", {seconds / done * (total - done):.0f} s left" if 0 < done < total else ""
        self._told = f"{self._verb}: {done} of {count(total, 'job')} done{left}"
        self._lines.show(self._told, is_last=done == total)

    def _stage(self, job: Job, name: str) -> AbstractContextManager[None]:
        return self._lines.stage(f"{self._told}; {job.label}, {name}")


@contextmanager
def kept_note(progress: JobProgress, file: Path) -> Iterator[None]:
    """Say after an interrupt what is kept, and how to resume."""
    try:
        yield
    except KeyboardInterrupt:
        progress.clear()
        say(f"{file} has the results of all finished jobs; the same command resumes from there")
        raise

"""The standard streams of the process: whatever is printed is written to its end, or the command fails.

Python itself takes a stream that is closed for none at all, raises an error in the middle of the work where a name does
not fit the encoding, and drops the rest of a long text where an unbuffered stream takes only a part of it.
"""

from __future__ import annotations

import io
import os
import select
import sys
from typing import Any

from punish_fast.cli.errors import UsageError


class PrintError(OSError):
    """Results that cannot be printed; the message says why."""


class _Results(io.FileIO):
    def write(self, data: Any) -> int:
        try:
            while (written := super().write(data)) is None:  # a full pipe that does not block
                select.select([], [self], [])
            return written
        except BrokenPipeError:  # no news to its reader
            raise
        except OSError as error:
            raise PrintError(error.errno, f"the results cannot be printed ({error.strerror})") from None


class _Remarks(io.FileIO):
    """Remarks and progress that nobody can read are no reason to fail."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or len(data)
        except OSError:
            return len(data)


def prepare_streams() -> None:
    """Replace stdout and stderr; what is closed is occupied, so that no file of ours is opened in its place."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) < 3:
        pass
    os.close(descriptor)
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    sys.stderr = _text(_Remarks(2, "w", closefd=False), sys.stderr, True)
    if sys.stdout is not None:
        sys.stdout = _text(_Results(1, "w", closefd=False), sys.stdout, os.isatty(1) or _is_unbuffered(sys.stdout))


def _is_unbuffered(stream: Any) -> bool:
    return bool(getattr(stream, "write_through", False))


def _text(raw: io.FileIO, stream: Any, is_flushed: bool) -> io.TextIOWrapper:
    encoding = "utf-8" if stream is None else stream.encoding
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, "backslashreplace", line_buffering=is_flushed)


def must_have_output() -> None:
    """Check that there is somewhere to print results.

    Raises:
        PrintError: stdout is closed.
    """
    if sys.stdout is None:
        raise PrintError("the results cannot be printed (stdout is closed)")


def must_have_input(what: str) -> None:
    """Check that ``what`` can be asked for.

    Raises:
        UsageError: stdin is closed.
    """
    if sys.stdin is None:
        raise UsageError(f"stdin is closed, but {what} are read from there")

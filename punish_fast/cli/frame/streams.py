"""Prepare the standard streams so that output is written completely or the command fails.

By default, Python sets a closed stream to None, raises an error during output if text cannot be encoded, and loses the
rest of a long text if an unbuffered stream accepts only part of the text.
"""

import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from punish_fast.cli.frame.errors import ClosedPipeError, PrintError


class _Stream(io.TextIOWrapper):
    """Text layer of stdout or stderr. Write errors raise PrintError on stdout and are ignored on stderr.

    A BrokenPipeError must not reach Typer, because Typer would then replace the streams and end the process.
    """

    replaced: Any

    def write(self, text: str) -> int:
        self._attempt(super().write, text)
        return len(text)

    def flush(self) -> None:
        self._attempt(super().flush)

    def _attempt(self, call: Callable[..., Any], *arguments: str) -> None:
        try:
            call(*arguments)
        except OSError as error:
            # At exit, Python would try to write the rest and fail again, so the descriptor is replaced.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            if self.fileno() == 1:
                if isinstance(error, BrokenPipeError):
                    raise ClosedPipeError from None
                raise PrintError(f"the results cannot be printed ({error.strerror})") from None


def prepare_streams() -> None:
    """Prepare the standard streams. Occupy closed descriptors, so that no file is opened in their place."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) < 3:
        pass
    os.close(descriptor)
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    if sys.stdout is not None:
        sys.stdout = _layer_over(sys.stdout)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8", errors="replace")  # noqa: SIM115
    else:
        sys.stderr = _layer_over(sys.stderr)


def _layer_over(stream: Any) -> _Stream:
    """Return a new text layer over the binary layer of ``stream``."""
    # On Windows, a console raises an error because it always blocks.
    with suppress(AttributeError, OSError):
        os.set_blocking(stream.fileno(), True)
    buffer, is_unbuffered = stream.buffer, isinstance(stream.buffer, io.RawIOBase)
    layer = _Stream(
        io.BufferedWriter(buffer) if is_unbuffered else buffer,
        *(stream.encoding, "backslashreplace", "\n", stream.line_buffering or is_unbuffered),
    )
    # Keep a reference to the old text layer, because freeing the old layer would close the binary layer.
    layer.replaced = stream
    return layer


def must_have_output() -> None:
    """Raise PrintError if stdout is closed."""
    if sys.stdout is None:
        raise PrintError("the results cannot be printed (stdout is closed)")

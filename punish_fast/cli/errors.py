"""From exceptions to one line on stderr and an exit code."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

FAILED = 1
WRONG = 2
INTERRUPTED = 130

# Errors of ours that are not the fault of the input.
_FAILURES = ("CheckError", "WriteError")


class CheckError(Exception):
    """A check did not hold, or the work fell short; the message says how."""


class UsageError(Exception):
    """Options that do not go together; the message names them."""


def say(message: str) -> None:
    """Print a line on stderr."""
    print(message, file=sys.stderr, flush=True)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    # The first interrupt stops cleanly; a second one while files are tidied up aborts.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    raise KeyboardInterrupt


def _warn(message: Warning | str, *_details: object) -> None:
    say(f"warning: {message}")


def guarded(call: Callable[[], Any]) -> int:
    """Call and return the exit code; with ``PUNISH_FAST_DEBUG=1`` errors keep their traceback."""
    signal.signal(signal.SIGINT, _interrupt)
    warnings.showwarning = _warn  # type: ignore[assignment]
    if os.environ.get("PUNISH_FAST_DEBUG") == "1":
        return _code_of(call())
    try:
        code = _code_of(call())
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:
        return _explain(error)
    if code == INTERRUPTED:
        say("interrupted: no file was changed")
    return code


def _code_of(result: Any) -> int:
    return result if isinstance(result, int) else 0


def _explain(error: Exception) -> int:
    if isinstance(error, BrokenPipeError):
        # Whoever read our output is gone; there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    if type(error).__name__ == "Abort":
        return INTERRUPTED
    if hasattr(error, "format_message"):  # what Typer raises for wrong usage
        say(f"error: {error.format_message()}")
        return int(getattr(error, "exit_code", WRONG))
    if isinstance(error, MemoryError):
        say(f"error: not enough memory ({error})")
        return FAILED
    if type(error).__module__.startswith("punish_fast."):
        say(f"error: {error}")
        return FAILED if type(error).__name__ in _FAILURES else WRONG
    say(f"error: unexpected {type(error).__name__}: {error} (PUNISH_FAST_DEBUG=1 shows where)")
    return FAILED

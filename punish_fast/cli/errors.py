"""Exceptions and interrupts as one line on stderr and an exit code."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

from punish_fast.runtime.printable import MOST_OF_LINE, printable

FAILED = 1
WRONG = 2
INTERRUPTED = 130

# Errors of this package that are not the fault of the input.
_FAILURES = ("CheckError", "WriteError", "LockedError", "PrintError", "WorkerError", "CertificateError", "ClusterError")
# How a command ends that was told to, by the signal.
_ENDINGS: dict[int, str] = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


class CheckError(Exception):
    """A check failed, or a goal was missed; the message says which."""


class PrintError(Exception):
    """Results that cannot be printed; the message is empty if their reader has closed the pipe."""


class UsageError(Exception):
    """Options that do not go together; the message names them."""


def say(message: str) -> None:
    """Print one line on stderr, in place of the progress shown there."""
    if "punish_fast.cli.report" in sys.modules:
        sys.modules["punish_fast.cli.report"].clear_progress()
    print(printable(message, MOST_OF_LINE), file=sys.stderr, flush=True)


_RETRY_SECONDS = 0.01
# The signal that stops the command; 0 until one arrives.
_interrupted = 0
# An interrupt is deferred for a moment; another one before that is not.
_put_off = False


def _interrupt(number: int, frame: FrameType | None) -> None:
    # The first interrupt stops cleanly; a second one during the clean-up aborts.
    global _interrupted, _put_off  # noqa: PLW0603 - a signal is the whole process's
    if _is_importing(frame) and not _put_off:
        # Extension modules print exceptions of their imports, and raise others in their place.
        _put_off = True
        retry = threading.Timer(_RETRY_SECONDS, _interrupt_again, [number])
        retry.daemon = True
        retry.start()
        return
    _interrupted = number
    signal.signal(number, signal.SIG_DFL)
    raise KeyboardInterrupt


def _interrupt_again(number: int) -> None:
    global _put_off  # noqa: PLW0603 - as above
    _put_off = False
    _thread.interrupt_main(signal.Signals(number))


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def check_interrupt() -> None:
    """Stop now if an interrupt came where Python swallows exceptions, such as in a finaliser.

    Raises:
        KeyboardInterrupt: it did.
    """
    if _interrupted:
        raise KeyboardInterrupt


def _warn(message: Warning | str, *_details: object) -> None:
    say(f"warning: {message}")


def _pass_over_interrupts(unraisable: Any) -> None:
    # Objects that an interrupt left half made may fail when they are freed.
    if not _interrupted and unraisable.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(unraisable)


def guarded(call: Callable[[], Any]) -> int:
    """Run a command and return its exit code; with ``PUNISH_FAST_DEBUG=1`` errors keep their traceback."""
    global _interrupted, _put_off
    _interrupted, _put_off = 0, False
    for number in _ENDINGS:
        signal.signal(number, _interrupt)
    sys.unraisablehook = _pass_over_interrupts
    warnings.showwarning = _warn  # type: ignore[assignment]
    if os.environ.get("PUNISH_FAST_DEBUG") == "1":
        return _code_of(call())
    try:
        code = _code_of(call())
    except KeyboardInterrupt:
        code = _interrupted_code()
    except Exception as error:
        # A library may turn an interrupt into another error.
        code = _interrupted_code() if _interrupted else _explain(error)
    if code == INTERRUPTED:  # as newer versions of Typer turn any KeyboardInterrupt into a code
        code = _interrupted_code()
    if code != 0 and "punish_fast.runtime.files" in sys.modules:
        sys.modules["punish_fast.runtime.files"].discard_temporaries()
    code = _flush_output(code)
    if code == _interrupted_code():
        ending = _ENDINGS[_interrupted or signal.SIGINT]
        say(f"{ending}: every file is as it was or complete, none is half-written")
    return code


def _interrupted_code() -> int:
    """The exit code of a command that was told to end, as shells give it."""
    return INTERRUPTED - signal.SIGINT + (_interrupted or signal.SIGINT)


def _flush_output(code: int) -> int:
    """Flush stdout; return the exit code, which is not 0 if that fails."""
    if sys.stdout is None:  # closed by the parent process
        return code
    try:
        sys.stdout.flush()
    except PrintError as error:
        return code or _explain(error)
    return code


def _code_of(result: Any) -> int:
    return result if isinstance(result, int) else 0


def _explain(error: Exception) -> int:
    if isinstance(error, PrintError) and not str(error):
        return FAILED
    if type(error).__name__ == "Abort":
        return INTERRUPTED
    if hasattr(error, "format_message"):  # wrong usage, found by Typer, or by Pydantic for it
        say(f"error: {' '.join(error.format_message().replace('Value error, ', '').split())}")
        return int(getattr(error, "exit_code", WRONG))
    if isinstance(error, MemoryError):
        say(f"error: not enough memory ({error})")
        return FAILED
    if type(error).__module__.startswith("punish_fast."):
        say(f"error: {getattr(error, 'strerror', None) or error}")
        return FAILED if type(error).__name__ in _FAILURES else WRONG
    told = f"unexpected {type(error).__name__}: {error}"
    if isinstance(error, OSError) and error.strerror:  # a fault of the system, not of this program
        told = error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    say(f"error: {told} (PUNISH_FAST_DEBUG=1 shows where)")
    return FAILED

"""Report exceptions, interrupts and exceeded time limits as one line on stderr and an exit code."""

import _thread
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import typer

from punish_fast.cli.frame.report import CheckError, say
from punish_fast.runtime import deadline
from punish_fast.runtime.errors import DataWarning, PunishFastError, printable
from punish_fast.runtime.files import discard_temporaries

_INTERRUPTED = 128 + signal.SIGINT
# Seconds from the moment when work should have stopped until the process is ended.
_PATIENCE = 4.0
# Number of the signal that interrupted the command. 0 if there was none.
_interrupted = 0
# Message that replaces the default message of an interrupt. Empty to print the default message.
_farewell = ""
# Texts of warnings about omitted data, without duplicates, in the order of their first occurrence.
_left_out: dict[str, None] = {}
# True while an interrupt is deferred. A second interrupt is not deferred.
_is_deferred = False


class PrintError(PunishFastError):
    """Raised when results cannot be printed on stdout."""

    exit_code = 1


class ClosedPipeError(PrintError):
    """Raised when the reader of the output pipe has closed the pipe. The message is empty."""

    def __init__(self) -> None:
        # 141 is the exit code of a process terminated by SIGPIPE. Windows does not have this signal.
        self.exit_code = 1 if os.name == "nt" else 141


def say_if_interrupted(message: str) -> None:
    """If the running command is interrupted, print ``message`` instead of the default message."""
    global _farewell  # noqa: PLW0603 - as above
    _farewell = message


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _interrupted, _is_deferred  # noqa: PLW0603 - signals concern the whole process
    if _is_importing(frame) and not _is_deferred:
        # Python would print an exception raised during the import of an extension module and raise another exception.
        _is_deferred = True
        retry = threading.Timer(0.01, _interrupt_again, [number])
        retry.daemon = True
        retry.start()
        return
    _interrupted = number
    # A second interrupt during clean-up kills the process.
    signal.signal(number, signal.SIG_DFL)
    raise KeyboardInterrupt


def _interrupt_again(number: int) -> None:
    global _is_deferred  # noqa: PLW0603 - as above
    _is_deferred = False
    _thread.interrupt_main(signal.Signals(number))


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def check_interrupt() -> None:
    """Raise KeyboardInterrupt if Python suppressed an earlier interrupt, for example in a finalizer."""
    if _interrupted:
        raise KeyboardInterrupt


def _pass_over_interrupts(unraisable: Any) -> None:
    # After an interrupt, incomplete objects may raise errors when they are freed.
    if not _interrupted and unraisable.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(unraisable)


def _show_warning(message: Warning | str, category: type[Warning], *_: Any) -> None:
    if issubclass(category, DataWarning):
        _left_out[str(message)] = None
    else:
        say(f"warning: {message}")


def guarded(call: Callable[[], Any]) -> int:
    """Run a command and return its exit code. Print tracebacks if ``PUNISH_FAST_DEBUG`` is 1.

    The texts of `DataWarning` are printed at the end, as an error if the command succeeded and otherwise as a warning.
    """
    global _interrupted, _is_deferred, _farewell
    _interrupted, _is_deferred, _farewell = 0, False, ""
    _left_out.clear()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    sys.unraisablehook = _pass_over_interrupts
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    warnings.simplefilter("always", DataWarning)
    try:
        result = call()
        # Newer versions of Typer return an exit code for KeyboardInterrupt.
        code = result if isinstance(result, int) else 0
    except (Exception, KeyboardInterrupt) as error:
        if os.environ.get("PUNISH_FAST_DEBUG") == "1":
            raise
        # Libraries may convert an interrupt into another error.
        is_interrupt = _interrupted or isinstance(error, KeyboardInterrupt | typer.Abort)
        code = _INTERRUPTED if is_interrupt else _explain(error)
    left_out = "; ".join(_left_out)
    if left_out and code == 0:
        code = _explain(CheckError(left_out))
    elif left_out:
        say(f"warning: {left_out}")
    if code != 0:
        discard_temporaries()
    try:
        if sys.stdout is not None:  # closed by the parent process
            sys.stdout.flush()
    except PrintError as error:
        code = code or _explain(error)
    if code == _INTERRUPTED:
        stopped: int = _interrupted or signal.SIGINT
        name = "terminated" if stopped == signal.SIGTERM else "interrupted"
        say(_farewell or f"{name}; no file is damaged or incomplete")
        return 128 + stopped
    return code


@contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Limit the time of a block, unless ``seconds`` is None.

    A call of another library, such as a compiler of networks, cannot be stopped. If the block is still running some
    seconds after work should have stopped, print an error and end the process.
    """
    with deadline.time_limit(seconds):
        watchdog = threading.Timer(deadline.seconds_until_stop() + _PATIENCE, _end_process)
        watchdog.daemon = True
        if seconds is not None:
            watchdog.start()
        try:
            yield
        finally:
            watchdog.cancel()


def _end_process() -> None:
    try:
        deadline.check_time()
    except deadline.TimeLimitError as error:
        say(f"error: {error}")
        discard_temporaries()
        os._exit(error.exit_code)


# Messages of Typer and Pydantic, and ours.
_OUR_TEXTS = {
    r"^Invalid value(?: for '(.*?)')?: ": r"\1: ",
    r"^Missing (?:argument|option|parameter) '?([^']*)'?\.": r"\1 is missing; see --help.",
    r"^No such (option|command):? '?([^' ]*?)'?\.?(?=$| )": r"\2: unknown \1;",
    r"^Got unexpected extra argument\S* \((.*)\)": r"\1: unexpected argument; see --help",
    r"^(-[^-]\S*: unknown option)\W*$": r"\1; write -- before a name that begins with a dash",
    r"\(?(?:Possible options?: |Did you mean (?:one of: )?)'?(.*?)\W*$": r"did you mean \1?",
    "^Option '(.*?)'": r"\1:",
    "requires an argument": "requires a value",
    "a valid integer.*": "a whole number",
    "a valid number.*": "a number",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "^: ": "",
}


def _usage_text(error: Any) -> str:
    told = " ".join(error.format_message().replace("Value error, ", "").replace("' / '", "/").split())
    for fault in getattr(error.__cause__, "errors", list)():
        told = told.replace("Input should", f"{printable(str(fault['input']))!r} is not allowed; it must")
    for theirs, ours in _OUR_TEXTS.items():
        told = re.sub(theirs, ours, told)
    return re.sub("unknown command[.;]*$", "unknown command; see punish-fast --help", told).rstrip(".;")


def _explain(error: BaseException) -> int:
    if hasattr(error, "format_message"):  # invalid usage, detected by Typer or by Pydantic
        told = _usage_text(error)
    elif isinstance(error, PunishFastError):
        told = str(error)
    elif isinstance(error, MemoryError):
        told = f"not enough memory ({error})"
    else:
        told = f"unexpected {type(error).__name__}: {error}"
        if isinstance(error, OSError) and error.strerror:  # an operating system error
            told = error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
        told += " (set PUNISH_FAST_DEBUG=1 for a traceback)"
    for variable in os.environ:
        flag = "--" + variable.removeprefix("PUNISH_FAST_").lower().replace("_", "-")
        if variable.startswith("PUNISH_FAST_") and re.search(rf"{flag}(?![\w-])", told):
            told += f" ({variable} is set)"
    if told:
        say(f"error: {told}")
    return int(getattr(error, "exit_code", 1))

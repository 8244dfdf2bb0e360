"""Prompts and random seeds of commands that play games."""

import secrets
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Annotated, Any, cast

from punish_fast.cli.frame.options import option
from punish_fast.cli.frame.report import UsageError, clear_progress
from punish_fast.punish.rules import PRESETS, Rules, name_of
from punish_fast.runtime.errors import printable

DecksOption = Annotated[Path | None, option("Gwent Lite: use the best deck in this file, written by `games decks`.")]


class _ClearedStream:
    """A text stream that removes the progress line from the terminal before each output."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        clear_progress()
        return self._stream.write(text)


def table_stream(as_json: bool) -> IO[str]:
    """Return the stream on which to show a game: stdout, or stderr if JSON is printed on stdout.

    Progress lines appear during a game if kernels are compiled.
    """
    return cast("IO[str]", _ClearedStream(sys.stderr if as_json else sys.stdout))


def must_have_input() -> None:
    """Raise UsageError if stdin is closed."""
    if sys.stdin is None:
        raise UsageError("moves cannot be read: stdin is closed")


def asks_on(stream: IO[str]) -> Callable[[str], str]:
    """Return a function that prints a prompt and reads a line of stdin, or raises EOFError at the end of stdin."""
    is_first = True

    def ask(prompt: str) -> str:
        nonlocal is_first
        if is_first:
            discard_typed()
            is_first = False
        print(prompt, end="", file=stream, flush=True)
        try:
            line = sys.stdin.readline()
        except KeyboardInterrupt:
            # End the line with the prompt.
            print(file=stream, flush=True)
            raise
        if not sys.stdin.isatty():
            # Echo the answer from a pipe.
            print(printable(line.rstrip("\n")), file=stream, flush=True)
        if not line:
            raise EOFError
        return line

    return ask


def discard_typed() -> None:
    """Discard keys typed before a prompt, so that they are not read as an answer."""
    if not sys.stdin.isatty():
        return
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
        return
    import termios

    with suppress(OSError, termios.error):
        termios.tcflush(sys.stdin, termios.TCIFLUSH)


def wants_more(ask: Callable[[str], str]) -> bool:
    """Ask whether to begin another game. Enter means yes."""
    discard_typed()
    with suppress(EOFError):
        while (answer := ask("  Another game? (Y/n) ").strip().lower()) not in ("n", "no", "q"):
            if answer in ("y", "yes", ""):
                return True
    return False


def rules_note(rules: Rules) -> str:
    """Return the name of the rules, followed by a comma, or an empty string for ``tabletop``."""
    return "" if rules == PRESETS["tabletop"] else f"rules {name_of(rules)}, "


def seed_of(seed: int | None) -> int:
    """Return ``seed``, or a random seed if ``seed`` is None."""
    return secrets.randbelow(1_000_000) if seed is None else seed

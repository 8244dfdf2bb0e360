"""A command in a pseudo-terminal of 80 columns, with a person who answers its prompts."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import time
from collections.abc import Iterable

from cli.conftest import COMMAND, clean_environment

# What a prompt ends with.
_PROMPTS = ("(? for help):", "takes it back:", "(Y/n)", "looking away.", "next question:")
_PATIENCE = 60.0


def run_in_terminal(arguments: Iterable[str], answers: Iterable[str], **variables: str) -> tuple[int, str]:
    """The exit code of a command and all that it draws; after the last answer it is interrupted."""
    child, terminal = pty.fork()
    if child == 0:
        environment = clean_environment(TERM="xterm-256color", COLUMNS="80", LINES="40") | variables
        os.execve(COMMAND[0], [*COMMAND, *arguments], environment)
    drawn, left = b"", list(answers)
    deadline = time.monotonic() + _PATIENCE
    # Reading fails when the command has ended.
    with contextlib.suppress(OSError):
        while time.monotonic() < deadline and (drawn := drawn + _read(terminal, drawn)):
            last = drawn.rpartition(b"\n")[2].decode(errors="replace").rstrip()
            if last.endswith(_PROMPTS):
                os.write(terminal, f"{left.pop(0)}\n".encode() if left else b"\x03")
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), drawn.decode()


def _read(terminal: int, drawn: bytes) -> bytes:
    """What is drawn until the command pauses."""
    assert select.select([terminal], [], [], _PATIENCE)[0], f"nothing follows {drawn[-200:]!r}"
    more = os.read(terminal, 65536)
    while select.select([terminal], [], [], 0.1)[0]:
        more += os.read(terminal, 65536)
    assert more or drawn
    return more


def plain(drawn: str) -> str:
    """Text as it stands at the end: without colours, and of lines that were drawn again the last state."""
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", drawn)
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))

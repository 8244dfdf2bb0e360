"""What verbs that ask people share: prompts, and seeds short enough to be typed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import IO

from punish_fast.runtime.printable import printable

_SEEDS = 1_000_000


def asks_on(stream: IO[str]) -> Callable[[str], str]:
    """A function that prints a prompt and reads a line of stdin; it raises EOFError when there is none."""

    def ask(prompt: str) -> str:
        print(prompt, end="", file=stream, flush=True)
        line = sys.stdin.readline()
        if not sys.stdin.isatty():
            # Show what a pipe answered.
            print(printable(line.rstrip("\n")), file=stream, flush=True)
        if not line:
            raise EOFError
        return line

    return ask


def seed_of(seed: int | None) -> int:
    """The seed, or a random one."""
    if seed is not None:
        return seed
    import secrets

    return secrets.randbelow(_SEEDS)

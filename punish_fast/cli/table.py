"""What verbs of play share: prompts, seeds short enough to be typed, and the place of finished games."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING

from punish_fast.cli.errors import say
from punish_fast.runtime.printable import printable

if TYPE_CHECKING:
    from punish_fast.punish.rules import Rules

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


def games_database(named: Path | None, rules: Rules) -> Path | None:
    """The database of finished games, the one that is named or one in the data folder; None if there is no place."""
    if named is not None:
        return named
    import platformdirs

    from punish_fast.punish.rules import PRESETS, name_of

    folder = Path(platformdirs.user_data_dir("punish-fast", appauthor=False))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        say(f"warning: games are not kept: {folder} cannot be made ({error.strerror}); --db names a database")
        return None
    # Games under other rules are other games.
    return folder / ("games.db" if rules == PRESETS["tabletop"] else f"games-{name_of(rules)}.db")

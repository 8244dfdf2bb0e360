"""Databases of finished games, and options that select recorded games."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from punish_fast.cli.frame.options import CommonOptions, option
from punish_fast.cli.frame.report import UsageError, count, say
from punish_fast.punish.rules import PRESETS, Rules, unique_name
from punish_fast.runtime.errors import printable
from punish_fast.runtime.folders import find_folder

if TYPE_CHECKING:
    from punish_fast.records.games import Choices, Selection

_STANDARD = "games.db"
PlayedDatabaseOption = Annotated[Path | None, option("Database of games.  [default: that of `play`]", metavar="DB")]
WithBotsOption = Annotated[bool, option("Also use human players' choices against bots (they differ from others).")]


def games_database(named: Path | None, rules: Rules) -> Path | None:
    """Return the named or the rules' default database. None if no folder can be used."""
    if named is not None:
        return named
    # Each set of rules has its own database.
    name = _STANDARD if rules == PRESETS["tabletop"] else f"games-{unique_name(rules)}.db"
    folder, reason = find_folder("data", holding=name)
    if folder is None:
        say(f"warning: games are not saved: {reason}; use --db")
        return None
    return folder / name


def played_database(named: Path | None) -> Path:
    """Return the named database, or the default database under tabletop rules. Raise UsageError if that is missing."""
    if named is not None:
        return named
    found = games_database(None, PRESETS["tabletop"])
    if found is None or not found.exists():
        raise UsageError("no games are saved yet; finish a game with punish-fast play, or choose a database with --db")
    return found


def _seconds(text: str) -> int:
    """Parse a Unix time, or an ISO date or time (by default in UTC). Return the Unix time in seconds."""
    if re.fullmatch(r"[-+]?\d{1,18}", text):
        return int(text)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{printable(text)!r} is neither a Unix time nor a date such as 2022-11-13") from None
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp())


def _time_option(help: str) -> Any:
    form = "a Unix time in seconds, or a date such as 2022-11-13, which begins at 00:00 UTC."
    return option(f"{help}: {form}", metavar="TIME", parser=_seconds)


SinceOption = Annotated[int | None, _time_option("Ignore games played before this time")]
UntilOption = Annotated[int | None, _time_option("Ignore games played after this time")]


def require_games(database: Path, choices: Choices, needed: int = 1, with_bots: bool = False) -> None:
    """Raise UsageError if choices come from fewer than ``needed`` games."""
    if choices.n_games < needed:
        kind, hint = ("", "") if with_bots else (" between people", "; --with-bots adds games against bots")
        found = f"{database}: {count(choices.n_games, 'game')}{kind} selected"
        raise UsageError(f"{found}; at least {needed:,} {'is' if needed == 1 else 'are'} needed{hint}")


class SelectionOptions(CommonOptions):
    """Options that select a database and its games."""

    db: PlayedDatabaseOption = None
    player: str | None = option("Select only games of this player.", metavar="NAME")
    since: SinceOption = None
    until: UntilOption = None
    people: bool = option("Select only games between human players.", default=False)

    @property
    def database(self) -> Path:
        """Path of the database. The file might not exist."""
        return played_database(self.db)

    def selection(self) -> Selection:
        """Return the selection of games."""
        from punish_fast.records.games import Selection

        return Selection(self.people, self.until, self.player, since=self.since)

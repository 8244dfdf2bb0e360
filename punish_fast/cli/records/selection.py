"""Options that select recorded games."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from punish_fast.cli.frame.errors import UsageError
from punish_fast.cli.frame.options import CommonOptions, option
from punish_fast.cli.frame.report import count
from punish_fast.cli.playing.table import played_database
from punish_fast.runtime.errors import printable

if TYPE_CHECKING:
    from punish_fast.records.games import Choices, Selection

PlayedDatabaseOption = Annotated[
    Path | None,
    option("Database of recorded games.  [default: the database that `play` writes to]", "--db", metavar="DB"),
]
WithBotsOption = Annotated[
    bool, option("Also use human players' choices in games against bots, although they differ from other choices.")
]


def _seconds(text: str) -> int:
    """Parse a Unix time, or an ISO date or time, by default in UTC. Return the Unix time."""
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
        """Path of the database. It might not exist."""
        return played_database(self.db)

    def selection(self) -> Selection:
        """Return the selection of games."""
        from punish_fast.records.games import Selection

        return Selection(self.people, self.until, self.player, since=self.since)

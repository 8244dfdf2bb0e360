"""Options that select recorded games."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from punish_fast.cli.frame.errors import UsageError
from punish_fast.cli.frame.options import CommonOptions, option
from punish_fast.cli.frame.report import count
from punish_fast.cli.playing.table import played_database

if TYPE_CHECKING:
    from punish_fast.records.games import Choices, Selection

PlayedDatabaseOption = Annotated[
    Path | None,
    option("Database of recorded games.  [default: the database that `play` writes to]", "--db", metavar="DB"),
]
WithBotsOption = Annotated[
    bool, option("Also use people's choices in games against bots, although people play differently against bots.")
]


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

    @property
    def database(self) -> Path:
        """Path of the database, which might not exist."""
        return played_database(self.db)

    def selection(self) -> Selection:
        """Return the selection of games."""
        from punish_fast.records.games import Selection

        return Selection(player=self.player)

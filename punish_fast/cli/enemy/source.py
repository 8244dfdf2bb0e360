"""The recorded choices that an enemy is to be learned from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from punish_fast.cli.errors import UsageError
from punish_fast.records.choices import Choices, read_choices


@dataclass(frozen=True)
class Source:
    """Options of the commands that learn from recorded games; None where the user said nothing."""

    database: Path
    winners: bool
    since: int | None
    until: int | None
    player: str | None

    def read(self) -> Choices:
        """The choices that people made in games with people.

        Raises:
            RecordsError: the database cannot be read.
            UsageError: there are no such choices.
        """
        choices = read_choices(
            self.database, winners=self.winners, since=self.since, until=self.until, player=self.player
        )
        if len(choices) == 0:
            raise UsageError(f"{self.database}: holds no choices of such games")
        return choices

    def note(self) -> dict[str, Any]:
        """What a file made from the choices is to note of them."""
        note: dict[str, Any] = {"database": self.database.name, "winners": self.winners}
        options = {"since": self.since, "until": self.until, "player": self.player}
        return note | {name: value for name, value in options.items() if value is not None}

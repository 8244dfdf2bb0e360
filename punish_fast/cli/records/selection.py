"""Databases of finished games, and options that select recorded games."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from punish_fast.cli.frame.options import CommonOptions, game_rules, option
from punish_fast.cli.frame.report import UsageError, count, say
from punish_fast.punish.rules import PRESETS, Rules, load_rules, name_of, true_rules, unique_name
from punish_fast.runtime.errors import printable
from punish_fast.runtime.folders import find_folder

if TYPE_CHECKING:
    from punish_fast.arena.players import Player
    from punish_fast.records.games import Choices, Selection

PlayedDatabaseOption = Annotated[Path | None, option("Database of games.  [default: that of `play`]", metavar="DB")]
WithBotsOption = Annotated[bool, option("Also use human players' choices against bots (they differ from others).")]


def games_database(named: Path | None, rules: Rules) -> Path | None:
    """Return the named or the rules' default database. None if no folder can be used."""
    if named is not None:
        return named
    # Each set of rules has its own database.
    name = "games.db" if rules == PRESETS["tabletop"] else f"games-{unique_name(rules)}.db"
    folder, reason = find_folder("data", holding=name)
    if folder is None:
        say(f"warning: games are not saved: {reason}; use --db")
        return None
    return folder / name


def played_database(named: Path | None, rules: Rules) -> Path:
    """Return the named or the rules' default database. Raise UsageError if the default database is missing."""
    rules = true_rules(rules)
    found = named or games_database(None, rules)
    if found is None or (named is None and not found.exists()):
        hint = "finish a game with punish-fast play, or choose other rules with --rules or a database with --db"
        raise UsageError(f"no games are saved yet under the rules {name_of(rules)}; {hint}")
    return found


def check_database(path: Path | None) -> None:
    """Raise an error if an existing database cannot be opened, and warn of invalid rows."""
    if path is not None and path.exists():
        from punish_fast.records.database import open_to_read

        with open_to_read(path, UserWarning):
            pass


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


class RecordedOptions(CommonOptions):
    """Options that select a database and its rules, which are not stored in the database."""

    db: PlayedDatabaseOption = None
    rules: str | None = game_rules("the rules of a named agent's file, or tabletop", "Rules of the games")

    def played_rules(self, player: Player | None = None) -> Rules:
        """Return the rules of the games, by default the rules of the file of ``player``, or ``tabletop``."""
        return load_rules(self.rules) if self.rules else (player and player.rules) or PRESETS["tabletop"]

    @property
    def source(self) -> tuple[object, ...]:
        """Words of a command line that select the same database and rules."""
        return "--db", self.db, "--rules", self.rules


class SelectionOptions(RecordedOptions):
    """Options that select the games in a database."""

    rules: str | None = game_rules("tabletop", "Rules of the games")
    player: str | None = option("Select only games of this player.", metavar="NAME")
    since: SinceOption = None
    until: UntilOption = None
    people: bool = option("Select only games between human players.", default=False)

    @property
    def database(self) -> Path:
        """Path of the database. The file might not exist."""
        return played_database(self.db, self.played_rules())

    def selection(self) -> Selection:
        """Return the selection of games."""
        from punish_fast.records.games import Selection

        return Selection(self.people, self.until, self.player, since=self.since)

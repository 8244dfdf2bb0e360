"""``punish-fast records player``: export, anonymize or delete a player's data.

JSON keys:
    database (string): Database.
    player (string): Name of the player.
    games (integer): Number of games that were exported or deleted.
    file (string): Log of the exported games, with `--export`.
    alias (string): New name, with `--anonymize`.
    breaths (integer): Number of breaths that were deleted, with `--delete`.
"""

import sys
from typing import Any

import typer

from punish_fast.cli.frame.options import CommonOptions, DatabaseOption, OutputOption, argument, option, verb
from punish_fast.cli.frame.report import CheckError, UsageError, count
from punish_fast.runtime.errors import printable


class PlayerOptions(CommonOptions):
    """Options of ``records player``."""

    name: str = argument("NAME", "Name of the player.")
    database: DatabaseOption
    export: bool = option("Write all games of the player as a log.", default=False)
    anonymize: bool = option("Replace the player's name with an alias.", writes=True, default=False)
    delete: bool = option("Delete the player and all of the player's games.", writes=True, default=False)
    yes: bool = option("Delete without asking.", writes=True, default=False)
    output: OutputOption = None

    def action(self) -> str:
        """Return the requested action. Raise UsageError for no or several actions, or conflicting options."""
        chosen = [name for name in ("export", "anonymize", "delete") if getattr(self, name)]
        if len(chosen) != 1:
            given = " and ".join(f"--{name}" for name in chosen) or "nothing to do"
            raise UsageError(f"{given}: exactly one of --export, --anonymize and --delete must be given")
        if self.output is not None and not self.export:
            raise UsageError(f"--output cannot be combined with --{chosen[0]}, only with --export")
        if self.as_json and self.export and self.output is None:
            raise UsageError("--export with --json requires --output")
        return chosen[0]


@verb(
    "punish-fast records player Joe --db games.db --export -o joe.json",
    "punish-fast records player Joe --db games.db --anonymize",
    "punish-fast records player Joe --db games.db --delete --yes",
)
def player(options: PlayerOptions) -> None:
    """Export, anonymize or delete the data of a player in a database.

    Give exactly one of --export, --anonymize and --delete. Without -o, --export prints the log. Replaced and deleted
    data are overwritten in the database file. --delete asks for confirmation.
    """
    {"export": _export, "anonymize": _anonymize, "delete": _delete}[options.action()](options)


def _export(options: PlayerOptions) -> None:
    from punish_fast.records.games import games_of_player
    from punish_fast.records.logs import write_log
    from punish_fast.runtime.files import write_text

    if options.output is not None:
        options.check_outputs(options.output, endings=(".json",))
    games = games_of_player(options.database, options.name)
    text = write_log(games)
    if options.output is None:
        print(text, end="")
        return
    write_text(options.output, text)
    _print(options, f"Exported {count(len(games), 'game')} to {options.output}.", games=len(games), file=options.output)


def _anonymize(options: PlayerOptions) -> None:
    from punish_fast.records.games import anonymize_player

    alias = anonymize_player(options.database, options.name)
    _print(options, f"The player is now called {alias}.", alias=alias)


def _delete(options: PlayerOptions) -> None:
    from punish_fast.records.games import delete_player, games_of_player

    name = printable(options.name)
    if not options.yes:
        found = count(len(games_of_player(options.database, options.name)), "game")
        if sys.stdin is None or not sys.stdin.isatty():
            raise UsageError(f"--delete permanently removes {name} and {found}; confirm with --yes")
        if not typer.confirm(f"Permanently delete {name} and {found}?", err=True):
            raise CheckError("nothing was deleted")
    games, breaths = delete_player(options.database, options.name)
    _print(options, f"Deleted the player and {count(games, 'game')}.", games=games, breaths=breaths)


def _print(options: PlayerOptions, result: str, **entries: Any) -> None:
    report = {"database": str(options.database), "player": options.name, **entries}
    options.print(report, result=result, then=("records", "summary", "--db", options.database))

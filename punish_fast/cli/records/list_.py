"""``punish-fast records list``: list the latest games of a database.

JSON keys:
    database (string): Database.
    games (list of objects): Games, the latest first.
        game (integer): Id of the game.
        played (integer, seconds): Unix time at which the game was played.
        winner (string): Name of the winner.
        loser (string): Name of the loser.
        breaths (integer, breaths): Length of the game.
        winner_is_bot (boolean): True if the winner is a bot.
        loser_is_bot (boolean): True if the loser is a bot.
"""

from datetime import UTC, datetime
from typing import Any

from punish_fast.cli.frame.options import option, verb
from punish_fast.cli.frame.report import print_report
from punish_fast.cli.records.selection import SelectionOptions


class ListOptions(SelectionOptions):
    """Options of ``records list``."""

    most: int = option("Maximum number of games.", "-n", min=1, max=1_000_000_000, default=20)


@verb("punish-fast records list", "punish-fast records list --db games.db --player you -n 5", stage="list")
def list_(options: ListOptions) -> None:
    """List recorded games, the latest first: their ids, players and lengths.

    Use an id to review a game with `records review` or on the web page.
    """
    from punish_fast.records.summary import list_games

    games = list_games(options.database, options.selection(), options.most)
    then = ("records", "review", *(each["game"] for each in games[:1]), *options.source)
    options.print({"database": str(options.database), "games": games}, _print_dated, then=then)


def _print_dated(report: dict[str, Any]) -> None:
    games = [{key: game[key] for key in ["game", "played", "winner", "loser", "breaths"]} for game in report["games"]]
    for game in games:
        game["played"] = f"{datetime.fromtimestamp(game['played'], UTC):%Y-%m-%d %H:%M}"
    print_report({"games (UTC)": games})

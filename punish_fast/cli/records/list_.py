"""``punish-fast records list``: the latest games of a database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from punish_fast.cli.frame.options import option, verb
from punish_fast.cli.frame.report import print_table
from punish_fast.cli.records.selection import SelectionOptions
from punish_fast.runtime.printable import printable


@dataclass(frozen=True, kw_only=True)
class ListOptions(SelectionOptions):
    """Options of ``records list``."""

    most: Annotated[int, option("List this number of games at most.", "-n", metavar="N", min=1, max=1_000_000_000)] = 20


@verb(
    "punish-fast records list",
    "punish-fast records list --db games.db --player you -n 5",
    stage="list",
)
def list_(options: ListOptions) -> None:
    """List recorded games, the latest first: their ids, players and lengths.

    records review and the page's reviews take a game by its id.
    """
    from punish_fast.records.summary import list_games

    games = list_games(options.database, options.selection(), options.most)
    options.print({"database": str(options.database), "games": games}, _print_report)


def _print_report(report: dict[str, Any]) -> None:
    if not report["games"]:
        print("no games")
        return
    rows = [["game", "played (UTC)", "winner", "loser", "breaths"]]
    rows += [
        [
            str(game["game"]),
            f"{datetime.fromtimestamp(game['played'], UTC):%Y-%m-%d %H:%M}",
            *map(printable, (game["winner"], game["loser"])),
            str(game["breaths"]),
        ]
        for game in report["games"]
    ]
    print_table(rows, left=4)

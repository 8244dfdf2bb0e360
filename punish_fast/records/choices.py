"""Recorded choices as arrays, to learn enemies from."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from punish_fast.records.database import RecordsError, columns_of, open_to_read
from punish_fast.records.logs import is_name
from punish_fast.runtime.json_values import brief
from punish_fast.runtime.printable import printable

# Names in a message.
_MOST_NAMES = 20


@dataclass(frozen=True)
class Choices:
    """Recorded choices, ordered by game, then the winner's before the loser's, then in the order of play.

    Attributes:
        decimal: int64 ``[n]``, decimal codes of the states.
        action: uint8 ``[n]``, two-digit action codes. Old databases hold some that are illegal in their state, such
            as 91.
        game: int64 ``[n]``, ids of the games: Unix seconds.
        won: bool ``[n]``, whether the player won that game.
        player: str ``[n]``, names.
    """

    decimal: np.ndarray
    action: np.ndarray
    game: np.ndarray
    won: np.ndarray
    player: np.ndarray

    def __len__(self) -> int:
        return len(self.decimal)


@dataclass(frozen=True)
class Selection:
    """A selection of games.

    Attributes:
        humans_only: Only games in which neither player is a bot.
        since: Only games with this id or a later one, in Unix seconds.
        until: Only games with this id or an earlier one.
        player: Only games of this player.
    """

    humans_only: bool = False
    since: int | None = None
    until: int | None = None
    player: str | None = None

    def __post_init__(self) -> None:
        """Check the ids.

        Raises:
            RecordsError: one does not fit into 64 bits.
        """
        for field, value in (("since", self.since), ("until", self.until)):
            if value is not None and not -(2**63) <= value < 2**63:
                raise RecordsError(
                    f"{field} is {printable(str(value), 40)}, allowed are game ids: whole numbers of 64 bits"
                )

    def where(self) -> tuple[str, dict[str, int | str | None]]:
        """The SQL condition on `JOINED`, and its parameters."""
        terms = ["1"]
        if self.humans_only:
            terms.append("winner.is_bot = 0 AND loser.is_bot = 0")
        if self.since is not None:
            terms.append("games.game_id >= :since")
        if self.until is not None:
            terms.append("games.game_id <= :until")
        if self.player is not None:
            terms.append(":player IN (winner.username, loser.username)")
        return " AND ".join(terms), {"since": self.since, "until": self.until, "player": self.player}


JOINED = (
    "games JOIN players AS winner ON winner.player_id = games.winner_id"
    " JOIN players AS loser ON loser.player_id = games.loser_id"
)


def read_choices(
    path: str | Path,
    *,
    humans_only: bool = True,
    winners: bool = False,
    since: int | None = None,
    until: int | None = None,
    player: str | None = None,
) -> Choices:
    """Read choices from a database.

    Args:
        path: A database of recorded games.
        humans_only: Only games in which neither player is a bot.
        winners: Only choices of the player who won that game.
        since: Only games with this id (Unix seconds) or a later one.
        until: Only games with this id or an earlier one.
        player: Only choices of this player.

    Raises:
        RecordsError: it cannot be read, is no database of recorded games, or has no such player.
    """
    path = Path(path)
    selection = Selection(humans_only, since, until, player)
    with open_to_read(path) as connection:
        require_player(path, connection, player)
        rows = connection.execute(_query(connection, selection, winners), selection.where()[1]).fetchall()
    columns = list(zip(*rows, strict=True)) if rows else [()] * 5
    dtypes = (np.int64, np.uint8, np.int64, np.bool_, np.str_)
    return Choices(*(np.array(column, dtype=dtype) for column, dtype in zip(columns, dtypes, strict=True)))


def require_player(path: Path, connection: sqlite3.Connection, player: str | None) -> None:
    """Check that the database has a player.

    Raises:
        RecordsError: it has not.
    """
    if player is None:
        return
    known = [name for (name,) in connection.execute("SELECT username FROM players ORDER BY player_id")]
    if player not in known:
        names = ", ".join(name if is_name(name) else brief(name) for name in known[:_MOST_NAMES])
        more = f" and {len(known) - _MOST_NAMES:,} more" if len(known) > _MOST_NAMES else ""
        raise RecordsError(f"{path}: there is no player {brief(player)}, allowed are {names or 'none'}{more}")


def breath_order(connection: sqlite3.Connection) -> str:
    """SQL terms that put a player's breaths of one game into the order of play."""
    numbered = "number" in columns_of(connection, "breaths")
    return "breaths.number, breaths.rowid" if numbered else "breaths.rowid"


def _query(connection: sqlite3.Connection, selection: Selection, winners: bool) -> str:
    condition = selection.where()[0]
    name = "CASE breaths.is_winner WHEN 1 THEN winner.username ELSE loser.username END"
    if winners:
        condition += " AND breaths.is_winner = 1"
    if selection.player is not None:
        condition += f" AND {name} = :player"
    return (
        f"SELECT breaths.state, breaths.action, breaths.game_id, breaths.is_winner, {name}"
        f" FROM {JOINED} JOIN breaths ON breaths.game_id = games.game_id WHERE {condition}"
        f" ORDER BY breaths.game_id, breaths.is_winner DESC, {breath_order(connection)}"
    )

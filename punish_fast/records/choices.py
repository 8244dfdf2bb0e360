"""Recorded choices as arrays, to learn enemies from."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from punish_fast.records.database import RecordsError, open_to_read
from punish_fast.records.names import clean_name, is_name
from punish_fast.runtime.json_values import brief
from punish_fast.runtime.printable import printable

# Names in a message.
_MOST_NAMES = 20

JOINED = (
    "games JOIN players AS winner ON winner.player_id = games.winner_id"
    " JOIN players AS loser ON loser.player_id = games.loser_id"
)
# The Unix second of play of a game in `JOINED`; the original program uses it as the id.
PLAYED = "coalesce(games.played, games.game_id)"
# Terms that order games by time of play, and a player's breaths of one game by number.
GAME_ORDER = f"{PLAYED}, games.game_id"
BREATH_ORDER = "breaths.number, breaths.rowid"


@dataclass(frozen=True)
class Choices:
    """Recorded choices, ordered by time of play and game, then the winner's before the loser's, then by breath.

    Attributes:
        decimal: int64 ``[n]``, decimal codes of the states.
        action: uint8 ``[n]``, two-digit action codes. Old databases hold some that are illegal in their state, such
            as 91.
        game: int64 ``[n]``, ids of the games.
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
        until: Only games played in this Unix second or earlier.
        player: Only games of this player.
        game: Only the game with this id.
        before: Only games before the game with this id, in the order of `GAME_ORDER`.
    """

    humans_only: bool = False
    until: int | None = None
    player: str | None = None
    game: int | None = None
    before: int | None = None

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            RecordsError: one does not fit into 64 bits.
        """
        for field in ("until", "game", "before"):
            value = getattr(self, field)
            if value is not None and not -(2**63) <= value < 2**63:
                raise RecordsError(f"{field} is {printable(str(value), 40)}, allowed are whole numbers of 64 bits")

    def where(self) -> tuple[str, dict[str, int | str | None]]:
        """The SQL condition on `JOINED`, and its parameters."""
        given = {name: value for name, value in vars(self).items() if value is not None and value is not False}
        if self.player is not None:
            given["player"] = clean_name(self.player)
        return " AND ".join(["1", *(_CONDITIONS[name] for name in given)]), given


_CONDITIONS = {
    "humans_only": "winner.is_bot = 0 AND loser.is_bot = 0",
    "until": f"{PLAYED} <= :until",
    "player": ":player IN (winner.username, loser.username)",
    "game": "games.game_id = :game",
    "before": f"({GAME_ORDER}) < (SELECT {GAME_ORDER} FROM games WHERE game_id = :before)",
}


def read_choices(
    path: str | Path,
    *,
    humans_only: bool = True,
    winners: bool = False,
    until: int | None = None,
    player: str | None = None,
) -> Choices:
    """Read choices from a database.

    Args:
        path: A database of recorded games.
        humans_only: Only games in which neither player is a bot.
        winners: Only choices of the player who won that game.
        until: Only games played in this Unix second or earlier.
        player: Only choices of this player.

    Raises:
        RecordsError: it cannot be read, is no database of recorded games, or has no such player.
    """
    path = Path(path)
    selection = Selection(humans_only, until, player)
    with open_to_read(path) as connection:
        require_player(path, connection, player)
        rows = connection.execute(_query(selection, winners), selection.where()[1]).fetchall()
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
    if clean_name(player) not in known:
        names = ", ".join(name if is_name(name) else brief(name) for name in known[:_MOST_NAMES])
        more = f" and {len(known) - _MOST_NAMES:,} more" if len(known) > _MOST_NAMES else ""
        raise RecordsError(f"{path}: there is no player {brief(player)}, allowed are {names or 'none'}{more}")


def _query(selection: Selection, winners: bool) -> str:
    condition = selection.where()[0]
    name = "CASE breaths.is_winner WHEN 1 THEN winner.username ELSE loser.username END"
    if winners:
        condition += " AND breaths.is_winner = 1"
    if selection.player is not None:
        condition += f" AND {name} = :player"
    return (
        f"SELECT breaths.state, breaths.action, breaths.game_id, breaths.is_winner, {name}"
        f" FROM {JOINED} JOIN breaths ON breaths.game_id = games.game_id WHERE {condition}"
        f" ORDER BY {GAME_ORDER}, breaths.is_winner DESC, {BREATH_ORDER}"
    )

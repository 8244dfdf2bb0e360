"""Recorded choices as arrays, from which enemies are learned, and SQL queries for games and choices."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.records.database import RecordsError, open_to_read
from punish_fast.records.names import clean_name, is_name
from punish_fast.records.schema import LAST_SECOND
from punish_fast.runtime.json_values import brief
from punish_fast.runtime.printable import printable

# Maximum number of player names in an error message.
_MOST_NAMES = 20
# Subquery for games and their players. `second` is the Unix second of play (the id in databases of the original
# program), `logged` is the id in logs, and `n_breaths` counts the breaths of the side with more recorded breaths.
GAMES = f"""(
    SELECT games.game_id AS game, coalesce(games.played, games.game_id) AS second,
        iif(games.game_id > {LAST_SECOND}, games.game_id, coalesce(games.logged_id, games.game_id)) AS logged,
        winners.username AS winner, winners.is_bot AS winner_is_bot, ours.temperature AS winner_temperature,
        losers.username AS loser, losers.is_bot AS loser_is_bot, theirs.temperature AS loser_temperature,
        (SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM breaths WHERE breaths.game_id = games.game_id
            GROUP BY is_winner)) AS n_breaths
    FROM games JOIN players AS winners ON winners.player_id = games.winner_id
        JOIN players AS losers ON losers.player_id = games.loser_id
        LEFT JOIN bot_parameters AS ours ON ours.paramset_id = games.winner_paramset_id
        LEFT JOIN bot_parameters AS theirs ON theirs.paramset_id = games.loser_paramset_id
) AS selected"""
# Subquery for choices: the columns of `GAMES`, and `is_winner`, `state`, `action` and `number`.
CHOICES = f"{GAMES} JOIN breaths ON breaths.game_id = game"
# ORDER BY terms: games by time of play and id; choices also by side (winner first) and breath.
GAME_ORDER = "second, game"
CHOICE_ORDER = f"{GAME_ORDER}, is_winner DESC, number, breaths.rowid"


@dataclass(frozen=True)
class Choices:
    """Recorded choices, sorted by time of play, game, side (winner first) and breath."""

    decimal: np.ndarray  # int64 [n], decimal codes of the states
    # uint8 [n], two-digit action codes. Old databases contain illegal actions, such as 91.
    action: np.ndarray
    game: np.ndarray  # int64 [n], ids of the games
    won: np.ndarray  # bool [n], True if the player won the game
    player: np.ndarray  # str [n], names of the players

    def __len__(self) -> int:
        return len(self.decimal)

    def of_player(self, name: str) -> Choices:
        """Return the choices of the player with this name."""
        return Choices(*(column[self.player == name] for column in vars(self).values()))


@dataclass(frozen=True)
class Selection:
    """Criteria that select recorded games."""

    humans_only: bool = False  # only games in which neither player is a bot
    until: int | None = None  # only games played up to this Unix second (inclusive)
    player: str | None = None  # only games of this player
    game: int | None = None  # only the game with this id
    before: int | None = None  # only games that precede the game with this id in `GAME_ORDER`

    def __post_init__(self) -> None:
        for field in ("until", "game", "before"):
            value = getattr(self, field)
            if value is not None and not -(2**63) <= value < 2**63:
                raise RecordsError(f"{field} is {printable(str(value), 40)}; it must be a 64-bit integer")

    def query(self, columns: str, source: str = GAMES, more: str = "") -> tuple[str, dict[str, int | str | None]]:
        """Return a query for columns of the selected games or choices, with ``more`` appended, and its parameters."""
        given = {name: value for name, value in vars(self).items() if value is not None and value is not False}
        if self.player is not None:
            given["player"] = clean_name(self.player)
        where = " AND ".join(["1", *(_CONDITIONS[name] for name in given)])
        return f"SELECT {columns} FROM {source} WHERE {where} {more}", given


_CONDITIONS = {
    "humans_only": "NOT winner_is_bot AND NOT loser_is_bot",
    "until": "second <= :until",
    "player": ":player IN (winner, loser)",
    "game": "game = :game",
    "before": f"({GAME_ORDER}) < (SELECT coalesce(played, game_id), game_id FROM games WHERE game_id = :before)",
}


def read_choices(
    path: str | Path,
    *,
    humans_only: bool = True,
    with_bots: bool = False,
    winners: bool = False,
    until: int | None = None,
    player: str | None = None,
) -> Choices:
    """Read recorded choices from a database.

    Args:
        path: Database of recorded games.
        humans_only: If True, read only games in which neither player is a bot.
        with_bots: If True, read the choices of people in all games, including games against bots.
        winners: If True, read only the choices of winners.
        until: If given, read only games played up to this Unix second (inclusive).
        player: If given, read only the choices of the player with this name.
    """
    name = "iif(is_winner, winner, loser)"
    conditions = {
        "is_winner": winners,
        f"{name} = :player": player is not None,
        "NOT iif(is_winner, winner_is_bot, loser_is_bot)": with_bots,
    }
    more = " ".join(f"AND {condition}" for condition, is_given in conditions.items() if is_given)
    query = Selection(humans_only and not with_bots, until, player).query(
        f"state, action, game, is_winner, {name}", CHOICES, f"{more} ORDER BY {CHOICE_ORDER}"
    )
    with open_to_read(Path(path)) as connection:
        require_player(Path(path), connection, player)
        return Choices(*arrays_of(connection.execute(*query), "int64 uint8 int64 bool str"))


def arrays_of(rows: Iterable[tuple[Any, ...]], dtypes: str) -> list[np.ndarray]:
    """Return the columns of a query's rows as arrays; ``dtypes`` lists one dtype per column, separated by spaces."""
    names = dtypes.split()
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return [np.array(column, dtype=name) for column, name in zip(columns, names, strict=True)]


def require_player(path: Path, connection: sqlite3.Connection, player: str | None) -> None:
    """Raise `RecordsError` if ``player`` is given and the database has no player with this name."""
    if player is None:
        return
    known = [name for (name,) in connection.execute("SELECT username FROM players ORDER BY player_id")]
    if clean_name(player) not in known:
        names = ", ".join(name if is_name(name) else brief(name) for name in known[:_MOST_NAMES])
        more = f" and {len(known) - _MOST_NAMES:,} more" if len(known) > _MOST_NAMES else ""
        raise RecordsError(f"{path}: there is no player {brief(player)}; players: {names or 'none'}{more}")

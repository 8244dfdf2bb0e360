"""Recorded games: from the database to `RecordedGame` objects and back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from punish_fast.records.choices import JOINED, Selection, breath_order
from punish_fast.records.database import columns_of
from punish_fast.records.logs import BOTS, RecordedGame, Side

# The original writes this for a player without parameters.
_NO_PARAMETERS = "NULL"


def read_games(
    connection: sqlite3.Connection, selection: Selection | None = None
) -> Iterator[tuple[int, RecordedGame]]:
    """Pairs of a database id and a game, by id; each `RecordedGame` has the id of its log.

    Games without breaths are left out.
    """
    condition, parameters = (selection or Selection()).where()
    logged = "games.logged_id" if "logged_id" in columns_of(connection, "games") else "NULL"
    number = "breaths.number" if "number" in columns_of(connection, "breaths") else "NULL"
    rows = connection.execute(
        f"SELECT games.game_id, coalesce({logged}, games.game_id), winner.username, winner.is_bot, ours.temperature,"
        " loser.username, loser.is_bot, theirs.temperature,"
        f" breaths.is_winner, {number}, breaths.state, breaths.action"
        f" FROM {JOINED} JOIN breaths ON breaths.game_id = games.game_id"
        " LEFT JOIN bot_parameters AS ours ON ours.paramset_id = games.winner_paramset_id"
        " LEFT JOIN bot_parameters AS theirs ON theirs.paramset_id = games.loser_paramset_id"
        f" WHERE {condition} ORDER BY games.game_id, breaths.is_winner DESC, {breath_order(connection)}",
        parameters,
    )
    for key, group in groupby(rows, key=lambda row: row[:8]):
        breaths = [row[8:] for row in group]
        winner = _side(key[2:5], [breath[1:] for breath in breaths if breath[0]])
        loser = _side(key[5:8], [breath[1:] for breath in breaths if not breath[0]])
        yield key[0], RecordedGame(key[1], winner, loser)


def _side(player: tuple[Any, ...], breaths: list[tuple[int | None, int, int]]) -> Side:
    name, is_bot, temperature = player
    return Side(
        name,
        tuple(k if number is None else number for k, (number, _, _) in enumerate(breaths)),
        tuple(state for _, state, _ in breaths),
        tuple(action for _, _, action in breaths),
        temperature if is_bot else None,
        bool(is_bot),
    )


@dataclass(frozen=True)
class Origin:
    """Where a game comes from: the SHA-256 of its log, and the time of the import (ISO 8601)."""

    digest: str
    imported: str


class GameWriter:
    """Writes games into an open transaction, with players and parameters as they first occur."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Read the players and parameters of the database."""
        self._connection = connection
        self._players = {
            name: (number, bool(is_bot))
            for number, name, is_bot in connection.execute(
                "SELECT player_id, username, is_bot FROM players ORDER BY player_id DESC"
            )
        }
        self._parameters = dict(
            connection.execute(
                "SELECT temperature, paramset_id FROM bot_parameters ORDER BY paramset_id DESC"
            ).fetchall()
        )

    def write(self, game_id: int, game: RecordedGame, origin: Origin) -> None:
        """Insert a game under ``game_id``."""
        (winner, winner_parameters), (loser, loser_parameters) = map(self._player, (game.winner, game.loser))
        self._connection.execute(
            "INSERT INTO games(game_id, winner_id, loser_id, winner_paramset_id, loser_paramset_id, imported,"
            " source_digest, logged_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (game_id, winner, loser, winner_parameters, loser_parameters, origin.imported, origin.digest, game.id),
        )
        for is_winner, side in ((1, game.winner), (0, game.loser)):
            breaths = zip(side.states, side.actions, side.number, strict=True)
            self._connection.executemany(
                "INSERT INTO breaths(game_id, is_winner, state, action, number) VALUES (?, ?, ?, ?, ?)",
                [(game_id, is_winner, *breath) for breath in breaths],
            )

    def _player(self, side: Side) -> tuple[int, int | str]:
        """The ids of a player and of a bot's parameters."""
        is_bot = side.name in BOTS or bool(side.is_bot)
        if side.name not in self._players:
            number = _next_id(self._connection, "players", "player_id")
            self._connection.execute(
                "INSERT INTO players(player_id, username, is_bot) VALUES (?, ?, ?)", (number, side.name, is_bot)
            )
            self._players[side.name] = number, is_bot
        number, was_bot = self._players[side.name]
        if is_bot and not was_bot:
            # An earlier log by breath did not say so.
            self._connection.execute("UPDATE players SET is_bot = 1 WHERE player_id = ?", (number,))
            self._players[side.name] = number, True
        if not is_bot and not was_bot:
            return number, _NO_PARAMETERS
        # The original's bots are greedy, which is temperature 0.
        return number, self._paramset(0.0 if side.name in BOTS and side.temperature is None else side.temperature)

    def _paramset(self, temperature: float | None) -> int:
        if temperature not in self._parameters:
            number = _next_id(self._connection, "bot_parameters", "paramset_id")
            self._connection.execute("INSERT INTO bot_parameters VALUES (?, ?)", (number, temperature))
            self._parameters[temperature] = number
        return int(self._parameters[temperature])


def _next_id(connection: sqlite3.Connection, table: str, column: str) -> int:
    (largest,) = connection.execute(f"SELECT max({column}) FROM {table}").fetchone()
    return int(largest or 0) + 1

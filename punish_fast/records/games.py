"""Conversion of recorded games from the database to `RecordedGame` objects and back."""

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from punish_fast.records.choices import CHOICE_ORDER, CHOICES, Selection
from punish_fast.records.logs import BOTS, RecordedGame, Side
from punish_fast.records.names import clean_name, numbered_names
from punish_fast.records.schema import LAST_SECOND

# Parameter id that the original program writes for players without parameters.
_NO_PARAMETERS = "NULL"


def read_games(
    connection: sqlite3.Connection, selection: Selection | None = None
) -> Iterator[tuple[int, RecordedGame]]:
    """Yield the database id of each selected game with breaths, and the game, in the order `GAME_ORDER`.

    The ``id`` of the game is its id in logs, which can differ from the database id.
    """
    columns = (
        "game, logged, second, winner, winner_is_bot, winner_temperature, loser, loser_is_bot, loser_temperature,"
        " is_winner, number, state, action"
    )
    rows = connection.execute(*(selection or Selection()).query(columns, CHOICES, f"ORDER BY {CHOICE_ORDER}"))
    for key, group in groupby(rows, key=lambda row: row[:9]):
        breaths = [row[9:] for row in group]
        winner = _side(key[3:6], [breath[1:] for breath in breaths if breath[0]])
        loser = _side(key[6:9], [breath[1:] for breath in breaths if not breath[0]])
        game_id, logged, played = key[:3]
        yield game_id, RecordedGame(logged, winner, loser, None if played == logged else played)


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


class GameWriter:
    """Writer of games, new players and parameters in an open transaction.

    If a bot and a person have the same name, a number is appended to the name of the one that is added later.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._time = datetime.now(UTC).isoformat(timespec="seconds")

    def write(self, game_id: int, game: RecordedGame, digest: str | None) -> None:
        """Insert a game under ``game_id``; ``digest`` is the SHA-256 of its log, or None if it was recorded here."""
        is_imported = digest is not None
        winner, winner_parameters = self._player(game.winner, is_imported)
        loser, loser_parameters = self._player(game.loser, is_imported, winner)
        self._connection.execute(
            "INSERT INTO games(game_id, winner_id, loser_id, winner_paramset_id, loser_paramset_id, imported,"
            " source_digest, logged_id, played) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(game_id, winner, loser, winner_parameters, loser_parameters),
                *(self._time, digest, game.id, game.second),
            ),
        )
        for is_winner, side in ((1, game.winner), (0, game.loser)):
            breaths = zip(side.states, side.actions, side.number, strict=True)
            self._connection.executemany(
                "INSERT INTO breaths(game_id, is_winner, state, action, number) VALUES (?, ?, ?, ?, ?)",
                [(game_id, is_winner, *breath) for breath in breaths],
            )

    def _player(self, side: Side, is_imported: bool, opponent: int | None = None) -> tuple[int, int | str]:
        """Return the ids of a side's player and of the bot's parameters; insert missing rows.

        The player must not be ``opponent``. For people, the id of the parameters is the text ``NULL``.
        """
        name = clean_name(side.name)
        is_bot = True if name in BOTS else side.is_bot
        spellings = numbered_names(name)
        while True:
            spelling = next(spellings)
            number, was_bot = self._known("SELECT player_id, is_bot FROM players WHERE username = ?", spelling)
            if number is None:
                number, was_bot = self._next_id("players", "player_id"), bool(is_bot)
                row = (number, spelling, was_bot)
                self._connection.execute("INSERT INTO players(player_id, username, is_bot) VALUES (?, ?, ?)", row)
            elif is_bot and not was_bot and is_imported and not self._is_person(number):
                # Earlier logs by breath did not mark the player as a bot.
                was_bot = True
                self._connection.execute("UPDATE players SET is_bot = 1 WHERE player_id = ?", (number,))
            if number == opponent or is_bot not in (None, bool(was_bot)):
                continue
            if not was_bot:
                return number, _NO_PARAMETERS
            # The original's bots are greedy (temperature 0).
            return number, self._paramset(0.0 if name in BOTS and side.temperature is None else side.temperature)

    def _is_person(self, number: int) -> bool:
        """Return True if this program, which marks all bots, recorded a game of a player who is not marked as a bot."""
        recorded = (
            "SELECT 1 FROM games WHERE ? IN (winner_id, loser_id)"
            f" AND (source_digest IS NULL OR logged_id > {LAST_SECOND}) LIMIT 1"
        )
        return self._connection.execute(recorded, (number,)).fetchone() is not None

    def _paramset(self, temperature: float | None) -> int:
        number, _ = self._known("SELECT paramset_id, NULL FROM bot_parameters WHERE temperature IS ?", temperature)
        if number is None:
            number = self._next_id("bot_parameters", "paramset_id")
            self._connection.execute("INSERT INTO bot_parameters VALUES (?, ?)", (number, temperature))
        return number

    def _known(self, query: str, value: str | float | None) -> tuple[int | None, Any]:
        """Return the result of a query that has the smallest id, or (None, None) if there are no results."""
        rows = self._connection.execute(f"{query} ORDER BY 1 LIMIT 1", (value,)).fetchall()
        return rows[0] if rows else (None, None)

    def _next_id(self, table: str, column: str) -> int:
        # The rows of a migrated database are not checked before each game, so invalid ids are ignored.
        sound = f"typeof({column}) = 'integer' AND {column} < {2**63 - 1}"
        (largest,) = self._connection.execute(f"SELECT max({column}) FROM {table} WHERE {sound}").fetchone()
        return int(largest or 0) + 1

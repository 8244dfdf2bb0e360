"""SQL queries for games and choices in the database, and a writer for `RecordedGame` objects."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.records.database import RecordsError, open_to_read, open_to_write
from punish_fast.records.logs import BOTS, RecordedGame, Side
from punish_fast.records.names import clean_name, is_name, numbered_names
from punish_fast.records.schema import LAST_SECOND, LAWS
from punish_fast.runtime.errors import brief, printable

# Maximum number of player names in an error message.
_MOST_NAMES = 20
# Subquery for games and their players. `logged` is the id in logs, and `second` the Unix second of play (in databases
# of the original program, the id). `n_breaths` is the larger number of recorded breaths among both sides.
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
# ORDER BY terms: games by time of play and id, and choices also by side (winner first) and breath.
GAME_ORDER = "second, game"
CHOICE_ORDER = f"{GAME_ORDER}, is_winner DESC, number, breaths.rowid"


@dataclass(frozen=True)
class Choices:
    """Recorded choices, sorted by time of play, game, side (winner first) and breath."""

    decimal: np.ndarray  # int64 [n], decimal codes of the states
    # uint8 [n], two-digit action codes. Old databases can contain illegal actions, such as 91.
    action: np.ndarray
    game: np.ndarray  # int64 [n], ids of the games
    won: np.ndarray  # bool [n], True if the player won the game
    player: np.ndarray  # str [n], names of the players

    def __len__(self) -> int:
        return len(self.decimal)

    @property
    def n_games(self) -> int:
        """Number of games with a recorded choice."""
        return len(np.unique(self.game))

    def of_player(self, name: str) -> Choices:
        """Return the choices of a player."""
        return Choices(*(column[self.player == name] for column in vars(self).values()))


@dataclass(frozen=True)
class Selection:
    """Criteria that select recorded games."""

    humans_only: bool = False  # only games in which neither player is a bot
    until: int | None = None  # only games played up to this Unix second (inclusive)
    player: str | None = None  # only games of this player
    game: int | None = None  # only the game with this id
    before: int | None = None  # only games that precede the game with this id in `GAME_ORDER`
    since: int | None = None  # only games played at this Unix second or later

    def __post_init__(self) -> None:
        for field in ("since", "until", "game", "before"):
            value = getattr(self, field)
            if value is not None and not -(2**63) <= value < 2**63:
                raise RecordsError(f"{field} is {printable(str(value), 40)}; it must be a 64-bit integer")

    def query(self, columns: str, source: str = GAMES, more: str = "") -> tuple[str, dict[str, int | str | None]]:
        """Return a query for columns of the selected games or choices, and its parameters. Append ``more``."""
        given = {name: value for name, value in vars(self).items() if value is not None and value is not False}
        if self.player is not None:
            given["player"] = clean_name(self.player)
        where = " AND ".join(["1", *(_CONDITIONS[name] for name in given)])
        return f"SELECT {columns} FROM {source} WHERE {where} {more}", given


_CONDITIONS = {
    "humans_only": "NOT winner_is_bot AND NOT loser_is_bot",
    "until": "second <= :until",
    "since": "second >= :since",
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
        with_bots: If True, read the choices of human players in all games, also in games against bots.
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
    """Convert the rows of a query to one array per column. ``dtypes`` lists the dtypes, separated by spaces."""
    names = dtypes.split()
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return [np.array(column, dtype=name) for column, name in zip(columns, names, strict=True)]


def require_player(path: Path, connection: sqlite3.Connection, player: str | None) -> None:
    """Raise `RecordsError` if ``player`` is not None and the database contains no player with this name."""
    if player is None:
        return
    names = f"SELECT username FROM players WHERE {LAWS['players']} ORDER BY player_id"
    known = [name for (name,) in connection.execute(names)]
    if clean_name(player) not in known:
        names = ", ".join(name if is_name(name) else brief(name) for name in known[:_MOST_NAMES])
        more = f" and {len(known) - _MOST_NAMES:,} more" if len(known) > _MOST_NAMES else ""
        raise RecordsError(f"{path}: there is no player {brief(player)}; players: {names or 'none'}{more}")


# Id of the parameters that the original program writes for players without parameters.
_NO_PARAMETERS = "NULL"


def read_games(
    connection: sqlite3.Connection, selection: Selection | None = None
) -> Iterator[tuple[int, RecordedGame]]:
    """Yield the selected games that have breaths, each with its database id, in the order `GAME_ORDER`.

    `RecordedGame.id` is the id in logs, which can differ from the database id.
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
    numbers = tuple(k if number is None else number for k, (number, _, _) in enumerate(breaths))
    states, actions = tuple(state for _, state, _ in breaths), tuple(action for _, _, action in breaths)
    return Side(name, numbers, states, actions, temperature if is_bot else None, bool(is_bot))


class GameWriter:
    """Writer of games, players and parameters in an open transaction.

    If a bot and a human player have the same name, the name of the second player gets a number.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._time = datetime.now(UTC).isoformat(timespec="seconds")

    def write(self, game_id: int, game: RecordedGame, digest: str | None) -> None:
        """Insert a game under ``game_id``. ``digest`` is the SHA-256 of its log, or None if recorded by this program.

        Breaths of a lost game with this id are deleted, because they would become breaths of the new game.
        """
        is_imported = digest is not None
        winner, winner_parameters = self._player(game.winner, is_imported)
        loser, loser_parameters = self._player(game.loser, is_imported, winner)
        row = (game_id, winner, loser, winner_parameters, loser_parameters, self._time, digest, game.id, game.second)
        self._connection.execute(
            "INSERT INTO games(game_id, winner_id, loser_id, winner_paramset_id, loser_paramset_id, imported,"
            " source_digest, logged_id, played) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )
        self._connection.execute("DELETE FROM breaths WHERE game_id = ?", (game_id,))
        for is_winner, side in ((1, game.winner), (0, game.loser)):
            breaths = zip(side.states, side.actions, side.number, strict=True)
            self._connection.executemany(
                "INSERT INTO breaths(game_id, is_winner, state, action, number) VALUES (?, ?, ?, ?, ?)",
                [(game_id, is_winner, *breath) for breath in breaths],
            )

    def write_answer(self, name: str, day: str, state: int, is_right: bool) -> None:
        """Insert a human player's answer to the puzzle of a day, unless the player has already answered it."""
        player, _ = self._player(Side(name, (), (), (), is_bot=False), is_imported=False)
        answer = "INSERT OR IGNORE INTO puzzles(player_id, day, state, is_right) VALUES (?, ?, ?, ?)"
        self._connection.execute(answer, (player, day, state, is_right))

    def _player(self, side: Side, is_imported: bool, opponent: int | None = None) -> tuple[int, int | str]:
        """Return the ids of a side's player and of the bot's parameters. Insert missing rows.

        The player must not be ``opponent``. For human players, the id of the parameters is the text ``NULL``.
        """
        name = clean_name(side.name)
        is_bot = True if name in BOTS else side.is_bot
        spellings = numbered_names(name)
        while True:
            spelling = next(spellings)
            number, was_bot = self._known("player_id, is_bot", "players", "username = ?", spelling)
            if number is None:
                number, was_bot = self._next_id("players", "player_id", "id"), bool(is_bot)
                row = (number, spelling, was_bot)
                self._connection.execute("INSERT INTO players(player_id, username, is_bot) VALUES (?, ?, ?)", row)
            elif is_bot and not was_bot and is_imported and not self._is_person(number):
                # Older logs by breath did not mark the player as a bot.
                was_bot = True
                self._connection.execute("UPDATE players SET is_bot = 1 WHERE player_id = ?", (number,))
            if number == opponent or is_bot not in (None, bool(was_bot)):
                continue
            if not was_bot:
                return number, _NO_PARAMETERS
            # Bots of the original program are greedy (temperature 0).
            return number, self._paramset(0.0 if name in BOTS and side.temperature is None else side.temperature)

    def _is_person(self, number: int) -> bool:
        """Return True if this program recorded a game of the player. Unmarked players are then human."""
        recorded = (
            "SELECT 1 FROM games WHERE ? IN (winner_id, loser_id)"
            f" AND (source_digest IS NULL OR logged_id > {LAST_SECOND}) LIMIT 1"
        )
        return self._connection.execute(recorded, (number,)).fetchone() is not None

    def _paramset(self, temperature: float | None) -> int:
        number, _ = self._known("paramset_id, NULL", "bot_parameters", "temperature IS ?", temperature)
        if number is None:
            number = self._next_id("bot_parameters", "paramset_id", "paramset_id")
            self._connection.execute("INSERT INTO bot_parameters VALUES (?, ?)", (number, temperature))
        return number

    def _known(self, columns: str, table: str, condition: str, value: str | float | None) -> tuple[int | None, Any]:
        """Return the valid row with the smallest id that satisfies a condition, or (None, None)."""
        query = f"SELECT {columns} FROM {table} WHERE {condition} AND {LAWS[table]} ORDER BY 1 LIMIT 1"
        rows = self._connection.execute(query, (value,)).fetchall()
        return rows[0] if rows else (None, None)

    def _next_id(self, table: str, column: str, end: str) -> int:
        """Return an id that neither a row nor a game uses. ``end`` is the end of the column names in ``games``.

        A game can refer to a missing row. A new row with the same id would change the game.
        """
        used = f"SELECT {column} AS id FROM {table}" + "".join(
            f" UNION ALL SELECT {side}_{end} FROM games" for side in ("winner", "loser")
        )
        # Ignore invalid ids, because the rows of a migrated database are not checked before each game.
        sound = f"typeof(id) = 'integer' AND id < {2**63 - 1}"
        (largest,) = self._connection.execute(f"SELECT max(id) FROM ({used}) WHERE {sound}").fetchone()
        return int(largest or 0) + 1


def games_of_player(path: str | Path, name: str) -> list[RecordedGame]:
    """Return all games of a player with both sides."""
    path = Path(path)
    with open_to_read(path) as connection:
        require_player(path, connection, name)
        return [game for _, game in read_games(connection, Selection(player=name))]


def puzzle_answers(path: Path) -> dict[str, list[tuple[int, bool]]]:
    """Return the answers of human players to puzzles by name: the state code, and True if the answer was right."""
    query = "SELECT username, state, is_right FROM puzzles JOIN players USING (player_id) WHERE NOT is_bot"
    found: dict[str, list[tuple[int, bool]]] = {}
    with open_to_read(path) as connection:
        for name, state, is_right in connection.execute(query):
            found.setdefault(name, []).append((state, bool(is_right)))
    return found


def anonymize_player(path: str | Path, name: str) -> str:
    """Replace a player's name with an alias derived from the player's id, and return the alias.

    The games are kept, and the name is overwritten in the file. If a log of these games is imported again, the breaths
    identify the games, and the name is not restored.
    """
    path, name = Path(path), clean_name(name)
    with open_to_write(path, erases=True) as connection:
        require_player(path, connection, name)
        (number,) = connection.execute("SELECT player_id FROM players WHERE username = ?", (name,)).fetchone()
        taken = {other for (other,) in connection.execute("SELECT username FROM players")}
        alias = f"player-{number}"
        while alias in taken:
            alias += "-"
        connection.execute("UPDATE players SET username = ? WHERE username = ?", (alias, name))
        _require_gone(path, connection, name)
    return alias


def delete_player(path: str | Path, name: str) -> tuple[int, int]:
    """Delete a player and all games of the player. Return the numbers of deleted games and choices.

    Deleted data are overwritten in the file. Opponents are kept, even if they have no other games.
    """
    path, name = Path(path), clean_name(name)
    with open_to_write(path, erases=True) as connection:
        require_player(path, connection, name)
        players = "(SELECT player_id FROM players WHERE username = :name)"
        games = f"(SELECT game_id FROM games WHERE winner_id IN {players} OR loser_id IN {players})"
        breaths = connection.execute(f"DELETE FROM breaths WHERE game_id IN {games}", {"name": name}).rowcount
        n_games = connection.execute(f"DELETE FROM games WHERE game_id IN {games}", {"name": name}).rowcount
        connection.execute(f"DELETE FROM puzzles WHERE player_id IN {players}", {"name": name})
        connection.execute("DELETE FROM players WHERE username = ?", (name,))
        _require_gone(path, connection, name)
    return n_games, breaths


def _require_gone(path: Path, connection: sqlite3.Connection, name: str) -> None:
    """Raise `RecordsError` if the name still exists, for example if the schema contains ``ON CONFLICT IGNORE``."""
    (n,) = connection.execute("SELECT count(*) FROM players WHERE username = ?", (name,)).fetchone()
    if n:
        raise RecordsError(f"{path}: the database keeps the player {brief(name)}; nothing was changed")

"""Export, anonymization and deletion of a player's data in a database."""

import sqlite3
from pathlib import Path

from punish_fast.records.database import RecordsError, open_to_read, open_to_write
from punish_fast.records.games import Selection, read_games, require_player
from punish_fast.records.logs import RecordedGame
from punish_fast.records.names import clean_name
from punish_fast.runtime.errors import brief


def games_of_player(path: str | Path, name: str) -> list[RecordedGame]:
    """Return all games of a player, with both sides, for `logs.write_log`."""
    path = Path(path)
    with open_to_read(path) as connection:
        require_player(path, connection, name)
        return [game for _, game in read_games(connection, Selection(player=name))]


def anonymise_player(path: str | Path, name: str) -> str:
    """Replace a player's name with an alias derived from the player's id; return the alias.

    Games are kept, and the name is overwritten in the file. If a log of these games is imported again, the games are
    recognized by their breaths, and the name is not restored.
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
    """Delete a player and all their games, with both sides; return the numbers of deleted games and choices.

    Deleted data are overwritten in the file. Opponents are kept, even if they have no other games.
    """
    path, name = Path(path), clean_name(name)
    with open_to_write(path, erases=True) as connection:
        require_player(path, connection, name)
        players = "(SELECT player_id FROM players WHERE username = :name)"
        games = f"(SELECT game_id FROM games WHERE winner_id IN {players} OR loser_id IN {players})"
        breaths = connection.execute(f"DELETE FROM breaths WHERE game_id IN {games}", {"name": name}).rowcount
        n_games = connection.execute(f"DELETE FROM games WHERE game_id IN {games}", {"name": name}).rowcount
        connection.execute("DELETE FROM players WHERE username = ?", (name,))
        _require_gone(path, connection, name)
    return n_games, breaths


def _require_gone(path: Path, connection: sqlite3.Connection, name: str) -> None:
    """Raise `RecordsError` if the name still exists, since ``ON CONFLICT IGNORE`` in a schema can suppress changes."""
    (n,) = connection.execute("SELECT count(*) FROM players WHERE username = ?", (name,)).fetchone()
    if n:
        raise RecordsError(f"{path}: the database keeps the player {brief(name)}; nothing was changed")

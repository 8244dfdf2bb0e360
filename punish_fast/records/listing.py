"""Recorded games in a list, the latest first."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from punish_fast.records.choices import JOINED, PLAYED, Selection
from punish_fast.records.database import open_to_read


def list_games(path: Path, selection: Selection, most: int) -> list[dict[str, Any]]:
    """Return the latest games: ``game`` (its id), ``played`` (Unix seconds), ``winner``, ``loser``, ``breaths``.

    Args:
        path: The database.
        selection: Which games.
        most: How many.

    Raises:
        RecordsError: it cannot be read, or is no database of recorded games.
    """
    condition, parameters = selection.where()
    with open_to_read(path) as connection:
        rows = connection.execute(
            f"SELECT games.game_id, {PLAYED}, winner.username, loser.username,"
            " (SELECT max(n) FROM (SELECT count(*) AS n FROM breaths WHERE breaths.game_id = games.game_id"
            " GROUP BY is_winner))"
            f" FROM {JOINED} WHERE {condition} ORDER BY {PLAYED} DESC, games.game_id DESC LIMIT :most",
            {**parameters, "most": most},
        ).fetchall()
    keys = ("game", "played", "winner", "loser", "breaths")
    return [dict(zip(keys, (*row[:-1], row[-1] or 0), strict=True)) for row in rows]


def latest_game(connection: sqlite3.Connection) -> int | None:
    """The id of the latest game that a person has played, or else of the latest game; None without games."""
    rows = connection.execute(
        f"SELECT games.game_id FROM {JOINED}"
        f" ORDER BY winner.is_bot AND loser.is_bot, {PLAYED} DESC, games.game_id DESC LIMIT 1"
    ).fetchall()
    return int(rows[0][0]) if rows else None

"""Recorded games in a list, the latest first."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from punish_fast.records.choices import JOINED, Selection
from punish_fast.records.database import open_to_read


def list_games(path: Path, selection: Selection, most: int) -> list[dict[str, Any]]:
    """The latest games, JSON-like: ``game`` (its id), ``winner``, ``loser``, ``breaths``.

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
            "SELECT games.game_id, winner.username, loser.username,"
            " (SELECT max(n) FROM (SELECT count(*) AS n FROM breaths WHERE breaths.game_id = games.game_id"
            " GROUP BY is_winner))"
            f" FROM {JOINED} WHERE {condition} ORDER BY games.game_id DESC LIMIT :most",
            {**parameters, "most": most},
        ).fetchall()
    return [
        {"game": game, "winner": winner, "loser": loser, "breaths": breaths or 0}
        for game, winner, loser, breaths in rows
    ]


def latest_game(connection: sqlite3.Connection) -> int | None:
    """The id of the latest game that a person has played, or else of the latest game; None without games."""
    found: int | None
    (found,) = connection.execute(
        "SELECT coalesce(max(CASE WHEN winner.is_bot AND loser.is_bot THEN NULL ELSE games.game_id END),"
        f" max(games.game_id)) FROM {JOINED}"
    ).fetchone()
    return found

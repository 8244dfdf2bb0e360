"""Recorded games: their results as arrays, and lists of the latest ones."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.records.choices import CHOICES, GAME_ORDER, GAMES, Selection, arrays_of, require_player
from punish_fast.records.database import open_to_read

_LATEST_FIRST = "ORDER BY second DESC, game DESC LIMIT :most"


@dataclass(frozen=True)
class Results:
    """Results of games, by time of play and id."""

    game: np.ndarray  # int64 [n], ids
    winner: np.ndarray  # str [n], names
    loser: np.ndarray  # str [n], names
    winner_is_bot: np.ndarray  # bool [n]
    loser_is_bot: np.ndarray  # bool [n]
    n_breaths: np.ndarray  # int64 [n], lengths in breaths
    decimal: np.ndarray  # int64 [m], decimal codes of the states of all recorded choices

    def __len__(self) -> int:
        return len(self.game)


def read_results(path: str | Path, selection: Selection | None = None) -> Results:
    """Read results from a database."""
    path, selection = Path(path), selection or Selection()
    games = selection.query(
        "game, winner, loser, winner_is_bot, loser_is_bot, n_breaths", more=f"ORDER BY {GAME_ORDER}"
    )
    with open_to_read(path) as connection:
        require_player(path, connection, selection.player)
        results = arrays_of(connection.execute(*games), "int64 str str bool bool int64")
        return Results(*results, *arrays_of(connection.execute(*selection.query("state", CHOICES)), "int64"))


def list_games(path: Path, selection: Selection, most: int) -> list[dict[str, Any]]:
    """Return the latest games: ``game`` (its id), ``played`` (Unix seconds), ``winner``, ``loser``, ``breaths``."""
    query, parameters = selection.query("game, second, winner, loser, n_breaths", more=_LATEST_FIRST)
    with open_to_read(path) as connection:
        rows = connection.execute(query, {**parameters, "most": most}).fetchall()
    return [dict(zip(("game", "played", "winner", "loser", "breaths"), row, strict=True)) for row in rows]


def latest_game(connection: sqlite3.Connection) -> int | None:
    """Return the id of the latest game that a person has played, else of the latest game; None if there is no game."""
    order = "ORDER BY winner_is_bot AND loser_is_bot, second DESC, game DESC LIMIT 1"
    found = connection.execute(f"SELECT game FROM {GAMES} {order}").fetchone()
    return None if found is None else int(found[0])

"""Results of recorded games as arrays: winner, loser, time and number of breaths."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from punish_fast.records.choices import GAME_ORDER, JOINED, Selection, require_player
from punish_fast.records.database import open_to_read


@dataclass(frozen=True)
class Results:
    """Results of games, by time of play and id.

    Attributes:
        game: int64 ``[n]``, ids.
        winner: str ``[n]``, names.
        loser: str ``[n]``, names.
        winner_is_bot: bool ``[n]``.
        loser_is_bot: bool ``[n]``.
        n_breaths: int64 ``[n]``, lengths in breaths.
        choice_game: int64 ``[m]``, the game of each recorded choice.
        decimal: int64 ``[m]``, decimal code of its state.
    """

    game: np.ndarray
    winner: np.ndarray
    loser: np.ndarray
    winner_is_bot: np.ndarray
    loser_is_bot: np.ndarray
    n_breaths: np.ndarray
    choice_game: np.ndarray
    decimal: np.ndarray

    def __len__(self) -> int:
        return len(self.game)


def read_results(path: str | Path, selection: Selection | None = None) -> Results:
    """Read results from a database.

    Raises:
        RecordsError: it cannot be read, is no database of recorded games, or has no such player.
    """
    path = Path(path)
    selection = selection or Selection()
    condition, parameters = selection.where()
    with open_to_read(path) as connection:
        require_player(path, connection, selection.player)
        games = connection.execute(
            f"SELECT game_id, winner.username, loser.username, winner.is_bot, loser.is_bot FROM {JOINED}"
            f" WHERE {condition} ORDER BY {GAME_ORDER}",
            parameters,
        ).fetchall()
        breaths = connection.execute(
            f"SELECT breaths.game_id, breaths.is_winner, breaths.state FROM {JOINED}"
            f" JOIN breaths ON breaths.game_id = games.game_id WHERE {condition} ORDER BY {GAME_ORDER}",
            parameters,
        ).fetchall()
    columns = list(zip(*games, strict=True)) if games else [()] * 5
    dtypes = (np.int64, np.str_, np.str_, np.bool_, np.bool_)
    arrays: list[np.ndarray] = [np.array(column, dtype=dtype) for column, dtype in zip(columns, dtypes, strict=True)]
    choice_game, is_winner, decimal = np.array(breaths, dtype=np.int64).reshape(-1, 3).T
    by_id = np.argsort(arrays[0])
    place = by_id[np.searchsorted(arrays[0], choice_game, sorter=by_id)]
    # Both players choose in every breath; one incomplete view does not make the game shorter.
    counts = np.zeros((2, len(games)), dtype=np.int64)
    np.add.at(counts, (is_winner, place), 1)
    game, winner, loser, winner_is_bot, loser_is_bot = arrays
    return Results(game, winner, loser, winner_is_bot, loser_is_bot, counts.max(axis=0), choice_game, decimal)

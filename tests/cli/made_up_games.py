"""Small made-up databases of recorded games."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from punish_fast.punish.codes import decimals_of
from punish_fast.punish.states.space import StateSpace

SCHEMA = """
CREATE TABLE players(player_id INT NOT NULL, username TEXT NOT NULL, is_bot INT NOT NULL, PRIMARY KEY (player_id));
CREATE TABLE bot_parameters(paramset_id INT NOT NULL, temperature FLOAT, PRIMARY KEY (paramset_id));
CREATE TABLE games(game_id INT NOT NULL, winner_id INT NOT NULL, loser_id INT NOT NULL, winner_paramset_id INT,
    loser_paramset_id INT, PRIMARY KEY (game_id));
CREATE TABLE breaths(game_id INT NOT NULL, is_winner INT NOT NULL, state INT NOT NULL, action INT NOT NULL);
"""
PLAYERS = ((1, "Anna", 0), (2, "Ben", 0), (3, "Robot", 1))

# Winner, loser, and for each choice whether it is the winner's, its state and its action.
Game = tuple[int, int, Sequence[tuple[int, int, int]]]


def write_games(path: Path, games: dict[int, Game]) -> Path:
    """A database as the original program makes it, with games by their ids."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(SCHEMA)
        connection.executemany("INSERT INTO players VALUES (?, ?, ?)", PLAYERS)
        for number, (winner, loser, choices) in games.items():
            connection.execute("INSERT INTO games VALUES (?, ?, ?, NULL, NULL)", (number, winner, loser))
            connection.executemany("INSERT INTO breaths VALUES (?, ?, ?, ?)", [(number, *choice) for choice in choices])
    return path


def random_games(space: StateSpace, seed: int, n_games: int = 30) -> dict[int, Game]:
    """Games of legal choices in states that do not follow from each other, all between people."""
    generator = np.random.default_rng(seed)
    decimals = decimals_of(space)
    games: dict[int, Game] = {}
    for number in range(n_games):
        rows = generator.integers(0, space.layer_ptr[-2], 8)
        actions = [generator.choice(space.action[slice(*space.state_ptr[row : row + 2])]) for row in rows]
        choices = [(k % 2, int(decimals[row]), int(actions[k])) for k, row in enumerate(rows)]
        winner = int(generator.integers(1, 3))
        games[1000 + number] = (winner, 3 - winner, choices)
    return games
